#pragma once

#include "redaction_rules.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::redaction {

/// Whether `text` is a JSON object or array, with nothing but white space around it.
[[nodiscard]] bool is_json(std::string_view text);

/// Appends `json`, which is JSON, to `out` with its strings masked, and notes what it finds.
void mask_json(const CompiledRedactionRules& rules, std::string_view json, std::string& out, Found& found);

}  // namespace whittle::inline v0::redaction
