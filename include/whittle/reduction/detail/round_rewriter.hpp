#pragma once

#include "whittle/base/detail/saturating.hpp"
#include "whittle/chain/middleware.hpp"
#include "whittle/reduction/detail/clearing_run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Gives old rounds to the user's rewriter.
template <AgentMessage M>
class RoundRewriter {
public:
    using Rewriter = std::function<std::vector<M>(const CallbackContext&, const M& call, std::span<const M> results)>;

    RoundRewriter(Turn<M>& turn, Transaction<M>& edit, ClearingRun& run, const ReductionConfig& config,
                  const Rewriter& rewriter)
        : turn_(turn), edit_(edit), run_(run), config_(config), rewriter_(rewriter) {}

    /// Oldest first, until the count is below `target` (0: all).
    void rewrite(std::int64_t target);

private:
    [[nodiscard]] bool may_rewrite(const Round& round) const;
    [[nodiscard]] CallbackContext context_of(const MessageInfo& call) const;
    [[nodiscard]] std::optional<std::vector<M>> call_rewriter(const Round& round, std::int64_t& freed);
    void replace_round(const Round& round, std::vector<M> messages);

    Turn<M>& turn_;
    Transaction<M>& edit_;
    ClearingRun& run_;
    const ReductionConfig& config_;
    const Rewriter& rewriter_;
};

/// Once only, and not what is cleared already.
template <AgentMessage M>
bool RoundRewriter<M>::may_rewrite(const Round& round) const {
    const auto is_ours = [&](const Mark& mark) {
        return mark && mark->by == turn_.report.middleware && (mark->reason == "rewrite" || mark->reason == "clear");
    };
    const Outline outline = edit_.outline();
    if (is_ours(outline[round.call_message_index].mark)) return false;
    return std::ranges::none_of(round.results, [&](std::size_t message) {
        return std::ranges::any_of(outline[message].parts, [&](const PartInfo& part) { return is_ours(part.mark); });
    });
}

/// Asks oldest first, edits newest first: an edit then moves no round that is still to come.
template <AgentMessage M>
void RoundRewriter<M>::rewrite(std::int64_t target) {
    const auto retained = retained_rounds(config_);
    const std::vector<Round> rounds = edit_.outline().rounds();
    std::vector<std::pair<std::size_t, std::vector<M>>> rewritten;
    std::int64_t freed = 0;
    for (std::size_t r = 0; r + retained < rounds.size(); ++r) {
        if (run_.is_enough(target, freed)) break;
        if (!may_rewrite(rounds[r])) continue;
        std::optional<std::vector<M>> messages;
        if (run_.attempt([&] { messages = call_rewriter(rounds[r], freed); }) && messages)
            rewritten.emplace_back(r, *std::move(messages));
    }
    for (auto last = rewritten.rbegin(); last != rewritten.rend(); ++last)
        replace_round(rounds[last->first], std::move(last->second));
}

/// `call`: what is known of the message with the calls; the first of them is the one at hand.
template <AgentMessage M>
CallbackContext RoundRewriter<M>::context_of(const MessageInfo& call) const {
    CallbackContext context = turn_.callback_context();
    context.round_serial = call.serial;
    const auto first =
        std::ranges::find_if(call.parts, [](const PartInfo& part) { return part.kind == PartKind::tool_call; });
    if (first != call.parts.end()) context.key_safe_call_id = first->key_safe_call_id;
    return context;
}

/// What is to stand in place of a round, if that is smaller; adds what it frees.
template <AgentMessage M>
std::optional<std::vector<M>> RoundRewriter<M>::call_rewriter(const Round& round, std::int64_t& freed) {
    std::vector<M> before{edit_.messages()[round.call_message_index]};
    for (const std::size_t message : round.results) before.push_back(edit_.messages()[message]);
    const CallbackContext context = context_of(edit_.outline()[round.call_message_index]);
    std::vector<M> now = rewriter_(context, before.front(), std::span<const M>(before).subspan(1));
    if (std::ranges::equal(now, before, [](const M& a, const M& b) { return same_message(a, b); })) return std::nullopt;
    std::int64_t less = 0;
    for (const M& m : before) less = add_saturating(less, count_message(m, turn_.counter()));
    for (const M& m : now) less = sub_saturating(less, count_message(m, turn_.counter()));
    turn_.report.ensure_details().candidates.push_back({edit_.outline()[round.call_message_index].serial, 0, less > 0,
                                                        less > 0 ? "rewritten" : "no_gain",
                                                        std::max<std::int64_t>(0, less)});
    if (less <= 0) return std::nullopt;
    freed = add_saturating(freed, less);
    return now;
}

/// The new messages stand where the call stood.
template <AgentMessage M>
void RoundRewriter<M>::replace_round(const Round& round, std::vector<M> messages) {
    const Provenance provenance{.origin = Origin::placeholder, .reason = "rewrite"};
    const bool is_one_stretch =
        round.results.empty() || round.results.back() == round.call_message_index + round.results.size();
    const Serial serial = edit_.outline()[round.call_message_index].serial;
    const EditGroup edit_group = edit_.begin_edit_group();
    edit_.allow_editing_pinned(true);
    const bool is_done = run_.attempt([&] {
        if (is_one_stretch) {
            edit_.replace_range(round.call_message_index, round.call_message_index + 1 + round.results.size(),
                                std::move(messages), provenance);
        } else {
            for (auto last = round.results.rbegin(); last != round.results.rend(); ++last)
                edit_.erase(*last, provenance);
            edit_.replace_range(round.call_message_index, round.call_message_index + 1, std::move(messages),
                                provenance);
        }
    });
    edit_.allow_editing_pinned(false);
    is_done ? run_.add_handler_edit(edit_group, serial, 0) : edit_.drop_edit_group(edit_group);
}

}  // namespace whittle::inline v0::detail
