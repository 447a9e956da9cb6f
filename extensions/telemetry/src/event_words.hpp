// Words of events as they are sent.
#pragma once

#include "whittle/base/event.hpp"

#include <string_view>

namespace whittle::inline v0::telemetry::detail {

/// `Event::kind` of a read-back; its source is the tool.
inline constexpr std::string_view read_back_kind = "read_back";

[[nodiscard]] constexpr std::string_view to_string(Event::Level level) noexcept {
    switch (level) {
        case Event::Level::debug: return "debug";
        case Event::Level::info: return "info";
        case Event::Level::warning: return "warning";
        case Event::Level::error: return "error";
    }
    return "error";
}

}  // namespace whittle::inline v0::telemetry::detail
