#include "whittle/chain/middleware_type.hpp"
#include "whittle/pruning/config.hpp"
#include "whittle/pruning/detail/pruning_fields.hpp"

namespace whittle::inline v0 {

namespace detail {

ConfigFields<PruningConfig> pruning_fields() {
    using C = PruningConfig;
    return {
        {"protected_tools", &C::protected_tools, "tools whose results are never pruned, beside those of the chain"},
        {"skip_boundary_turns", &C::skip_boundary_turns, "user turns at the end that stay; 0: the open round only"},
        {"protect_current_turn_only", &C::protect_current_turn_only,
         "with fewer turns than that: the newest one stays, instead of all"},
        {"prune_failed_results", &C::prune_failed_results, "prune results of failed calls too"},
        {"protect_newest_tokens", &C::protect_newest_tokens,
         "tokens of the newest prunable results before the boundary that stay"},
        {"minimum_gain_tokens", &C::minimum_gain_tokens, "prune nothing unless this much gets free"},
        {.name = "placeholder",
         .member = &C::placeholder,
         .meaning = "stands where a result was; empty: says what was pruned and where it is",
         .documented_default = "built in"},
        {"partial", &C::partial, "keep head and tail of a text around the placeholder"},
        {"head_bytes", &C::head_bytes, "bytes kept of the start, with `partial`"},
        {"tail_bytes", &C::tail_bytes, "bytes kept of the end, with `partial`"},
        {"fit_image_and_byte_limits", &C::fit_image_and_byte_limits,
         "keep requests within a provider's limits of images and bytes"},
        {"head_lines", &C::head_lines, "first lines kept, of at most `head_bytes`; 0: all of these"},
        {"tail_lines", &C::tail_lines, "last lines kept, of at most `tail_bytes`; 0: all of these"},
    };
}

}  // namespace detail

MiddlewareType<PruningConfig> pruning_type() {
    ConfigFields<PruningConfig> fields = detail::pruning_fields();
    fields.insert(fields.begin(), own_storage_field(&PruningConfig::storage));
    return {.type = "pruning",
            .fields = std::move(fields),
            .check = [](const PruningConfig& config, const ChainInfo&, std::string_view, Problems& problems) {
                check_pruning(config, "", problems);
            }};
}

}  // namespace whittle::inline v0
