#include "validity_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace whittle::inline v0 {
namespace {

/// The calls of a model turn and how the results behind it match them: by id, in order, each call once.
class GeminiTurn {
public:
    GeminiTurn(const HistoryFacts& facts, Findings& findings) : facts_(facts), findings_(findings) {}

    void add_calls(std::size_t message) {
        const std::span<const PartInfo> parts = facts_.outline()[message].parts;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (parts[p].kind != PartKind::tool_call) continue;
            waiting_[parts[p].call_id].places.push_back(calls_.size());
            calls_.push_back({message, p});
        }
    }

    void answer(std::size_t message, bool is_next) {
        std::unordered_set<std::string_view> seen;
        const MessageInfo& info = facts_.outline()[message];
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (is_result_part(info.parts[p])) {
                if (seen.insert(info.parts[p].call_id).second) match(message, p, is_next);
            } else if (is_beside_results(info, info.parts[p])) {
                findings_.add(message, p, "other content stands in one message with tool results");
            }
        }
    }

    void finish() {
        for (std::size_t c = 0; c < calls_.size(); ++c) {
            const auto [message, part] = calls_[c];
            const PartInfo& call = facts_.outline()[message].parts[part];
            if (answered_.contains(c) || facts_.is_running(message)) continue;
            findings_.add(message, part,
                          fmt::format("tool call {} has no result in the next turn", quoted(call.call_id)));
        }
    }

private:
    struct Place {
        std::size_t message = 0;
        std::size_t part = 0;
    };
    struct SameId {
        std::vector<std::size_t> places{};
        std::size_t next = 0;  ///< that has no result yet
    };

    void match(std::size_t message, std::size_t p, bool is_next) {
        const PartInfo& result = facts_.outline()[message].parts[p];
        const auto found = waiting_.find(result.call_id);
        const std::string id = quoted(result.call_id);
        if (!is_next || found == waiting_.end() || found->second.next == found->second.places.size()) {
            findings_.add(message, p,
                          fmt::format("the result for tool call {} answers no call of the turn before", id));
            return;
        }
        const std::size_t call = found->second.places[found->second.next++];
        answered_.insert(call);
        const PartInfo& called = facts_.outline()[calls_[call].message].parts[calls_[call].part];
        if (!result.tool.empty() && result.tool != called.tool) {
            findings_.add(message, p,
                          fmt::format("the result for tool call {} names tool {}, not {}", id, quoted(result.tool),
                                      quoted(called.tool)));
        }
        if (call < furthest_) findings_.add(message, p, fmt::format("the result for tool call {} is out of order", id));
        furthest_ = std::max(furthest_, call);
    }

    const HistoryFacts& facts_;
    Findings& findings_;
    std::vector<Place> calls_;
    std::unordered_map<std::string_view, SameId> waiting_;
    std::unordered_set<std::size_t> answered_;
    std::size_t furthest_ = 0;
};

/// The results of a run that follows a model turn; a message of its own behind them is a turn of its own.
void answer_all(const Outline& outline, const Run& run, GeminiTurn& turn) {
    bool is_next = true;
    for (std::size_t i = run.begin; i < run.end; ++i) {
        if (outline[i].role == Role::system) continue;
        if (is_result_message(outline[i])) {
            turn.answer(i, is_next);
        } else {
            is_next = false;
        }
    }
}

}  // namespace

void check_turns(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings) {
    check_user_first(facts, profile, findings);
    const std::vector<Run> runs = merged_runs(facts.outline());
    if (!runs.empty() && runs.back().is_assistant)
        findings.add(runs.back().end - 1, 0, "the last speaker is the assistant, not the user");
}

void check_call_after_user(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const std::vector<Run> runs = merged_runs(facts.outline());
    if (runs.empty() || !runs.front().is_assistant) return;
    for (const CallFact& call : facts.calls()) {
        if (call.message >= runs.front().end) return;
        if (facts.outline()[call.message].role != Role::assistant) continue;
        findings.add(call.message, call.part,
                     fmt::format("tool call {} comes before anything that the user said", quoted(call.id)));
    }
}

void check_responses_match(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    const std::vector<Run> runs = merged_runs(outline);
    for (std::size_t r = 0; r < runs.size(); ++r) {
        GeminiTurn turn(facts, findings);
        if (!runs[r].is_assistant && r > 0) continue;  // looked at with the run before it
        if (runs[r].is_assistant) {
            for (std::size_t i = runs[r].begin; i < runs[r].end; ++i) {
                if (outline[i].role == Role::assistant) turn.add_calls(i);
            }
            if (r + 1 < runs.size()) answer_all(outline, runs[r + 1], turn);
        } else {
            answer_all(outline, runs[r], turn);
        }
        turn.finish();
    }
}

void check_empty_parts(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const std::span<const PartInfo> parts = outline[i].parts;
        if (parts.empty()) findings.add(i, 0, "a message has no content");
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (parts[p].kind == PartKind::text && parts[p].text_bytes == 0) findings.add(i, p, "a text part is empty");
        }
    }
}

}  // namespace whittle::inline v0
