#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/conversation/detail/side_table.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The model's window: that of the profile, or a smaller one that the chain's own notes have; 0: unknown.
[[nodiscard]] std::int64_t known_window(const Notes& notes, const ModelProfile& profile);

/// What a hook of a chain with that configuration may spend from `now` on.
[[nodiscard]] HookBudget budget_of(const ChainConfig& config, UnixMillis now) noexcept;

/// What a request that the provider called too large has to come to, in the tokens that triggers judge: where they are
/// fewer than the provider counts, by the same ratio.
class OverflowGoal {
public:
    /// Notes the window if the provider said it. Where nobody knows it, each middleware has to make half of what it
    /// gets. `notes`: the chain's own.
    OverflowGoal(const Overflow& overflow, Notes notes, const ModelProfile& profile);

    /// Reports the request's size and the goal as count and threshold. False: it fits by now.
    [[nodiscard]] bool is_missed(HookTurn& turn);

private:
    std::int64_t limit_ = 0;
    std::int64_t used_ = 0;
    double ratio_ = 0.0;  ///< the provider's tokens for one of ours, at least 1; 0: not known yet
};

/// Adds every bad bound to `problems`, each under "limits.".
void check_hook_limits(const HookLimits& limits, Problems& problems);

/// Changes the configuration of one `compact_now`: what it may spend, and what it may not touch. Throws
/// Error(invalid_argument), and Error(invalid_config) for bad limits.
void limit_to(ChainConfig& config, const CompactOptions& options, const Outline& outline);

/// Reports size and target as count and threshold. A target of 0 becomes half of the size.
[[nodiscard]] bool is_above_target(HookTurn& turn, std::int64_t& target);

/// One hook of a chain on one conversation: the report, what may be spent, and what becomes of failures. `Chain<M>`
/// overrides what needs messages.
class HookRun {
public:
    struct Setup {
        const ChainConfig& config;
        const EventSink& events;
        const std::function<void(const Report&)>& on_report;
        SideTable& side;
        Report& report;
        bool& is_in_hook;                                              ///< set while this object lives
        const std::shared_ptr<const std::vector<std::string>>& names;  ///< of the stages
        /// How many in front are the chain's own: they get each request ready, before the others, and stand in the
        /// report only where they had something to do.
        std::size_t own = 0;
    };

    HookRun(const Setup& setup, Hook hook);
    HookRun(const HookRun&) = delete;
    HookRun& operator=(const HookRun&) = delete;

    /// Runs the stages one after the other. Under OnError::propagate it throws what a stage throws, with the
    /// conversation as it was before.
    void run();

protected:
    virtual ~HookRun();

    [[nodiscard]] virtual ContextCount count() = 0;
    [[nodiscard]] virtual Savepoint savepoint() const = 0;
    virtual void roll_back(const Savepoint& to) noexcept = 0;
    virtual void settle(std::size_t from_entry) noexcept = 0;
    /// Calls the hook of one stage, which reports in `report`.
    virtual void call(std::size_t stage, StageReport& report) = 0;
    /// Whether `call` is to do what a stage does about a refused request, since this one would be.
    [[nodiscard]] bool is_fitting() const noexcept { return goal_.has_value(); }
    [[nodiscard]] bool is_too_large(HookTurn& turn) { return goal_->is_missed(turn); }

    HookBudget budget_;

private:
    void fit_window();
    void run_stage(std::size_t stage, bool keeps_not_applicable);
    void take_back(const Savepoint& before);
    [[nodiscard]] ContextCount try_to_count();
    void finish(const ContextCount& after);

    Setup setup_;
    Hook hook_;
    UnixMillis started_;
    Savepoint start_{};
    std::optional<OverflowGoal> goal_{};  ///< while stages make a request fit that is above the window
};

}  // namespace whittle::inline v0::detail
