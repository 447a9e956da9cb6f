#include "config_json_reader.hpp"

#include "whittle/chain/config.hpp"
#include "whittle/message/validity.hpp"

#include <array>
#include <initializer_list>

namespace whittle::inline v0::detail {

namespace {

constexpr std::array<Field<CacheProfile>, 5> cache_fields{{
    {"read", "number", &shown<&CacheProfile::read>, "price of a token read from the cache, relative to the input price",
     &read_real<&CacheProfile::read>},
    {"write", "number", &shown<&CacheProfile::write>, "price of a token that is not read from it",
     &read_real<&CacheProfile::write>},
    {"ttl_seconds", "integer", &shown<&CacheProfile::ttl_seconds>, "lifetime since the last use; 0: nothing is cached",
     &read_integer<&CacheProfile::ttl_seconds, 0>},
    {"minimum", "integer", &shown<&CacheProfile::minimum>, "tokens that a cached prefix has at least",
     &read_integer<&CacheProfile::minimum, 0>},
    {"step", "integer", &shown<&CacheProfile::step>, "a cached prefix is a multiple of this many tokens",
     &read_integer<&CacheProfile::step, 1>},
}};

constexpr std::array<Field<Prices>, 4> prices_fields{{
    {"input", "number", "required", "money per million input tokens", &read_real<&Prices::input>},
    {"cache_read", "number", "input x cache.read", "the same for tokens read from the cache",
     &read_real<&Prices::cache_read>},
    {"cache_write", "number", "input x cache.write", "the same for tokens written to it",
     &read_real<&Prices::cache_write>},
    {"output", "number", "required", "the same for output tokens", &read_real<&Prices::output>},
}};

void read_cache(ConfigReader& reader, NodeId at, ModelProfile& profile) {
    if (reader.json()[at].kind == JsonPositions::Kind::object) {
        profile.cache = CacheProfile{.name = "custom"};
        return read_object<CacheProfile>(reader, at, profile.cache, cache_fields);
    }
    if (reader.json()[at].kind != JsonPositions::Kind::string) {
        return reader.unexpected(at, "the name of a cache profile, or an object");
    }
    std::vector<std::string_view> names;
    for (const CacheProfile& cache : cache_profiles()) names.push_back(cache.name);
    if (const auto found = reader.read_word(at, "cache profile", names)) profile.cache = cache_profiles()[*found];
}

void read_validity(ConfigReader& reader, NodeId at, ModelProfile& profile) {
    std::vector<std::string_view> names;
    for (const ValidityProfile* validity : validity_profiles()) names.push_back(validity->name);
    if (const auto found = reader.read_word(at, "validity profile", names))
        profile.validity = *validity_profiles()[*found];
}

void read_prices(ConfigReader& reader, NodeId at, ModelProfile& profile) {
    read_object<Prices>(reader, at, profile.prices.emplace(), prices_fields);
    if (reader.json()[at].kind != JsonPositions::Kind::object) return;
    for (const std::string_view key : {"input", "output"}) {
        if (reader.json().member(at, key) == JsonPositions::none) reader.missing(at, key, "a number, 0 or more");
    }
}

constexpr std::array<Field<ModelProfile>, 7> profile_fields{{
    {"name", "string", &shown<&ModelProfile::name>, "the model's name, for reports", &read_value<&ModelProfile::name>},
    {"context_window", "integer", &shown<&ModelProfile::context_window>, "tokens that the model takes; 0: unknown",
     &read_integer<&ModelProfile::context_window, 0>},
    {"output_reserve", "integer", &shown<&ModelProfile::output_reserve>, "tokens of the window kept free for the reply",
     &read_integer<&ModelProfile::output_reserve, 0>},
    {"validity", "string", +[](const ModelProfile& d) { return std::string(d.validity.name); },
     "message rules that every edit keeps to: `openai_chat`, `openai_compatible`, `anthropic`, `anthropic_thinking`, "
     "`gemini`",
     &read_validity},
    {"prices", "object", "none", "without prices there are no money figures", &read_prices},
    {"cache", "string or object", +[](const ModelProfile& d) { return d.cache.name; },
     "`anthropic_5m`, `anthropic_1h`, `openai`, `openai_2026`, `local`, `no_cache`, or numbers of your own",
     &read_cache},
    {"thinking_bound_to_prefix", "true or false", &shown<&ModelProfile::thinking_bound_to_prefix>,
     "thinking is void once something in front of it was edited; docs/message.md",
     &read_value<&ModelProfile::thinking_bound_to_prefix>},
}};

}  // namespace

void complete_prices(const JsonPositions& json, NodeId profile_at, ModelProfile& profile) {
    if (!profile.prices) return;
    const NodeId at = json.member(profile_at, "prices");
    const auto lacks = [&](std::string_view key) { return json.member(at, key) == JsonPositions::none; };
    if (lacks("cache_read")) profile.prices->cache_read = profile.prices->input * profile.cache.read;
    if (lacks("cache_write")) profile.prices->cache_write = profile.prices->input * profile.cache.write;
}

void read_profile(ConfigReader& reader, NodeId at, ModelProfile& profile) {
    read_object<ModelProfile>(reader, at, profile, profile_fields);
    complete_prices(reader.json(), at, profile);
}

void add_profile_keys(std::vector<ConfigKey>& keys) {
    add_keys<ModelProfile>(keys, "profile.", profile_fields);
    add_keys<Prices>(keys, "profile.prices.", prices_fields);
    add_keys<CacheProfile>(keys, "profile.cache.", cache_fields);
}

}  // namespace whittle::inline v0::detail
