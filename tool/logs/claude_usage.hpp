#pragma once

#include "entries.hpp"

namespace whittle::inline v0::logs {

/// Whether anything of what was sent is in it, from the cache or not.
[[nodiscard]] bool has_input(const Usage& usage) noexcept;

/// Takes what a record of this reply says was billed. The record with the reply's end tells: gateways correct there
/// what they said at its start. Without one, or where that says nothing of the input, the largest record does, with the
/// largest output. What was sent is never a mix of several records, since that was billed to nobody.
void take_usage(Entry& reply, const Usage& recorded, bool is_end);

/// Sets `unrecorded_output` of a reply whose end is in no record and whose text has more than was billed.
void estimate_output(Entry& reply);

}  // namespace whittle::inline v0::logs
