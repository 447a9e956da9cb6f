#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/condensing/config.hpp"
#include "whittle/condensing/detail/condense.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Shows long results of tools as what they are when they come: JSON with its like objects as rows, logs with repeats
/// folded, diffs with less around their changes, HTML as text, tables by their ends and outliers. Each form loses
/// nothing, or says what it left out and where the whole is: in the store, or without one in the journal. What is
/// none of these, and what a form would not make smaller, passes byte for byte. With a `distiller` a model writes an
/// extract of what is still long. Keeps no state.
template <AgentMessage M = ChatMessage>
class Condensing final : public Middleware<M> {
public:
    /// The chain checks the configuration.
    explicit Condensing(CondensingConfig config = {}, std::string name = "condensing")
        : config_(std::move(config)), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    /// The settings that it was made with.
    [[nodiscard]] const CondensingConfig& config() const noexcept { return config_; }

    void check(const ChainInfo&, Problems& problems) const override { check_condensing(config_, name_, problems); }
    void before_model(Turn<M>& turn) override { prepare_condensing(config_, turn, name_); }
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        return run_condensed(config_, name_, context, out, next);
    }

private:
    CondensingConfig config_;
    std::string name_;
};

/// The maker of `condensing_type`. Its distiller is the entry's model.
inline constexpr auto make_condensing =
    []<AgentMessage M>(const CondensingConfig& config,
                       const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    CondensingConfig with_model = config;
    if (auto model = context.model()) with_model.distiller = as_text_model<M>(std::move(model));
    return std::make_shared<Condensing<M>>(std::move(with_model), context.name_in_config);
};

}  // namespace whittle::inline v0
