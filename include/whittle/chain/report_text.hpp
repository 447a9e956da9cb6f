#pragma once

#include "whittle/chain/report.hpp"

#include <functional>
#include <string>

namespace whittle::inline v0 {

/// `to_text(report)` with the host's own names for messages: a report knows only their serials.
[[nodiscard]] std::string to_text(const Report& report, const std::function<std::string(Serial)>& name_message);

}  // namespace whittle::inline v0
