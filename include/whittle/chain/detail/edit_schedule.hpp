#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/hook_turn.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace whittle::inline v0 {

/// The number of the model call that a message came in with, from 1: a reply that of its own, what follows it the same.
[[nodiscard]] inline int call_of(const MessageInfo& info) noexcept {
    return info.model_calls_before + (info.role == Role::assistant ? 1 : 0);
}

/// When edits of what a prompt cache holds pay.
struct EditScheduleConfig {
    std::int64_t start_tokens = 20'000;  ///< requests of up to that size stay as they are
    int keep_rounds = 1;                 ///< newest model calls whose results stay as they came
    int first_calls = 10;                ///< that do not count as evidence that the run goes on
    double force_above_window_fraction =
        0.0;  ///< above this part of a known window all offers are made, if they free a twentieth of it; 0: off
};

/// `start_tokens` where the cache has expired: an edit then costs nothing, so that it pays in smaller requests.
[[nodiscard]] constexpr std::int64_t cold_start_of(std::int64_t start_tokens) noexcept {
    return std::min<std::int64_t>(start_tokens, 10'000);
}

/// An edit that a stage has ready.
struct EditOffer {
    std::size_t message = 0;  ///< index
    std::uint64_t id = 0;     ///< names it for as long as it is offered
    std::int64_t tokens_now = 0;
    std::int64_t tokens_then = 0;
};

/// What the sizes of a request are asked for with: tokens of messages [first, last) as they were sent.
using TokensBetween = FunctionRef<std::int64_t(std::size_t first, std::size_t last)>;

/// Decides when edits are committed, for all stages of a chain together. An edit that has not been made costs its rent
/// at each call: what the tokens that could have gone cost to read. It is made once the rents, of all edits from some
/// message on, have paid for writing what stands behind it once more ("rent equals buy": never more than twice what
/// knowing the future would cost), and once a third as many calls as were made so far would pay for it too. Accounts
/// advance with the model's replies, however often a hook runs. After a pause longer than the cache lives, edits are
/// free.
///
/// Works with the conversation's notes: saved with it, taken back with a hook that fails.
class EditSchedule {
public:
    /// Reads the time: one schedule a hook.
    EditSchedule(HookTurn& turn, const EditScheduleConfig& config);

    /// The model call that is about to be made, from 1.
    [[nodiscard]] int call() const noexcept { return call_; }
    /// False if this call was looked at before: nothing is due again.
    [[nodiscard]] bool is_new_call() const noexcept { return is_new_; }
    /// The provider has forgotten the prompt.
    [[nodiscard]] bool is_cold() const noexcept { return is_cold_; }
    /// The window is nearly full: what may go goes. `total`: tokens of the request.
    [[nodiscard]] bool is_at_edge(std::int64_t total) const;
    /// The first message that has to stay: of the newest calls.
    [[nodiscard]] std::size_t newest() const noexcept { return newest_; }

    /// Notes that the call was looked at, and the time. Once a hook, whatever is decided.
    void advance();
    /// The oldest message from which on all offers are to be committed now; nullopt: none. `total`: tokens of the
    /// request. `owner`: the stage, whose accounts these are; those that are offered no more are closed.
    [[nodiscard]] std::optional<std::size_t> decide(std::span<const EditOffer> offers, std::int64_t total,
                                                    TokensBetween tokens, std::string_view owner);
    /// A commit was made from message `first` on: what stands in front of the newest calls is not to move again soon.
    void note_commit(std::size_t first);
    /// For stages behind the one that keeps the schedule: the message from which on the provider has to read the
    /// request of this call anew anyway, so that edits there cost nothing. nullopt: it need not, or nobody keeps one.
    [[nodiscard]] static std::optional<std::size_t> free_from(HookTurn& turn);

    /// The time of a reply, for the next call.
    static void note_reply(HookTurn& turn);
    /// Messages in front of the newest calls of the last commit: what is planned to stay. `shared`: the notes of
    /// `note_owner`.
    static constexpr std::string_view note_owner = "edit_schedule";
    [[nodiscard]] static std::size_t frozen_messages(const Outline& outline, std::optional<std::int64_t> frozen_before);

private:
    [[nodiscard]] bool makes_room(std::span<const EditOffer> offers) const;
    using Accounts = std::unordered_map<std::uint64_t, double>;
    [[nodiscard]] Accounts load_accounts(std::string_view owner);
    void save_accounts(std::string_view owner, std::span<const EditOffer> offers, const Accounts& accounts);
    [[nodiscard]] std::optional<std::size_t> find_best(std::span<const EditOffer> offers, const Accounts& accounts,
                                                       TokensBetween tokens) const;

    HookTurn& turn_;
    const EditScheduleConfig& config_;
    int call_ = 0;
    std::int64_t cold_calls_ = 0;
    UnixMillis now_ = 0;
    bool is_new_ = false;
    bool is_cold_ = false;
    double rent_ = 0.0;
    std::size_t newest_ = 0;
};

}  // namespace whittle::inline v0
