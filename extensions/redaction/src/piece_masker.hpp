#pragma once

#include "line_context.hpp"
#include "redaction_rules.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::redaction {

/// Appends `piece`, a text without a line feed, to `out`, masked by all rules, of `private_key` what stands in one
/// line, and notes what it finds. `is_opaque`: it is what a provider or a program made, such as an id, a signature or a
/// certificate, so that `random` does not look at it. `context`: what is known in front of the piece; null: nothing.
void mask_piece(const CompiledRedactionRules& rules, std::string_view piece, bool is_opaque, std::string& out,
                Found& found, const LineContext* context = nullptr);

}  // namespace whittle::inline v0::redaction
