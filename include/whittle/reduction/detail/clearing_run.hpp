#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/reduction/config.hpp"
#include "whittle/reduction/detail/clearing.hpp"
#include "whittle/reduction/detail/truncation.hpp"
#include "whittle/tokens/detail/usage_fit.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// What a user may decide of single results.
struct ClearingCallbacks {
    const std::map<std::string, ToolReductionCallbacks>& tool_config;
    const std::function<std::string(const ToolDetail&)>& generate_key;
};

/// The limits of a request of that many tokens at this call: clearing is due earlier where it costs nothing.
[[nodiscard]] ClearingLimits clearing_limits_now(HookTurn& turn, const ReductionConfig& config, std::int64_t tokens);
/// The oldest message whose results are not cleared yet and may be, once they are old; `outline.size()` if none.
[[nodiscard]] std::size_t untouched_by_clearing(const Outline& outline, const ReductionConfig& config,
                                                std::string_view name);

/// The first message that thinks; `outline.size()` if none does.
[[nodiscard]] std::size_t first_with_thinking(const Outline& outline) noexcept;
/// The oldest message whose thinking may go at once; where tokens decide, the first that thinks. Else `outline.size()`.
[[nodiscard]] std::size_t first_old_thinking(const Outline& outline, const ReductionConfig& config) noexcept;

/// Warns of clearing that left a request of `before` tokens with `after`, above `trigger`: it will edit at every call,
/// and break the cache there.
void warn_if_above(HookTurn& turn, std::int64_t before, std::int64_t after, std::int64_t trigger);

/// What one run of the clearing phase works with. A view, but for the keys that it has planned.
class ClearingScope {
public:
    /// `count`: tokens of the request, as the trigger judges it; `scale`: how that compares with what we count.
    ClearingScope(HookTurn& hook_turn, Draft& draft, const ReductionConfig& settings,
                  const ClearingCallbacks& functions, std::int64_t count, const TokenScale& scale)
        : turn(hook_turn), edit(draft), config(settings), callbacks(functions), count_(count), scale_(scale) {}

    HookTurn& turn;
    Draft& edit;
    const ReductionConfig& config;
    ClearingCallbacks callbacks;
    PlannedKeys planned{};
    std::string placeholder{};  ///< of the result at hand; keeps its room

    [[nodiscard]] std::string_view name() const noexcept { return turn.report.middleware; }
    /// Tokens of the request, like `count`: what a provider bills for what we count as gone.
    [[nodiscard]] std::int64_t of_request(std::int64_t counted) const noexcept { return scale_.to_request(counted); }
    /// The least of our count that takes that much of the request.
    [[nodiscard]] std::int64_t counted_for(std::int64_t request_tokens) const noexcept {
        const std::int64_t counted = scale_.to_counted(request_tokens);
        return of_request(counted) < request_tokens ? add_saturating(counted, 1) : counted;
    }
    [[nodiscard]] std::int64_t counted_freed() const noexcept {
        return sub_saturating(edit.tokens_before(), edit.tokens_after());
    }
    /// Below `target` once so much of our count is gone, and worth a commit: a plan that stopped at the target alone
    /// might be dropped as too small.
    [[nodiscard]] bool is_enough(std::int64_t target, std::int64_t counted_freed) const noexcept {
        const std::int64_t freed = of_request(counted_freed);
        return target > 0 && sub_saturating(count_, freed) < target && freed >= config.clear_at_least_tokens;
    }
    [[nodiscard]] ClearingPlan plan() const;

    [[nodiscard]] std::shared_ptr<Storage> storage_for(std::string_view tool) const {
        return backend_for(config, tool, turn.config.storage);
    }
    [[nodiscard]] std::string_view reader() const { return reader_among(turn.tools, config.read_file_tool_name); }
    void offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                 std::optional<Draft::Original> original);
    [[nodiscard]] std::int64_t tokens_of(const PartView& part) const;

    /// Calls `visit(i, part)` for part `i` of the candidate.
    void for_each_part_of(const ClearingCandidate& candidate,
                          FunctionRef<void(std::size_t, const PartView&)> visit) const;
    /// Asked each time: an edit of the message makes its strings anew. Without any where the part is gone: a type may
    /// show no part for no text.
    [[nodiscard]] const PartInfo& first_part(const ClearingCandidate& candidate) const;
    [[nodiscard]] std::string_view tool_of(const ClearingCandidate& candidate) const {
        return first_part(candidate).tool;
    }
    [[nodiscard]] std::vector<Part> parts_of_result(const ClearingCandidate& candidate) const;

private:
    std::int64_t count_;
    TokenScale scale_;
};

/// Runs what concerns one round or one result: if that fails, it alone stays as it is. What stops the whole hook is
/// thrown on.
class ClearingFailures {
public:
    explicit ClearingFailures(HookTurn& turn) noexcept : turn_(turn) {}

    /// False if it failed.
    bool attempt(FunctionRef<void()> work);
    /// False if it would break a rule. Whatever else goes wrong is thrown.
    [[nodiscard]] bool is_valid(FunctionRef<void()> commit);
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// Reports them.
    void report();

private:
    void note();

    HookTurn& turn_;
    int count_ = 0;
    std::string first_{};
};

/// One run of the clearing phase: plans edits stage by stage in one transaction, each seeing the work of the one
/// before.
class ClearingRun {
public:
    ClearingRun(HookTurn& turn, Draft& edit, const ReductionConfig& config, const ClearingCallbacks& callbacks,
                std::int64_t count, const TokenScale& scale)
        : scope_(turn, edit, config, callbacks, count, scale), failures_(turn) {}

    /// Replaces old results, and what else is asked for, oldest first, until the count is below `target` (0: all).
    void clear(std::int64_t target);
    /// Cuts results of the newest rounds down until `tokens` more of the request are free, or nothing more can be cut.
    void shorten_newest(std::int64_t tokens);

    [[nodiscard]] std::int64_t freed() const noexcept { return of_request(scope_.counted_freed()); }
    [[nodiscard]] std::int64_t of_request(std::int64_t counted) const noexcept { return scope_.of_request(counted); }
    [[nodiscard]] bool is_enough(std::int64_t target, std::int64_t counted_freed) const noexcept {
        return scope_.is_enough(target, counted_freed);
    }
    bool attempt(FunctionRef<void()> work) { return failures_.attempt(work); }
    /// A user's function made that edit group, whose line in the report is that of `serial` and `part`.
    void add_handler_edit(EditGroup edit_group, Serial serial, std::size_t part) {
        handler_edits_.push_back({edit_group, serial, part});
    }
    /// `at_least`: tokens of the request.
    CommitResult commit(std::int64_t at_least);

private:
    /// What a user's function made, and its line in the report.
    struct HandlerEdit {
        EditGroup edit_group = 0;
        Serial serial = 0;
        std::size_t part = 0;
    };

    void clear_thinking(std::int64_t target);
    [[nodiscard]] std::vector<EditGroup> drop_invalid_edit_groups();
    void report_dropped(const std::vector<EditGroup>& edit_groups);

    ClearingScope scope_;
    ClearingFailures failures_;
    std::vector<HandlerEdit> handler_edits_{};
};

/// How many of `parts`, which are sorted, are below `part`.
[[nodiscard]] std::size_t count_below(std::span<const std::size_t> parts, std::size_t part);

}  // namespace whittle::inline v0::detail
