#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/trimming/detail/trimming_rules.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

class TrimmingState;

/// What of `Trimming` needs no message type. Thread-safe.
class Trimmer {
public:
    /// Makes a draft of the conversation and gives it to a function.
    using WithDraft = FunctionRef<void(FunctionRef<void(Draft&)>)>;

    Trimmer(TrimmingSettings settings, std::string name);

    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] const TrimmingConfig& config() const noexcept { return settings_->config; }

    void before_model(HookTurn& turn, WithDraft with_draft) const;
    void after_model(HookTurn& turn) const;
    bool on_overflow(HookTurn& turn, WithDraft with_draft) const;
    bool compact_now(HookTurn& turn, WithDraft with_draft) const;
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) const;

private:
    [[nodiscard]] std::shared_ptr<TrimmingState> find_state(const ConversationCaches& caches) const;
    [[nodiscard]] std::shared_ptr<TrimmingState> state_of(HookTurn& turn) const;
    bool trim(HookTurn& turn, TrimmingState& state, std::int64_t enough, WithDraft with_draft) const;

    std::shared_ptr<const TrimmingSettings> settings_;
    std::string name_;
};

/// Messages at the front that the schedule plans to leave alone.
[[nodiscard]] std::size_t planned_prefix(const Outline& outline, const NoteBook& notes);

}  // namespace whittle::inline v0::detail
