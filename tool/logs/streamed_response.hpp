#pragma once

#include "logs.hpp"
#include "records.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string_view>

namespace whittle::inline v0::logs {

/// Whether a response's body may be a stream of server-sent events (WHATWG HTML).
[[nodiscard]] bool is_event_stream(std::string_view body) noexcept;

/// The response that the events of a stream make, as it would have been without streaming: of OpenAI's chat and
/// responses interfaces and of Anthropic's messages. null for any other stream, and for one that ended before its reply
/// did, or has more values than `values` has left. What was mended in it is noted for `line`.
[[nodiscard]] nlohmann::ordered_json response_of_stream(std::string_view body, std::size_t line,
                                                        const LogOptions& options, LogNotes& notes,
                                                        ValueBudget& values);

}  // namespace whittle::inline v0::logs
