#include "config_json_reader.hpp"

#include "whittle/chain/config.hpp"
#include "whittle/message/validity.hpp"

#include <array>
#include <initializer_list>

namespace whittle::inline v0::detail {

namespace {

struct PricesDraft : Prices {
    bool has_cache_read = false;
    bool has_cache_write = false;
};

struct ProfileDraft : ModelProfile {
    std::optional<PricesDraft> prices_draft{};
};

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

void read_cache_read(ConfigReader& reader, NodeId at, PricesDraft& prices) {
    read_real<&Prices::cache_read>(reader, at, prices);
    prices.has_cache_read = true;
}

void read_cache_write(ConfigReader& reader, NodeId at, PricesDraft& prices) {
    read_real<&Prices::cache_write>(reader, at, prices);
    prices.has_cache_write = true;
}

constexpr std::array<Field<PricesDraft>, 4> prices_fields{{
    {"input", "number", "required", "money per million input tokens", &read_real<&Prices::input>},
    {"cache_read", "number", "input x cache.read", "the same for tokens read from the cache", &read_cache_read},
    {"cache_write", "number", "input x cache.write", "the same for tokens written to it", &read_cache_write},
    {"output", "number", "required", "the same for output tokens", &read_real<&Prices::output>},
}};

void read_cache(ConfigReader& reader, NodeId at, ProfileDraft& profile) {
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

void read_validity(ConfigReader& reader, NodeId at, ProfileDraft& profile) {
    std::vector<std::string_view> names;
    for (const ValidityProfile* validity : validity_profiles()) names.push_back(validity->name);
    if (const auto found = reader.read_word(at, "validity profile", names))
        profile.validity = *validity_profiles()[*found];
}

void read_prices(ConfigReader& reader, NodeId at, ProfileDraft& profile) {
    read_object<PricesDraft>(reader, at, profile.prices_draft.emplace(), prices_fields);
    if (reader.json()[at].kind != JsonPositions::Kind::object) return;
    for (const std::string_view key : {"input", "output"}) {
        if (reader.json().member(at, key) == JsonPositions::none) reader.missing(at, key, "a number, 0 or more");
    }
}

constexpr std::array<Field<ProfileDraft>, 7> profile_fields{{
    {"name", "string", &shown<&ModelProfile::name>, "the model's name, for reports", &read_value<&ModelProfile::name>},
    {"context_window", "integer", &shown<&ModelProfile::context_window>, "tokens that the model takes; 0: unknown",
     &read_integer<&ModelProfile::context_window, 0>},
    {"output_reserve", "integer", &shown<&ModelProfile::output_reserve>, "tokens of the window kept free for the reply",
     &read_integer<&ModelProfile::output_reserve, 0>},
    {"validity", "string", +[](const ProfileDraft& d) { return std::string(d.validity.name); },
     "message rules that every edit keeps to: `openai_chat`, `openai_compatible`, `anthropic`, `anthropic_thinking`, "
     "`gemini`",
     &read_validity},
    {"prices", "object", "none", "without prices there are no money figures", &read_prices},
    {"cache", "string or object", +[](const ProfileDraft& d) { return d.cache.name; },
     "`anthropic_5m`, `openai`, `openai_2026`, `local`, `no_cache`, or numbers of your own", &read_cache},
    {"thinking_bound_to_prefix", "true or false", &shown<&ModelProfile::thinking_bound_to_prefix>,
     "thinking is void once something in front of it was edited; docs/thinking.md",
     &read_value<&ModelProfile::thinking_bound_to_prefix>},
}};

/// Prices that are not given follow from the cache profile.
Prices complete(const PricesDraft& draft, const CacheProfile& cache) {
    Prices prices = draft;
    if (!draft.has_cache_read) prices.cache_read = prices.input * cache.read;
    if (!draft.has_cache_write) prices.cache_write = prices.input * cache.write;
    return prices;
}

}  // namespace

void read_profile(ConfigReader& reader, NodeId at, ModelProfile& profile) {
    ProfileDraft draft;
    read_object<ProfileDraft>(reader, at, draft, profile_fields);
    if (draft.prices_draft) draft.prices = complete(*draft.prices_draft, draft.cache);
    profile = draft;
}

void add_profile_keys(std::vector<ConfigKey>& keys) {
    add_keys<ProfileDraft>(keys, "profile.", profile_fields);
    add_keys<PricesDraft>(keys, "profile.prices.", prices_fields);
    add_keys<CacheProfile>(keys, "profile.cache.", cache_fields);
}

}  // namespace whittle::inline v0::detail
