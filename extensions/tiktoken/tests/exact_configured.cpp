#include "whittle/config/config_json.hpp"
#include "whittle/tiktoken/exact_counter_type.hpp"

#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace whittle;

namespace {

ConfigTypes exact_types() {
    ConfigTypes types;
    for (CounterType<ExactCounterConfig>& counter : exact_counter_types()) types.register_counter(std::move(counter));
    return types;
}

std::string tokens_error(std::string_view json, ConfigSource source) {
    source.types = exact_types();
    try {
        static_cast<void>(read_chain_settings(json, source));
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

constexpr std::string_view with_r50k = R"({"tokens": {"counter": "r50k_base"}})";

}  // namespace

TEST_CASE("a vocabulary that is not installed is named with its place and the command that installs it",
          "[config_json]") {
    const testing::TempDir dir;
    const ConfigSource source{.name = "chain.json", .lookup = [&](std::string_view name) {
                                  return name == "HOME" ? std::optional(dir.path().string()) : std::nullopt;
                              }};
    const std::string path = dir.path().string() + "/.local/share/whittle/vocabularies/r50k_base.whittle";
    CHECK(tokens_error(with_r50k, source)
              .ends_with("tokens.counter: open vocabulary " + path +
                         ": No such file or directory; `whittle vocab install r50k_base` puts "
                         "it there"));
    CHECK(tokens_error(with_r50k, {.name = "chain.json"})
              .ends_with("tokens.counter: no directory of vocabularies is known; set tokens.vocabularies"));
    CHECK(tokens_error(R"({"tokens": {"vocabularies": "v"}})", {})
              .ends_with("tokens.vocabularies: only for the counter \"o200k_base\" or \"cl100k_base\" or "
                         "\"p50k_base\" or \"r50k_base\""));
}

TEST_CASE("a configuration counts exactly with an installed vocabulary", "[config_json]") {
    std::ifstream file(WHITTLE_DATA_DIR "/tokenizers/r50k_base.tiktoken", std::ios::binary);
    if (!file) SKIP_WITH_MESSAGE("no vocabulary");
    const testing::TempDir dir;
    std::filesystem::create_directory(dir / "v");
    std::ofstream(dir / "v/r50k_base.whittle", std::ios::binary)
        << pack_vocabulary("r50k_base", std::string(std::istreambuf_iterator<char>(file), {}));
    const ConfigSource source{.name = "chain.json", .base_dir = dir.path().string(), .types = exact_types()};
    const ChainSettings settings =
        read_chain_settings(R"({"tokens": {"counter": "r50k_base", "vocabularies": "v"}})", source);
    CHECK(settings.config.token_counter->id() == "r50k_base");
    CHECK(settings.config.token_counter->count("hello world") == 2);
}

TEST_CASE("the page of exact counting has the row of every key", "[config_json]") {
    CHECK(testing::undocumented_keys(exact_types(), "extensions/tiktoken/README.md") == "");
}
