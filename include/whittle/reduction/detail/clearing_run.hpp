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

/// One run of the clearing phase: plans edits stage by stage in one transaction, each seeing the work of the one
/// before.
class ClearingRun {
public:
    /// `count`: tokens of the request, as the trigger judges it; `scale`: how that compares with what we count.
    ClearingRun(HookTurn& turn, Draft& edit, const ReductionConfig& config, const ClearingCallbacks& callbacks,
                std::int64_t count, const TokenScale& scale)
        : turn_(turn),
          edit_(edit),
          config_(config),
          callbacks_(callbacks),
          name_(turn.report.middleware),
          count_(count),
          scale_(scale) {}

    /// Replaces old results, and what else is asked for, oldest first, until the count is below `target` (0: all).
    void clear(std::int64_t target);
    /// Cuts results of the newest rounds down until `tokens` more of the request are free, or nothing more can be cut.
    void shorten_newest(std::int64_t tokens);

    /// Tokens of the request, like `count`: what a provider bills for what we count as gone.
    [[nodiscard]] std::int64_t freed() const noexcept { return of_request(counted_freed()); }
    [[nodiscard]] std::int64_t of_request(std::int64_t counted) const noexcept { return scale_.to_request(counted); }
    /// `at_least`: tokens of the request.
    CommitResult commit(std::int64_t at_least);

