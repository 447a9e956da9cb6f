#pragma once

#include "whittle/base/detail/function_ref.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// One server-sent event. The views are valid only during the call.
struct SseEvent {
    std::string_view event{};          ///< its type; empty if it named none (the standard's "message")
    std::string_view data{};           ///< the data lines joined by '\n'; bytes as sent, not checked to be UTF-8
    std::string_view last_event_id{};  ///< the last id the stream named, with this event or before; empty if none
};

/// What a stream may have at most. More is an error.
struct SseLimits {
    std::size_t max_line_bytes = 16'777'216;   ///< 16 MiB
    std::size_t max_event_bytes = 33'554'432;  ///< of all data lines of an event together (32 MiB)

    friend bool operator==(const SseLimits&, const SseLimits&) = default;
};

/// Reads `text/event-stream` (WHATWG HTML, "Server-sent events") piece by piece: any split of the bytes gives the same
/// events. CR, LF and CRLF end a line; comments, unknown fields and `retry` are passed over; a byte order mark at the
/// start is dropped. One stream per parser.
class SseParser {
public:
    /// Gets each event; the views in it are valid during the call.
    using Sink = FunctionRef<void(const SseEvent&)>;

    /// For one stream; `limits` hold for all of it.
    explicit SseParser(SseLimits limits = {}) : limits_(limits) {}

    /// Calls `sink` for each event that these bytes complete. Throws `ModelError` of class bad_request above a limit;
    /// what `sink` throws gets out. After either the parser is of no more use.
    void feed(std::string_view bytes, Sink sink);

    /// The stream has ended. An event without its empty line is dropped, as the standard says; false if there was one.
    bool ends_cleanly() noexcept;

private:
    void take_line(std::string_view line, Sink sink);
    void take_field(std::string_view name, std::string_view value);
    void dispatch(Sink sink);
    std::string_view without_mark(std::string_view bytes);
    void keep(std::string_view part);

    SseLimits limits_;
    std::string line_{};  // of a line that is not complete
    std::string event_{};
    std::string data_{};
    std::string id_{};
    std::size_t mark_bytes_ = 0;  // of the byte order mark seen so far; 3 once past the start
    bool has_data_ = false;
    bool after_cr_ = false;
};

}  // namespace whittle::inline v0
