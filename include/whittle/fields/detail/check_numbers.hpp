#pragma once

#include "whittle/base/detail/field_check.hpp"
#include "whittle/fields/config_field.hpp"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

namespace whittle::inline v0::detail {

/// Reports the whole numbers below what their fields say is the lowest, and those that have to be fractions and are
/// none. What is absent is good.
template <typename Config>
void check_numbers(const Config& config, const ConfigFields<Config>& fields, FieldCheck& check) {
    for (const ConfigField<Config>& field : fields) {
        const auto check_one = [&](const auto& member) {
            using Member = std::decay_t<decltype(member)>;
            if constexpr (std::is_same_v<Member, int Config::*> || std::is_same_v<Member, std::int64_t Config::*>) {
                check.at_least(config.*member, field.lowest, field.name);
            } else if constexpr (std::is_same_v<Member, std::optional<int> Config::*>) {
                check.at_least((config.*member).value_or(field.lowest), field.lowest, field.name);
            } else if constexpr (std::is_same_v<Member, double Config::*>) {
                if (field.highest == 1) check.fraction(config.*member, field.name);
            }
        };
        std::visit(check_one, field.member);
    }
}

}  // namespace whittle::inline v0::detail
