#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/token_saving/classifiers.hpp"
#include "whittle/token_saving/config.hpp"
#include "whittle/token_saving/detail/compress.hpp"
#include "whittle/token_saving/detail/token_saver.hpp"
#include "whittle/token_saving/detail/words.hpp"
#include "whittle/token_saving/steps.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Three ways to spend fewer tokens: long tool results are cut to head and tail, an agent that runs in circles is told
/// to answer, and old texts lose the words that matter least. Whatever fails inside is reported and swallowed, also
/// under OnError::propagate: the run goes on. Place it last. Copies share stats and cache.
template <AgentMessage M = ChatMessage>
class TokenSaving final : public Middleware<M> {
public:
    /// The chain checks the configuration.
    explicit TokenSaving(TokenSavingConfig config = {}, std::string name = "token_saving")
        : saver_(std::move(config), std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return saver_.name(); }
    /// The settings that it was made with.
    [[nodiscard]] const TokenSavingConfig& config() const noexcept { return saver_.config(); }

    /// Of all conversations together since this middleware was made. Thread-safe.
    [[nodiscard]] TokenSavingStats stats() const { return saver_.stats(); }
    /// Of one conversation; of the 1,024 that were served most recently. Thread-safe.
    [[nodiscard]] TokenSavingStats stats(std::string_view conversation) const { return saver_.stats(conversation); }

    void check(const ChainInfo& chain, Problems& problems) const override {
        check_token_saving(config(), chain, name(), problems);
    }
    void before_model(Turn<M>& turn) override {
        saver_.before_model(turn, [&](FunctionRef<void(Draft&)> work) {
            Transaction<M> edit = turn.edit();
            work(edit);
        });
    }
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        return saver_.wrap_tool(context, out, next);
    }
    [[nodiscard]] std::size_t expected_stable_prefix(const Conversation<M>& conversation) const override {
        return saver_.expected_stable_prefix(conversation.outline(), conversation.model_calls());
    }

private:
    detail::TokenSaver saver_;
};

/// The maker of `token_saving_type`.
inline constexpr auto make_token_saving =
    []<AgentMessage M>(const TokenSavingConfig& config,
                       const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    TokenSavingConfig with_model = config;
    if (auto model = context.model())
        with_model.perplexity_classifier = make_model_classifier(as_text_model<M>(std::move(model)));
    return std::make_shared<TokenSaving<M>>(std::move(with_model), context.name_in_config);
};

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_TOKEN_SAVING
#include "whittle/base/detail/compiled_types.hpp"
