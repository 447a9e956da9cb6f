#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/trimming/config.hpp"
#include "whittle/trimming/detail/trimmer.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Takes out of old results and arguments, line by line, what the model is least likely to need: lines that stand
/// elsewhere in the request, that nothing has come back to, or that no error, end or name speaks for. The originals go
/// to the store; without one they stay in the journal. Commits when that pays under the chain's cache profile. Copies
/// share nothing but their configuration.
template <AgentMessage M = ChatMessage>
class Trimming : public Middleware<M> {
public:
    explicit Trimming(TrimmingConfig config = {}, std::string name = "trimming")
        : Trimming(detail::TrimmingSettings{std::move(config)}, std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return trimmer_.name(); }
    /// The settings that it was made with.
    [[nodiscard]] const TrimmingConfig& config() const noexcept { return trimmer_.config(); }

    void check(const ChainInfo& chain, Problems& problems) const override {
        check_trimming(config(), chain, name(), problems);
    }
    void before_model(Turn<M>& turn) override {
        trimmer_.before_model(turn, [&](FunctionRef<void(Draft&)> work) { with_draft(turn, work); });
    }
    void after_model(Turn<M>& turn) override { trimmer_.after_model(turn); }
    bool on_overflow(Turn<M>& turn, const Overflow&) override {
        return trimmer_.on_overflow(turn, [&](FunctionRef<void(Draft&)> work) { with_draft(turn, work); });
    }
    void compact_now(Turn<M>& turn) override {
        trimmer_.compact_now(turn, [&](FunctionRef<void(Draft&)> work) { with_draft(turn, work); });
    }
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        return trimmer_.wrap_tool(context, out, next);
    }
    [[nodiscard]] std::size_t expected_stable_prefix(const Conversation<M>& conversation) const override {
        return detail::planned_prefix(conversation.outline(), conversation.middleware_notes());
    }

protected:
    /// By other rules than those of the unit.
    Trimming(detail::TrimmingSettings settings, std::string name) : trimmer_(std::move(settings), std::move(name)) {}

private:
    static void with_draft(Turn<M>& turn, FunctionRef<void(Draft&)> work) {
        Transaction<M> edit = turn.edit();
        work(edit);
    }

    detail::Trimmer trimmer_;
};

/// The maker of `trimming_type`.
inline constexpr auto make_trimming = []<AgentMessage M>(
                                          const TrimmingConfig& config,
                                          const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    return std::make_shared<Trimming<M>>(config, context.name_in_config);
};

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_TRIMMING
#include "whittle/base/detail/compiled_types.hpp"
