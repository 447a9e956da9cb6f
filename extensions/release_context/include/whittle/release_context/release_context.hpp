#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/release_context/detail/release_context.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Offers the model a tool, `release_context`, by which it says what of its tool results it no longer needs. They leave
/// the request like pruned ones, once that saves more than it costs, and on overflow; never those of protected tools,
/// pinned ones, and those of the newest calls. No chain has it unless you put it there: it is the model that decides.
template <AgentMessage M = ChatMessage>
class ReleaseContext final : public Middleware<M> {
public:
    /// The chain checks the configuration.
    explicit ReleaseContext(ReleaseContextConfig config = {}, std::string name = "release_context")
        : config_(std::move(config)), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    /// The settings that it was made with.
    [[nodiscard]] const ReleaseContextConfig& config() const noexcept { return config_; }

    void check(const ChainInfo&, Problems& problems) const override { check_release_context(config_, name_, problems); }
    void check_tools(const ChainInfo& chain, std::span<const ToolSpec> tools, Problems& problems) const override {
        check_reader({.field = name_ + ".storage", .own = config_.storage.get(), .has_media = true}, chain, tools,
                     problems);
    }
    /// Before the tool runs: it answers what was found.
    void after_model(Turn<M>& turn) override { detail::look_at_releases(turn, config_); }
    void before_model(Turn<M>& turn) override { take_out(turn, false); }
    bool on_overflow(Turn<M>& turn, const Overflow&) override { return take_out(turn, true); }
    void compact_now(Turn<M>& turn) override { take_out(turn, true); }
    [[nodiscard]] std::vector<Tool> tools(const ChainConfig& chain) const override {
        return {detail::release_context_tool(config_, name_, chain)};
    }

private:
    bool take_out(Turn<M>& turn, bool all) const {
        detail::look_at_releases(turn, config_);
        const auto results = detail::released_results(turn, config_, all);
        if (results.empty()) return false;
        auto edit = turn.edit();
        return detail::take_out_released(turn, edit, config_, results);
    }

    ReleaseContextConfig config_;
    std::string name_;
};

/// The maker of `release_context_type`.
inline constexpr auto make_release_context =
    []<AgentMessage M>(const ReleaseContextConfig& config,
                       const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    return std::make_shared<ReleaseContext<M>>(config, context.name_in_config);
};

}  // namespace whittle::inline v0
