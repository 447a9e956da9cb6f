#include "whittle/chain/middleware_type.hpp"
#include "whittle/fields/detail/check_numbers.hpp"
#include "whittle/trimming/config.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

namespace {

ConfigFields<TrimmingConfig> trimming_fields() {
    using C = TrimmingConfig;
    return {
        own_storage_field(&C::storage),
        {.name = "unit",
         .member = word_member(&C::unit, {TrimUnit::passages, TrimUnit::lines}),
         .meaning = "what stays of an old text: whole `passages`, or single `lines`",
         .words = {"passages", "lines"}},
        {"start_tokens", &C::start_tokens,
         "cached text of requests of up to that size stays as it is; after a pause longer than the cache lives of up "
         "to "
         "10,000, if that is less"},
        {"keep_rounds", &C::keep_rounds, "newest model calls whose results stay as they came", 1},
        {"force_above_window_fraction", &C::force_above_window_fraction,
         "above this part of a known window what may go goes, whatever it costs; 0: off", 0, 1},
        {"trim_reads", &C::trim_reads, "trim the content of files"},
        {"trim_program_output", &C::trim_program_output, "trim what programs and searches print"},
        {"trim_arguments", &C::trim_arguments, "trim arguments of calls that worked"},
        {"drop_known_lines_on_arrival", &C::drop_known_lines_on_arrival,
         "by lines: drop from new results what the model has before it already"},
        {"min_result_bytes", &C::min_result_bytes, "results of fewer bytes stay"},
        {"min_argument_bytes", &C::min_argument_bytes, "arguments of fewer bytes stay"},
        {"exclude_tools", &C::exclude_tools,
         "tools whose results and arguments stay, beside `protected_tools` of the chain"},
    };
}

}  // namespace

void check_trimming(const TrimmingConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    detail::check_numbers(config, trimming_fields(), check);
    check.tool_names(config.exclude_tools, "exclude_tools");
    const std::int64_t window = chain.config.profile.context_window;
    check.warn(window > 0 && config.start_tokens >= window, "start_tokens", std::to_string(config.start_tokens),
               fmt::format("less than the window ({}), else nothing that is cached is ever trimmed", window));
}

MiddlewareType<TrimmingConfig> trimming_type() {
    return {.type = "trimming",
            .fields = trimming_fields(),
            .check = [](const TrimmingConfig& config, const ChainInfo& chain, std::string_view, Problems& problems) {
                check_trimming(config, chain, "", problems);
            }};
}

}  // namespace whittle::inline v0
