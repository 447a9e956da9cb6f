// Any bytes as an event stream, cut where the bytes say: the events are those of the stream in one piece.
#include "whittle/model/model.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr whittle::SseLimits limits{.max_line_bytes = 64, .max_event_bytes = 128};

/// What came of a stream: its events, each field with its length, and how it ended.
class Reading {
public:
    void feed(std::string_view bytes) {
        if (has_failed_) return;
        try {
            parser_.feed(bytes, [this](const whittle::SseEvent& event) {
                if (event.data.size() > limits.max_event_bytes) __builtin_trap();
                add(event.event);
                add(event.data);
                add(event.last_event_id);
            });
        } catch (const whittle::ModelError&) {
            has_failed_ = true;
        }
    }

    std::string finish() {
        const bool is_clean = parser_.ends_cleanly();
        return events_ + (has_failed_ ? "failed" : is_clean ? "clean" : "half");
    }

private:
    void add(std::string_view field) { events_.append(std::to_string(field.size())).append(1, ':').append(field); }

    whittle::SseParser parser_{limits};
    std::string events_{};
    bool has_failed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view stream(reinterpret_cast<const char*>(data), size);
    Reading whole;
    whole.feed(stream);
    const std::string expected = whole.finish();

    Reading bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.feed(stream.substr(i, 1));
    if (bytes.finish() != expected) __builtin_trap();

    Reading pieces;
    for (std::size_t at = 0, i = 0; at < size; ++i) {
        const std::size_t length = std::min<std::size_t>(data[i % size] % 7, size - at);
        pieces.feed(stream.substr(at, length + (length == 0 ? 1 : 0)));
        at += std::max<std::size_t>(length, 1);
    }
    if (pieces.finish() != expected) __builtin_trap();
    return 0;
}
