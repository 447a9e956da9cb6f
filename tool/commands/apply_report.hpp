#pragma once

#include "whittle/conversation/report.hpp"

#include <span>
#include <string>
#include <vector>

namespace whittle::cli {

/// What a run of `apply` came to, for a person or as JSON. `messages`: the serials of the input, in order; messages are
/// named by their index there.
[[nodiscard]] std::string apply_report_text(const Report& report, std::span<const Serial> messages, bool dry_run,
                                            bool json);

/// A line for each middleware that failed, or that a store refused something; the last one says why the run counts as
/// failed. `store`: the one of all, if there is one.
[[nodiscard]] std::vector<std::string> failures_of(const Report& report, const std::string& store);
/// A line for each that came to its end in spite of what failed, such as a summary written without its model.
[[nodiscard]] std::vector<std::string> warnings_of(const Report& report);

}  // namespace whittle::cli
