#include "whittle/chain/detail/chain_fields.hpp"

#include "whittle/base/language.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

template <typename Profile>
std::vector<std::string> names_of(const std::vector<Profile>& profiles) {
    std::vector<std::string> names;
    for (const Profile& profile : profiles) {
        if constexpr (std::is_pointer_v<Profile>) {
            names.emplace_back(profile->name);
        } else {
            names.emplace_back(profile.name);
        }
    }
    return names;
}

std::string listed(const std::vector<std::string>& words) { return fmt::format("`{}`", fmt::join(words, "`, `")); }

ConfigFields<CacheProfile> cache_fields() {
    using C = CacheProfile;
    return {
        {"read", &C::read, "price of a token read from the cache, relative to the input price"},
        {"write", &C::write, "price of a token that is not read from it"},
        {"ttl_seconds", &C::ttl_seconds, "lifetime since the last use; 0: nothing is cached"},
        {"min_prefix_tokens", &C::min_prefix_tokens, "tokens that a cached prefix has at least"},
        {"prefix_step_tokens", &C::prefix_step_tokens, "a cached prefix is a multiple of this many tokens", 1},
    };
}

ConfigFields<PricesPerMillion> price_fields() {
    using C = PricesPerMillion;
    return {
        {.name = "input", .member = &C::input, .meaning = "money per million input tokens", .required = true},
        {.name = "cache_read",
         .member = &C::cache_read,
         .meaning = "money per million tokens read from the cache",
         .documented_default = "input x cache.read"},
        {.name = "cache_write",
         .member = &C::cache_write,
         .meaning = "money per million tokens written to the cache",
         .documented_default = "input x cache.write"},
        {.name = "output", .member = &C::output, .meaning = "money per million output tokens", .required = true},
    };
}

WordOrObjectMember<ModelProfile> cache_member(const std::vector<CacheProfile>& caches) {
    const auto name_of_cache = [](const CacheProfile& cache) { return cache.name; };
    WordMember<ModelProfile> word{
        [caches, name_of_cache](const ModelProfile& profile) {
            return static_cast<std::size_t>(std::ranges::find(caches, profile.cache.name, name_of_cache) -
                                            caches.begin());
        },
        [caches](ModelProfile& profile, std::size_t chosen) { profile.cache = caches[chosen]; }};
    ObjectMember<ModelProfile> numbers = object_member(&ModelProfile::cache, cache_fields(), GivenObject::replaces);
    const auto bind = [numbers](ModelProfile& profile) {
        BoundObject object = MemberBinding::value_of(profile, numbers);
        object.open = [&profile, open = object.open] {
            BoundFields fields = open();
            profile.cache.name = "custom";
            return fields;
        };
        return object;
    };
    return {std::move(word), MemberBinding::make<ObjectMember<ModelProfile>>(bind)};
}

WordMember<ModelProfile> validity_member(const std::vector<const ValidityProfile*>& rules) {
    return {[rules](const ModelProfile& profile) {
                const auto is_it = [&](const ValidityProfile* known) { return known->name == profile.validity.name; };
                return static_cast<std::size_t>(std::ranges::find_if(rules, is_it) - rules.begin());
            },
            [rules](ModelProfile& profile, std::size_t chosen) { profile.validity = *rules[chosen]; }};
}

ConfigFields<ModelProfile> profile_fields(const std::vector<CacheProfile>& caches,
                                          const std::vector<const ValidityProfile*>& rules) {
    using C = ModelProfile;
    return {
        {"name", &C::name, "the model's name, for reports"},
        {"context_window", &C::context_window, "tokens that the model takes; 0: unknown"},
        {"output_reserve", &C::output_reserve, "tokens of the window kept free for the reply"},
        {.name = "validity",
         .member = validity_member(rules),
         .meaning = "message rules that every edit keeps to: " + listed(names_of(rules)),
         .words = names_of(rules)},
        {"prices", object_member(&C::prices, price_fields()), "without prices there are no money figures"},
        {.name = "cache",
         .member = cache_member(caches),
         .meaning = "how the provider caches prompts, by name or numbers of your own: " + listed(names_of(caches)),
         .words = names_of(caches)},
        {"thinking_bound_to_prefix", &C::thinking_bound_to_prefix,
         "thinking is void once something in front of it was edited; docs/message.md"},
    };
}

ConfigFields<HookLimits> limit_fields() {
    using C = HookLimits;
    return {
        {"model_calls", &C::model_calls, "model calls in one hook"},
        {"store_bytes", &C::store_bytes, "bytes stored in one hook; 0: no limit"},
        {"deadline_ms", &C::deadline, "milliseconds that one hook may take", 1},
    };
}

WordMember<ChainConfig> language_member() {
    constexpr std::size_t none = 2;
    return {[](const ChainConfig& config) {
                return config.language ? std::size_t{*config.language == Language::english ? 0U : 1U} : none;
            },
            [](ChainConfig& config, std::size_t word) {
                config.language = word == 0 ? Language::english : Language::chinese;
            }};
}

}  // namespace

ConfigFields<ChainConfig> chain_fields(const std::vector<CacheProfile>& caches,
                                       const std::vector<const ValidityProfile*>& rules) {
    using C = ChainConfig;
    return {
        {"profile", object_member(&C::profile, profile_fields(caches, rules)), "the agent's model"},
        {.name = "tokens",
         .member = &C::token_counter,
         .meaning = "how tokens are counted, for every trigger",
         .documented_default = "{}"},
        {.name = "language",
         .member = language_member(),
         .meaning = "language of notices: `en` or `zh`",
         .words = {std::string(to_string(Language::english)), std::string(to_string(Language::chinese))},
         .documented_default = "the library's"},
        {.name = "storage",
         .member = &C::storage,
         .meaning = "takes what is cut out; without one the journal alone keeps it",
         .documented_default = "none"},
        {.name = "on_error",
         .member = word_member(&C::on_error, {OnError::skip, OnError::propagate}),
         .meaning = "a failing middleware: `skip` it and report, or `propagate` the error",
         .words = {"skip", "propagate"}},
        {"dry_run", &C::dry_run, "plan and report, write nothing"},
        {"explain", &C::explain, "reports list every candidate with its rule"},
        {"verify", &C::verify, "check every edit for new violations of `profile.validity`"},
        {"repair", &C::repair, "mend what breaks `profile.validity` before each model call"},
        {.name = "thinking_on_prefix_edit",
         .member = word_member(&C::thinking_on_prefix_edit, {ThinkingOnPrefixEdit::mark, ThinkingOnPrefixEdit::drop}),
         .meaning = "with `profile.thinking_bound_to_prefix`: `mark` the request, or `drop` thinking that an edit made "
                    "void",
         .words = {"mark", "drop"}},
        {"limits", object_member(&C::limits, limit_fields()), "bounds of one hook"},
        {"protected_tools", &C::protected_tools, "tools whose results always stay"},
    };
}

}  // namespace whittle::inline v0::detail
