// What a program links is what its configuration files may name: it says so once.
#include <whittle/anthropic/anthropic_model_type.hpp>
#include <whittle/condensing/condensing.hpp>
#include <whittle/config/config_json.hpp>
#include <whittle/redaction/redacted_store_type.hpp>
#include <whittle/sqlite/sqlite_store_type.hpp>
#include <whittle/tiktoken/exact_counter_type.hpp>

#include <iostream>
#include <utility>

using namespace whittle;

namespace {

using anthropic::Message;

// [types]
ConfigTypes linked_types(const HttpModelSource& source) {
    ConfigTypes types;
    types.register_middleware<Message>(condensing_type(), make_condensing);  // or <ChatMessage, openai::Message, ...>
    types.register_model<Message>(anthropic_model_type(), anthropic_model_maker(source));
    types.register_store(sqlite_store_type());
    types.register_store_wrapper(redacted_store_type());
    for (auto& counter : exact_counter_types()) types.register_counter(std::move(counter));
    return types;
}
// [/types]

constexpr std::string_view json = R"({
  "storage": {"type": "memory", "redaction": true},
  "models": {"small": {"type": "anthropic", "model": "a-model", "api_key_env": "ANTHROPIC_API_KEY"}},
  "middlewares": [
    {"type": "condensing", "min_bytes": 2000},
    {"type": "summarization", "model": "small", "trigger": {"context_tokens": 60000}}
  ]
})";

void show(const ConfigTypes& types) {
    try {
        const ChainSettings settings = read_chain_settings(json, {.name = "chain.json", .types = types});
        std::cout << "storage: " << settings.storage_settings.type << "\n";
        for (const ModelSettings& model : settings.models) std::cout << "model: " << model.type << "\n";
        for (const StageSettings& stage : settings.stages) std::cout << "middleware: " << stage.type << "\n";
    } catch (const Error& error) {
        std::cout << error.what() << "\n";
    }
}

}  // namespace

int main() {
    show(linked_types({}));
    std::cout << "\nWith what the core has alone:\n";
    show({});
}
