// Any bytes: a configuration is read, or refused with one Error(invalid_config) in valid UTF-8.
#include "whittle/config/config_json.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        whittle::ChainSettings settings =
            whittle::read_chain_settings(text, {.name = "chain.json", .base_dir = "/nowhere"});
        settings.storage = {};
        for (whittle::StageSettings& stage : settings.stages) stage.backend = {}, stage.tool_backends = {};
        static_cast<void>(whittle::make_chain<whittle::ChatMessage>(settings));  // what was read is accepted
    } catch (const whittle::Error& e) {
        if (e.errc() != whittle::Errc::invalid_config || !whittle::is_valid_utf8(e.what())) __builtin_trap();
        if (!std::string_view(e.what()).starts_with("read configuration: ")) __builtin_trap();
    }
    return 0;
}
