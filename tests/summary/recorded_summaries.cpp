// Summaries that models wrote when recorded agents compacted their histories: how many of them acceptance refuses.
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/saved/trajectory.hpp"
#include "whittle/summary/detail/rule_based_summary.hpp"
#include "whittle/summary/summary.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using Recorded = openai::Message;

/// A compaction of a recorded session.
struct Compacted {
    std::string session{};
    std::string summary{};
    std::shared_ptr<Conversation<Recorded>> before{};
    std::vector<Recorded> after{};
};

std::vector<Compacted> recorded_compactions() {
    std::vector<Compacted> found;
    for (const auto& file : recorded_files()) {
        read_trajectories(file, {}, [&](Trajectory<>&& session) {
            const auto meta = session.rest.value("meta", nlohmann::ordered_json::object());
            for (const auto& one : meta.value("recorded_compactions", nlohmann::ordered_json::array())) {
                const auto text = one.find("summary");
                if (text == one.end() || !text->is_string() || text->get<std::string>().empty()) continue;
                auto before = std::make_shared<Conversation<Recorded>>(session.id);
                const auto end = std::min(one.at("before_message").get<std::size_t>(), session.messages.size());
                for (std::size_t i = 0; i < end; ++i) before->push_back(session.messages[i], Usage{});
                std::vector<Recorded> after(session.messages.begin() + static_cast<std::ptrdiff_t>(end),
                                            session.messages.end());
                found.push_back({session.id, text->get<std::string>(), std::move(before), std::move(after)});
            }
        });
    }
    return found;
}

/// Why that summary of that conversation is refused; empty: it is accepted.
std::string refusal_of(const Conversation<Recorded>& conversation, const std::string& summary) {
    ScriptedModel<Recorded> model([&](const ModelRequest<Recorded>&) {
        return Reply<Recorded>{message_traits<Recorded>::make(Role::assistant, summary)};
    });
    std::vector<std::size_t> fold(conversation.size());
    std::iota(fold.begin(), fold.end(), std::size_t{0});
    SummaryGenerationState state;
    const auto result = generate_summary<Recorded>(
        {.model = model, .all_messages = conversation.messages(), .outline = conversation.outline(), .fold = fold},
        {.max_input_tokens = 100'000'000}, {}, {.purpose = "test"}, state);
    return result.failure ? result.failure->message : std::string();
}

}  // namespace

TEST_CASE("summaries that models wrote of recorded sessions are accepted, those of other sessions mostly refused",
          "[digest][data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    const std::vector<Compacted> all = recorded_compactions();
    REQUIRE(all.size() >= (is_soak() ? 25U : 1U));
    std::size_t others = 0;
    std::size_t others_refused = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(all[i].session, i);
        CHECK(refusal_of(*all[i].before, all[i].summary) == "");
        for (const std::size_t step : {1U, 5U, 11U}) {
            const Compacted& other = all[(i + step) % all.size()];
            if (other.session == all[i].session) continue;
            ++others;
            others_refused += refusal_of(*all[i].before, other.summary).empty() ? 0 : 1;
        }
    }
    CAPTURE(others, others_refused);
    if (is_soak()) CHECK(others_refused * 10 >= others * 8);
    WARN(all.size() << " summaries accepted; of " << others << " of another session, " << others_refused << " refused");
}

namespace {

/// Whether `c` can stand inside a name or a path.
bool is_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./").find(c) != std::string_view::npos;
}

/// Names and paths of 8 characters or more in a text: with a digit, an underscore, a slash, a dot or inner capitals.
std::set<std::string> names_in(std::string_view text) {
    std::set<std::string> names;
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::size_t end = at;
        while (end < text.size() && is_of_name(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        const auto is_mark = [&](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0 && c != '-'; };
        const bool has_mark = std::ranges::any_of(word.substr(0, word.size() - (word.ends_with('.') ? 1 : 0)), is_mark);
        const bool has_hump = std::ranges::adjacent_find(word, [](char a, char b) {
                                  return std::islower(static_cast<unsigned char>(a)) != 0 &&
                                         std::isupper(static_cast<unsigned char>(b)) != 0;
                              }) != word.end();
        if (word.size() >= 8 && word.size() <= 120 && (has_mark || has_hump)) names.emplace(word);
        at = end;
    }
    return names;
}

std::string all_text(std::span<const Recorded> messages) {
    std::string text;
    for (const Recorded& message : messages)
        message_traits<Recorded>::for_each_part(message, [&](const PartView& part) { text.append(part.text) += '\n'; });
    return text;
}

/// What the arguments of the next 50 calls name that stood in the history: what a summary should have kept.
std::set<std::string> needed_after(const Compacted& compacted) {
    std::string arguments;
    int calls = 0;
    for (const Recorded& message : compacted.after) {
        message_traits<Recorded>::for_each_part(message, [&](const PartView& part) {
            if (part.kind == PartKind::tool_call && calls++ < 50) arguments.append(part.text) += '\n';
        });
    }
    std::set<std::string> needed = names_in(arguments);
    const std::set<std::string> known = names_in(all_text(compacted.before->messages()));
    std::erase_if(needed, [&](const std::string& name) { return !known.contains(name); });
    return needed;
}

std::size_t count_kept(const std::set<std::string>& needed, const std::string& summary) {
    return static_cast<std::size_t>(std::ranges::count_if(
        needed, [&](const std::string& name) { return summary.find(name) != std::string::npos; }));
}

}  // namespace

TEST_CASE("a summary without a model keeps more of the names that are needed next than models did, in as many tokens",
          "[digest][data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    std::size_t needed = 0;
    std::size_t kept = 0;
    std::size_t kept_by_models = 0;
    for (const Compacted& compacted : recorded_compactions()) {
        const std::set<std::string> names = needed_after(compacted);
        std::vector<std::size_t> fold(compacted.before->size());
        std::iota(fold.begin(), fold.end(), std::size_t{0});
        const std::int64_t size = chars_counter()->count(compacted.summary);
        const std::string plain = rule_based_summary<Recorded>(compacted.before->messages(),
                                                               compacted.before->outline(), fold, {.max_tokens = size});
        CHECK(chars_counter()->count(plain) <= size);
        needed += names.size();
        kept += count_kept(names, plain);
        kept_by_models += count_kept(names, compacted.summary);
    }
    REQUIRE(needed > 0);
    WARN("of " << needed << " names needed in the next 50 calls, summaries without a model kept " << 100 * kept / needed
               << " %, those of models " << 100 * kept_by_models / needed << " %");
    CHECK(kept > kept_by_models);
}
