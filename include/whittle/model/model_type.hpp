#pragma once

#include "whittle/fields/config_entry.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/model/model.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A type of model, as configurations write it. Beside `fields` its object has "type".
template <typename Config>
struct ModelType {
    std::string type{};             ///< a to z, 0 to 9 and _
    ConfigFields<Config> fields{};  ///< the keys of an entry
    /// Called once the keys are read: what several of them say together, or the environment. Empty: nothing.
    std::function<void(Config&, ConfigEntry&)> after_fields_read{};
};

/// What the maker of a model is told beside its configuration.
template <AgentMessage M>
struct ModelContext {
    std::string name_in_config{};  ///< under which the configuration has it
};

/// A reply that a configuration has, or an error.
struct ScriptedReply {
    std::string text{};  ///< what the model answers
    /// A reply may be `{"error": class}`: overflow, rate_limit, auth, server, bad_request, refusal, transport,
    /// cancelled. Absent: the text.
    std::optional<ModelErrorClass> error{};
};

/// A model that answers from a configuration.
struct ScriptedModelConfig {
    std::vector<ScriptedReply> replies{};  ///< what the model answers, in order; the last one repeats
};

/// Type "scripted": answers that stand in the configuration. For tests and demonstrations.
[[nodiscard]] ModelType<ScriptedModelConfig> scripted_model_type();

/// Answers from a list, whose last entry repeats. Thread-safe.
template <AgentMessage M>
class CannedReplyModel final : public Model<M> {
public:
    /// Throws Error(invalid_config) if there is no reply.
    CannedReplyModel(ScriptedModelConfig config, std::string name)
        : config_(std::move(config)), name_(std::move(name)) {
        if (config_.replies.empty())
            throw Error(Errc::invalid_config, "make model \"" + name_ + "\": it has no replies");
    }

    Reply<M> generate(const ModelRequest<M>& request) override {
        if (request.stop.stop_requested())
            throw ModelError(ModelErrorClass::cancelled, "model \"" + name_ + "\": stopped");
        const ScriptedReply& reply = config_.replies[(std::min)(next_.fetch_add(1), config_.replies.size() - 1)];
        if (!reply.error) return {message_traits<M>::make(Role::assistant, reply.text)};
        throw ModelError(*reply.error, "model \"" + name_ + "\": a scripted error");
    }

private:
    ScriptedModelConfig config_;
    std::string name_;
    std::atomic<std::size_t> next_ = 0;
};

/// The maker of `scripted_model_type`.
inline constexpr auto make_scripted_model =
    []<AgentMessage M>(const ScriptedModelConfig& config, const ModelContext<M>& context) -> std::shared_ptr<Model<M>> {
    return std::make_shared<CannedReplyModel<M>>(config, context.name_in_config);
};

namespace detail {
/// Calls `visit(type, maker)` for each model of the core.
template <typename Visit>
void visit_core_models(const Visit& visit) {
    visit(scripted_model_type(), make_scripted_model);
}
}  // namespace detail

}  // namespace whittle::inline v0
