#pragma once

#include "entries.hpp"

namespace whittle::inline v0::logs {

/// What of a message that SWE-agent recorded is sent.
[[nodiscard]] ordered_json swe_message_as_sent(const ordered_json& recorded);

/// Makes requests what `steps` of a trajectory say that was sent: history processors leave out older results, which the
/// history has whole. Where a request is not what was sent before and what came since, a compaction begins, whose
/// messages are taken out of `steps`. A reply whose step asked no model, such as one about a limit, is no call.
void take_sent_requests(ordered_json& steps, Entries& entries, LogNotes& notes);

}  // namespace whittle::inline v0::logs