    /// Below `target` once so much of our count is gone, and worth a commit: a plan that stopped at the target alone
    /// might be dropped as too small.
    [[nodiscard]] bool is_enough(std::int64_t target, std::int64_t counted_freed) const noexcept {
        const std::int64_t freed = of_request(counted_freed);
        return target > 0 && sub_saturating(count_, freed) < target && freed >= config_.clear_at_least_tokens;
    }
    /// Runs what concerns one round or one result. If that fails, it alone stays as it is; what stops the whole hook is
    /// thrown on. False if it failed.
    bool attempt(FunctionRef<void()> work);
    /// A user's function made that unit, whose line in the report is that of `serial` and `part`.
    void add_users_unit(Unit unit, Serial serial, std::size_t part) { users_units_.push_back({unit, serial, part}); }

private:
    [[nodiscard]] std::int64_t counted_freed() const noexcept {
        return sub_saturating(edit_.tokens_before(), edit_.tokens_after());
    }
    /// The least of our count that takes that much of the request.
    [[nodiscard]] std::int64_t counted_for(std::int64_t request_tokens) const noexcept {
        const std::int64_t counted = scale_.to_counted(request_tokens);
        return of_request(counted) < request_tokens ? add_saturating(counted, 1) : counted;
    }
    [[nodiscard]] bool is_valid(FunctionRef<void()> commit);
    void note_failure();
    void tell_failures();
    [[nodiscard]] std::vector<Unit> drop_rule_breakers();
    void report_dropped(const std::vector<Unit>& units);
    [[nodiscard]] ClearingPlan plan() const;
    [[nodiscard]] std::shared_ptr<Storage> storage_for(std::string_view tool) const {
        return backend_for(config_, tool, turn_.config.storage);
    }
    [[nodiscard]] std::string_view reader() const { return reader_among(turn_.tools, config_.read_file_tool_name); }
    /// Calls `visit(i, part)` for part `i` of the candidate.
    void for_each_part_of(const ClearingCandidate& candidate,
                          FunctionRef<void(std::size_t, const PartView&)> visit) const;
    /// Asked each time: an edit of the message makes its strings anew. Without any where the part is gone: a type may
    /// show no part for no text.
    [[nodiscard]] const PartInfo& first_part(const ClearingCandidate& candidate) const;
    [[nodiscard]] std::string_view tool_of(const ClearingCandidate& candidate) const {
        return first_part(candidate).tool;
    }
    /// Last component of its key.
    [[nodiscard]] std::string_view object_name_of(const ClearingCandidate& candidate) const {
        return first_part(candidate).object_name;
    }
    [[nodiscard]] std::vector<Part> parts_of_result(const ClearingCandidate& candidate) const;
    [[nodiscard]] std::string arguments_of(const ClearingCandidate& candidate) const;
    /// What a user's function says of a call and its result.
    template <typename Result>
    [[nodiscard]] Result ask(const std::function<Result(const ToolDetail&)>& function,
                             const ClearingCandidate& candidate, const std::vector<Part>& parts) const {
        const std::string arguments = arguments_of(candidate);
        const PartInfo& part = first_part(candidate);
        CallbackContext context = turn_.callback_context();
        context.object_name = part.object_name;
        context.round = edit_.outline()[candidate.call].serial;
        return function(ToolDetail{context, part.tool, part.call_id, arguments, parts});
    }
    void clear_thinking(std::int64_t target);
    [[nodiscard]] std::vector<std::size_t> old_thinking() const;
    [[nodiscard]] std::int64_t thinking_tokens(std::size_t message) const;
    std::int64_t stage_thinking(std::size_t message);
    std::int64_t stage(const ClearingCandidate& candidate);
    [[nodiscard]] std::string failed_lines(const ClearingCandidate& candidate) const;
    void stage_result(const ClearingCandidate& candidate, const std::vector<Part>& parts);
    /// What is to be stored of a result.
    struct Offload {
        std::int64_t tokens = 0;               // of all its parts
        bool is_text = false;                  // the text of its only part
        Hash128 print{};                       // of that text
        std::optional<std::string> content{};  // anything else
    };
    [[nodiscard]] bool is_held_beside(const ClearingCandidate& candidate, Storage& storage, const PartView& part) const;
    Offload look_at(const ClearingCandidate& candidate, const std::vector<Part>& parts, Storage* storage,
                    Provenance& provenance, ClearedText& text);
    void name_object(const ClearingCandidate& candidate, const std::vector<Part>& parts, Storage& storage,
                     std::string_view content, Provenance& provenance, ClearedText& text);
    void stage_arguments(const ClearingCandidate& candidate, const std::vector<Part>& parts);
    void stage_handler(const ClearingCandidate& candidate, const std::vector<Part>& parts, ClearResult result);
    void close_ranks(std::span<ClearingCandidate> candidates, std::size_t message) const;
    void set_parts(const ClearingCandidate& candidate, const std::vector<Part>& before, const std::vector<Part>& now,
                   const Provenance& provenance);
    void set_all(const ClearingCandidate& candidate, std::string_view text, Provenance provenance);
    void set_each(const ClearingCandidate& candidate, const std::vector<bool>& is_new, const std::vector<Part>& now,
                  const Provenance& provenance);
    [[nodiscard]] std::string key_for(const ClearingCandidate& candidate, const std::vector<Part>& parts) const;
    void offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                 std::optional<Draft::Original> original);
    [[nodiscard]] std::int64_t tokens_of(const PartView& part) const;
    [[nodiscard]] ClearingPlan plan_shortening() const;
    [[nodiscard]] std::int64_t limit_that_frees(std::int64_t tokens,
                                                const std::vector<ClearingCandidate>& candidates) const;
    [[nodiscard]] Draft::Original original_at(const ClearingCandidate& candidate, std::size_t part) const {
        return {edit_.outline()[candidate.message].serial, candidate.parts[part]};
    }
    void shorten_text(const ClearingCandidate& candidate, std::size_t i, const std::string& whole,
                      std::int64_t max_bytes, const std::shared_ptr<Storage>& storage);
    std::int64_t shorten(const ClearingCandidate& candidate, std::int64_t max_bytes);

    HookTurn& turn_;
    Draft& edit_;
    const ReductionConfig& config_;
    ClearingCallbacks callbacks_;
    std::string_view name_;
    std::int64_t count_;  // of the request, as the trigger judges it
    TokenScale scale_;
    PlannedKeys planned_{};
    std::string placeholder_{};          // of the result at hand; keeps its room
    std::vector<std::size_t> erased_{};  // parts of the message that a replacement took out
    /// What a user's function made, and its line in the report.
    struct UsersUnit {
        Unit unit = 0;
        Serial serial = 0;
        std::size_t part = 0;
    };
    std::vector<UsersUnit> users_units_{};
    int failures_ = 0;  // rounds and results that stay because something threw
    std::string first_failure_{};
};

/// How many of `parts`, which are sorted, are below `part`.
[[nodiscard]] std::size_t count_below(const std::vector<std::size_t>& parts, std::size_t part);

}  // namespace whittle::inline v0::detail
