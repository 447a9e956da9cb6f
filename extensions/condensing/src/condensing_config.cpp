#include "whittle/condensing/config.hpp"

#include "whittle/base/detail/field_check.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

void check_condensing(const CondensingConfig& config, std::string_view name, Problems& problems) {
    constexpr std::int64_t largest_held = 1LL << 30;
    FieldCheck check(name, problems);
    check.at_least(config.min_bytes, 0, "min_bytes");
    check.fraction(config.min_gain, "min_gain");
    check.error(config.max_buffered_bytes < 1 || config.max_buffered_bytes > largest_held, "max_buffered_bytes",
                std::to_string(config.max_buffered_bytes), fmt::format("1 to {}", largest_held));
    check.at_least(config.max_condensed_bytes, 400, "max_condensed_bytes");
    check.at_least(config.max_lossless_json_bytes, 0, "max_lossless_json_bytes");
    check.at_least(config.cut_above_rows, 1, "cut_above_rows");
    check.at_least(config.head_rows, 1, "head_rows");
    check.at_least(config.tail_rows, 0, "tail_rows");
    check.at_least(config.max_outliers, 0, "max_outliers");
    check.at_least(config.max_string_bytes, 16, "max_string_bytes");
    check.at_least(config.distil_min_bytes, 0, "distil_min_bytes");
    check.at_least(config.distil_max_input_bytes, 1'000, "distil_max_input_bytes");
    check.tool_names(config.exclude_tools, "exclude_tools");
    const std::int64_t kept = add_saturating(add_saturating(config.head_rows, config.tail_rows), config.max_outliers);
    check.error(config.cut_above_rows >= 1 && kept > config.cut_above_rows, "cut_above_rows",
                std::to_string(config.cut_above_rows),
                fmt::format("{} (head_rows, tail_rows and max_outliers) or more", kept));
    check.warn(config.max_lossless_json_bytes > config.max_condensed_bytes, "max_lossless_json_bytes",
               std::to_string(config.max_lossless_json_bytes),
               fmt::format(
                   "at most max_condensed_bytes ({}), else a form without loss is cut in its middle instead of by rows",
                   config.max_condensed_bytes));
    check.warn(
        config.min_bytes > config.max_buffered_bytes, "min_bytes", std::to_string(config.min_bytes),
        fmt::format("at most max_buffered_bytes ({}), else nothing is ever condensed", config.max_buffered_bytes));
}

}  // namespace whittle::inline v0
