// Any bytes: a configuration is read, or refused with one Error(invalid_config) in valid UTF-8.
#include "whittle/config/config_json.hpp"
#include "whittle/anthropic/anthropic_model_type.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/convert/converted_model.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/openai/openai_model_type.hpp"
#include "whittle/redaction/redacted_store_type.hpp"
#include "whittle/release_context/release_context.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace {

whittle::ConfigTypes fuzzed_types() {
    using whittle::ChatMessage;
    whittle::ConfigTypes types;
    types.register_middleware<ChatMessage>(whittle::condensing_type(), whittle::make_condensing);
    types.register_middleware<ChatMessage>(whittle::release_context_type(), whittle::make_release_context);
    types.register_model<ChatMessage>(whittle::openai_model_type(), whittle::openai_model_maker({}));
    types.register_model<ChatMessage>(whittle::anthropic_model_type(), whittle::anthropic_model_maker({}));
    types.register_store_wrapper(whittle::redacted_store_type());
    return types;
}

std::shared_ptr<whittle::Model<whittle::ChatMessage>> any_model(const whittle::ModelSettings&) {
    return std::make_shared<whittle::ScriptedModel<>>(std::vector<whittle::ChatMessage>{});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const whittle::ConfigTypes types = fuzzed_types();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        whittle::ChainSettings settings =
            whittle::read_chain_settings(text, {.name = "chain.json", .base_dir = "/nowhere", .types = types});
        settings.storage_settings = {};
        for (whittle::StageSettings& stage : settings.stages) stage.storages.clear();
        static_cast<void>(
            whittle::make_chain<whittle::ChatMessage>(settings, {}, any_model));  // what was read is accepted
    } catch (const whittle::Error& e) {
        if (e.errc() != whittle::Errc::invalid_config || !whittle::is_valid_utf8(e.what())) __builtin_trap();
        if (!std::string_view(e.what()).starts_with("read configuration: ")) __builtin_trap();
    }
    return 0;
}
