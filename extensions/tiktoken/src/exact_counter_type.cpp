#include "whittle/tiktoken/exact_counter_type.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

namespace {

using Config = ExactCounterConfig;

void resolve_folder(Config& config, ConfigEntry& entry) {
    if (!entry.gives("vocabularies")) return;
    if (config.vocabularies.empty() || config.vocabularies.find('\0') != std::string::npos)
        return entry.unexpected("vocabularies", "the path of a directory");
    config.vocabularies = entry.resolved(config.vocabularies);
}

std::shared_ptr<const TokenCounter> open_exact(const EncodingInfo& encoding, const Config& config,
                                               const ConfigContext& context) {
    const std::string folder = config.vocabularies.empty() ? vocabulary_folder(context.lookup) : config.vocabularies;
    if (folder.empty())
        throw Error(Errc::invalid_config, "no directory of vocabularies is known; set tokens.vocabularies");
    try {
        return exact_counter(open_encoding(vocabulary_path(folder, encoding.name), encoding));
    } catch (const Error& error) {
        throw Error(error.errc(),
                    fmt::format("{}; `whittle vocab install {}` puts it there", error.what(), encoding.name));
    }
}

}  // namespace

std::vector<CounterType<Config>> exact_counter_types() {
    std::vector<CounterType<Config>> types;
    for (const EncodingInfo& encoding : known_encodings()) {
        types.push_back(
            {.type = std::string(encoding.name),
             .fields = {{.name = "vocabularies",
                         .member = &Config::vocabularies,
                         .meaning = "the directory of installed vocabularies",
                         .documented_default = "the user's"}},
             .open = [&encoding](const Config& config,
                                 const ConfigContext& context) { return open_exact(encoding, config, context); },
             .after_fields_read = resolve_folder});
    }
    return types;
}

}  // namespace whittle::inline v0
