#include "session_story.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace whittle::cli {
namespace {

std::int64_t saved_by(const StoryRule& rule) noexcept { return rule.tokens_before - rule.tokens; }

StoryCost sum_over(const std::vector<StoryCall>& calls, StoryCost StoryCall::*side) noexcept {
    StoryCost sum;
    for (const StoryCall& call : calls) {
        const StoryCost& one = call.*side;
        sum.tokens += call.is_counted ? one.tokens : 0;
        sum.cached += call.is_counted ? one.cached : 0;
        sum.cost += one.cost;
        sum.repairs += one.repairs;
    }
    return sum;
}

void keep_first_edits(SessionStory& story) {
    if (story.edits.size() <= most_story_edits) return;
    story.edits_left_out = static_cast<std::int64_t>(story.edits.size() - most_story_edits);
    story.edits.resize(most_story_edits);
}

/// Those that edits name, then the oldest of the others.
std::vector<bool> listed_messages(const SessionStory& story) {
    std::vector<bool> is_listed(story.messages.size());
    for (const StoryEdit& edit : story.edits) {
        is_listed[edit.message] = true;
        if (edit.summary) is_listed[*edit.summary] = true;
    }
    auto room = static_cast<std::ptrdiff_t>(most_story_messages) - std::ranges::count(is_listed, true);
    for (std::size_t i = 0; i < is_listed.size() && room > 0; ++i) {
        if (is_listed[i]) continue;
        is_listed[i] = true;
        --room;
    }
    return is_listed;
}

void drop_unlisted(SessionStory& story, const std::vector<bool>& is_listed) {
    std::vector<std::size_t> places;
    std::size_t size = 0;
    for (std::size_t i = 0; i < is_listed.size(); ++i) {
        places.push_back(size);
        if (!is_listed[i]) continue;
        if (size != i) story.messages[size] = std::move(story.messages[i]);
        ++size;
    }
    story.messages_left_out = static_cast<std::int64_t>(story.messages.size() - size);
    story.messages.resize(size);
    for (StoryEdit& edit : story.edits) {
        edit.message = places[edit.message];
        if (edit.summary) edit.summary = places[*edit.summary];
    }
}

std::size_t size_of_all(const std::vector<ReportText*>& texts) {
    std::size_t size = 0;
    for (const ReportText* text : texts) size += size_in_report(*text);
    return size;
}

}  // namespace

StoryCost sum_of_recorded(const SessionStory& story) noexcept { return sum_over(story.calls, &StoryCall::recorded); }
StoryCost sum_of_sent(const SessionStory& story) noexcept { return sum_over(story.calls, &StoryCall::sent); }

std::vector<StoryRule> rules_of(const std::vector<StoryEdit>& edits) {
    std::map<std::tuple<std::string, std::string, Fate>, StoryRule> sums;
    for (const StoryEdit& edit : edits) {
        const std::string& name = edit.edit.rule.empty() ? edit.edit.reason : edit.edit.rule;
        StoryRule& sum = sums[{edit.edit.by, name, edit.fate}];
        sum.by = edit.edit.by;
        sum.rule = name;
        sum.fate = edit.fate;
        ++sum.messages;
        sum.tokens_before += edit.tokens_before;
        sum.tokens += edit.tokens;
    }
    std::vector<StoryRule> rules;
    for (auto& [key, sum] : sums) rules.push_back(std::move(sum));
    std::ranges::stable_sort(rules, std::greater{}, saved_by);
    return rules;
}

void bound_lists(SessionStory& story) {
    keep_first_edits(story);
    if (story.messages.size() > most_story_messages) drop_unlisted(story, listed_messages(story));
}

void fit_stories(std::vector<SessionStory*> stories, std::size_t budget) {
    std::vector<ReportText*> edited;
    std::vector<ReportText*> others;
    for (SessionStory* story : stories) {
        for (StoryMessage& message : story->messages) (message.is_edited ? edited : others).push_back(&message.text);
        for (StoryEdit& edit : story->edits) edited.push_back(&edit.text);
    }
    const std::size_t for_others = std::min(size_of_all(others), budget / 4);
    fit_texts(edited, budget - for_others);
    const std::size_t used = std::min(size_of_all(edited), budget);
    fit_texts(others, budget - used);
}

}  // namespace whittle::cli
