#pragma once

#include "session_report.hpp"

#include <string>

namespace whittle::cli {

/// A session's requests, call by call: their tokens with everything sent, and under the chain. An SVG document.
[[nodiscard]] std::string session_chart(const SessionReport& session_report);

}  // namespace whittle::cli
