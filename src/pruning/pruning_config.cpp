#include "whittle/pruning/config.hpp"

#include "whittle/base/text.hpp"
#include "whittle/fields/detail/check_numbers.hpp"
#include "whittle/pruning/detail/pruning_fields.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

PruningConfig budget_pruning() {
    PruningConfig config;
    config.protect_newest_tokens = 40'000;
    config.minimum_gain_tokens = 20'000;
    return config;
}

namespace {

bool may_stand_for_a_text(const std::string& placeholder) {
    return placeholder.empty() || (is_valid_utf8(placeholder) && !is_blank(placeholder));
}

}  // namespace

void check_pruning(const PruningConfig& config, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check.tool_names(config.protected_tools, "protected_tools");
    detail::check_numbers(config, detail::pruning_fields(), check);
    check.error(config.partial && config.head_bytes == 0 && config.tail_bytes == 0, "partial",
                "true with head_bytes 0 and tail_bytes 0", "one of them above 0");
    check.error(!may_stand_for_a_text(config.placeholder), "placeholder",
                is_blank(config.placeholder) ? "blank" : "not UTF-8",
                "UTF-8 text that is more than white space, or nothing for the built-in one");
    check.warn(config.protect_current_turn_only && config.skip_boundary_turns < 2, "protect_current_turn_only",
               fmt::format("true with skip_boundary_turns {}", config.skip_boundary_turns),
               "skip_boundary_turns 2 or more, else it changes nothing");
}

}  // namespace whittle::inline v0
