#pragma once

#include "whittle/base/event.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// Text of the exception in flight; empty if even that cannot be had.
[[nodiscard]] std::string current_error_text() noexcept;
/// Tells of something that failed and was passed over.
void tell_failure(const EventSink& events, std::string_view source, std::string_view conversation,
                  std::string_view text) noexcept;

}  // namespace whittle::inline v0::detail
