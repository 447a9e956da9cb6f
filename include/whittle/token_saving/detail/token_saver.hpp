#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/token_saving/config.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// Makes a draft of the conversation and gives it to a function.
using WithDraft = FunctionRef<void(FunctionRef<void(Draft&)>)>;

/// What of `TokenSaving` needs no message type. Copies share stats and cache.
class TokenSaver {
public:
    TokenSaver(TokenSavingConfig config, std::string name);

    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] const TokenSavingConfig& config() const noexcept { return config_; }
    [[nodiscard]] TokenSavingStats stats() const;
    [[nodiscard]] TokenSavingStats stats(std::string_view conversation) const;

    void before_model(HookTurn& turn, WithDraft with_draft) const;
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) const;
    [[nodiscard]] std::size_t expected_stable_prefix(const Outline& outline, int model_calls) const;

private:
    /// What a hook has to do.
    struct Due {
        bool is_batch = false;
        int batch = 0;
        bool is_nudge = false;
    };
    struct Shared;

    [[nodiscard]] bool cuts() const { return config_.enable_compression && config_.when == SavingTime::batched; }
    [[nodiscard]] bool cuts_words() const {
        return config_.enable_perplexity_compression && !is_empty(config_.perplexity_classifier);
    }
    [[nodiscard]] bool wants_nudge(HookTurn& turn) const;
    [[nodiscard]] Due find_due(HookTurn& turn) const;
    void run(HookTurn& turn, Draft& edit, const Due& due) const;

    TokenSavingConfig config_;
    std::string name_;
    std::shared_ptr<Shared> shared_;
};

}  // namespace whittle::inline v0::detail
