#pragma once

#include "config_rows.hpp"

#include <string>
#include <vector>

namespace whittle::inline v0::detail {

/// A key of the whole configuration that is no field of the chain.
struct TopKey {
    std::string name{};
    std::string type{};
    std::string fallback{};
    std::string meaning{};
    std::vector<std::string> words{};
};

/// The schema of configurations whose top has `fields` and `others`, as text.
[[nodiscard]] std::string whole_schema(const BoundFields& fields, const std::vector<TopKey>& others,
                                       const ConfigRows& rows);

}  // namespace whittle::inline v0::detail
