#pragma once

#include "whittle/base/detail/field_check.hpp"
#include "whittle/fields/config_field.hpp"

namespace whittle::inline v0::detail {

void check_numbers(const BoundFields& fields, FieldCheck& check);

/// Reports the whole numbers below what their fields say is the lowest, and those that have to be fractions and are
/// none. What is absent is good. `config` is a copy, since a key is bound to what it may write.
template <typename Config>
void check_numbers(Config config, const ConfigFields<Config>& fields, FieldCheck& check) {
    const FieldTable table = table_of(fields);
    check_numbers(table.bind(&config), check);
}

}  // namespace whittle::inline v0::detail
