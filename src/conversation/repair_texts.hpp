#pragma once

#include "whittle/base/language.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

/// What repair writes into a history: constant, so that a second run finds the same.
struct RepairTexts {
    std::string_view missing_result;
    std::string_view bad_arguments;
    std::string_view missing_user;
    std::string_view go_on;
    std::string_view media;
};

[[nodiscard]] const RepairTexts& repair_texts(Language language) noexcept;

}  // namespace whittle::inline v0::detail
