#include "masked.hpp"
#include "report_page.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_columns = 2'000;

/// Names that stand many times in the data, each once.
class NameList {
public:
    std::size_t number_of(const std::string& name) {
        const auto [known, is_new] = numbers_.try_emplace(name, names_.size());
        if (is_new) names_.push_back(name);
        return known->second;
    }
    [[nodiscard]] ordered_json json() const { return names_; }

private:
    std::map<std::string, std::size_t> numbers_{};
    std::vector<std::string> names_{};
};

/// Texts, each by its number; -1 for one without anything.
class TextList {
public:
    int number_of(const ReportText& text) {
        if (text.is_whole() && text.head.empty()) return -1;
        if (text.is_whole()) {
            list_.push_back(text.head);
        } else {
            list_.push_back({text.head, text.left_out, text.tail});
        }
        return static_cast<int>(list_.size()) - 1;
    }
    [[nodiscard]] ordered_json take() { return std::move(list_); }

private:
    ordered_json list_ = ordered_json::array();
};

/// Neighbouring calls share a column where there are too many: the largest request of them stands for it, costs are
/// added up to the last one.
ordered_json columns_json(const std::vector<StoryCall>& calls) {
    const std::size_t per = std::max<std::size_t>(1, (calls.size() + most_columns - 1) / most_columns);
    ordered_json columns{{"per", per}};
    for (const char* name : {"recorded", "sent", "cached", "edits", "cost_recorded", "cost_sent"})
        columns[name] = ordered_json::array();
    double cost_recorded = 0;
    double cost_sent = 0;
    for (std::size_t first = 0; first < calls.size(); first += per) {
        const std::size_t end = std::min(calls.size(), first + per);
        const StoryCall* largest = &calls[first];
        std::int64_t edits = 0;
        for (std::size_t i = first; i < end; ++i) {
            cost_recorded += calls[i].cost_recorded;
            cost_sent += calls[i].cost_sent;
            edits += calls[i].edits;
            if (calls[i].tokens_sent > largest->tokens_sent) largest = &calls[i];
        }
        columns["recorded"].push_back(largest->tokens_recorded);
        columns["sent"].push_back(largest->tokens_sent);
        columns["cached"].push_back(largest->cached);
        columns["edits"].push_back(edits);
        columns["cost_recorded"].push_back(std::llround(cost_recorded));
        columns["cost_sent"].push_back(std::llround(cost_sent));
    }
    return columns;
}

ordered_json index_or_none(const std::optional<std::size_t>& index) {
    return index ? ordered_json(*index) : ordered_json(-1);
}

/// In a script element `<` could end it; the others are kept out for readers of the source.
std::string without_markup(const std::string& json) {
    std::string out;
    out.reserve(json.size());
    for (const char c : json) {
        switch (c) {
            case '<': out += "\\u003c"; break;
            case '>': out += "\\u003e"; break;
            case '&': out += "\\u0026"; break;
            default: out += c;
        }
    }
    return out;
}

}  // namespace

std::string story_data(const SessionStory& story) {
    NameList names;
    TextList texts;
    ordered_json json{
        {"chain", printed(story.chain)}, {"calls", story.calls.size()}, {"columns", columns_json(story.calls)}};
    json["messages"] = ordered_json::array();
    for (const StoryMessage& message : story.messages)
        json["messages"].push_back({index_or_none(message.recorded), message.call, names.number_of(message.role),
                                    names.number_of(message.tool), message.tokens, texts.number_of(message.text)});
    json["edits"] = ordered_json::array();
    for (const StoryEdit& edit : story.edits) {
        const std::string& rule = edit.edit.rule.empty() ? edit.edit.reason : edit.edit.rule;
        json["edits"].push_back({edit.message, edit.edit.call, names.number_of(std::string(name_of(edit.fate))),
                                 edit.tokens, names.number_of(edit.edit.by), names.number_of(rule), edit.edit.count,
                                 edit.edit.threshold, texts.number_of(edit.text), index_or_none(edit.summary)});
    }
    json["messages_left_out"] = story.messages_left_out;
    json["edits_left_out"] = story.edits_left_out;
    json["names"] = names.json();
    json["texts"] = texts.take();
    return without_markup(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

ReportTable rules_table(const SessionStory& story) {
    Table table({"rule", "by", "what became of it", "messages", "tokens before", "after", "less"});
    StoryRule all;
    for (const StoryRule& rule : story.rules) {
        table.add({rule.rule, rule.by, std::string(name_of(rule.fate)), grouped(rule.messages),
                   grouped(rule.tokens_before), grouped(rule.tokens), grouped(rule.tokens_before - rule.tokens)});
        all.messages += rule.messages;
        all.tokens_before += rule.tokens_before;
        all.tokens += rule.tokens;
    }
    if (story.rules.size() > 1) {
        table.add_line();
        table.add({"all", "", "", grouped(all.messages), grouped(all.tokens_before), grouped(all.tokens),
                   grouped(all.tokens_before - all.tokens)});
    }
    return {.caption = "What was cut, by rule",
            .table = std::move(table),
            .note =
                "A message that was edited twice is counted twice. Tokens of one request each; what left a request "
                "stays away from all later ones."};
}

}  // namespace whittle::cli
