#include "whittle/model/model_type.hpp"

#include <array>

namespace whittle::inline v0 {

namespace {

constexpr std::array error_classes{ModelErrorClass::overflow,  ModelErrorClass::rate_limit,  ModelErrorClass::auth,
                                   ModelErrorClass::server,    ModelErrorClass::bad_request, ModelErrorClass::refusal,
                                   ModelErrorClass::transport, ModelErrorClass::cancelled};

WordMember<ScriptedReply> error_member() {
    return {[](const ScriptedReply& reply) {
                const auto found = reply.error ? std::ranges::find(error_classes, *reply.error) : error_classes.end();
                return static_cast<std::size_t>(found - error_classes.begin());
            },
            [](ScriptedReply& reply, std::size_t word) { reply.error = error_classes[word]; }};
}

ConfigFields<ScriptedReply> reply_fields() {
    std::vector<std::string> names;
    for (const ModelErrorClass error_class : error_classes) names.emplace_back(to_string(error_class));
    return {{.name = "error",
             .member = error_member(),
             .meaning = "a reply may be `{\"error\": class}`: overflow, rate_limit, auth, server, bad_request, "
                        "refusal, transport, cancelled",
             .words = std::move(names),
             .documented_default = "none"}};
}

}  // namespace

ModelType<ScriptedModelConfig> scripted_model_type() {
    using C = ScriptedModelConfig;
    return {.type = "scripted",
            .fields = {{.name = "replies",
                        .member = list_member(&C::replies, &ScriptedReply::text, reply_fields()),
                        .meaning = "what the model answers, in order; the last one repeats",
                        .required = true}}};
}

}  // namespace whittle::inline v0
