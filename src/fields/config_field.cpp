#include "whittle/base/error.hpp"
#include "whittle/fields/detail/bound_field.hpp"

#include <fmt/format.h>

namespace whittle::inline v0::detail {

void fail_no_member(std::string_view key) {
    throw Error(Errc::invalid_argument, fmt::format("register key \"{}\": it names no member", key));
}

}  // namespace whittle::inline v0::detail
