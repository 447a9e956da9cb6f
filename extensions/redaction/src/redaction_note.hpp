#pragma once

#include "redaction_rules.hpp"
#include "whittle/redaction/redacted_storage.hpp"

#include <string>

namespace whittle::inline v0::redaction {

// The note at the end of an object that was masked: always 160 bytes, of which the last line can be read.

inline constexpr std::int64_t note_bytes = 160;

[[nodiscard]] std::string note_of(const Places& places);

}  // namespace whittle::inline v0::redaction
