#include "whittle/base/detail/field_check.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

std::string FieldCheck::written(double value) { return fmt::format("{}", value); }

}  // namespace whittle::inline v0
