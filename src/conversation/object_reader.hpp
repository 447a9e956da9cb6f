#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::detail {

/// A stretch of an object, on character boundaries.
struct Page {
    std::string text{};
    std::int64_t begin = 0;  ///< byte offsets in the object
    std::int64_t end = 0;
};

/// At most `max_bytes` (4 or more) that hold the byte at `offset`, or start after the end. Throws like `Storage::get`,
/// and Error(not_found) if the object is gone.
[[nodiscard]] Page read_page(const StoredObject& object, std::int64_t offset, std::int64_t max_bytes);

/// Length of the object. Throws like `read_page`.
[[nodiscard]] std::int64_t size_of(const StoredObject& object);

/// A line, or a piece of one that is longer than a chunk.
struct LinePiece {
    std::string_view text{};  ///< without the line feed
    std::int64_t number = 0;  ///< of the line, from 1
    std::int64_t offset = 0;  ///< of the piece in the object
    bool is_start = false;    ///< of the line
    bool is_end = false;
    bool has_feed = false;  ///< a line feed follows
};

/// Goes through an object line by line, with ranged reads. Memory: about a chunk, however long the lines are.
class LineReader {
public:
    LineReader(StoredObject object, StopToken stop, std::int64_t chunk_bytes = std::int64_t{1} << 20)
        : object_(std::move(object)), stop_(std::move(stop)), chunk_bytes_(chunk_bytes) {}

    /// Nullopt at the end. The view is valid until the next call. Throws like `read_page`, and Error(cancelled) once a
    /// stop is requested.
    [[nodiscard]] std::optional<LinePiece> next();

private:
    void refill();
    [[nodiscard]] LinePiece take(std::size_t length, bool has_feed, bool is_end);

    StoredObject object_;
    StopToken stop_;
    std::int64_t chunk_bytes_;
    std::string buffer_{};
    std::size_t at_ = 0;        // start of what is not given out yet
    std::size_t searched_ = 0;  // no line feed in [at_, searched_)
    std::int64_t offset_ = 0;   // of the buffer's end in the object
    std::int64_t number_ = 1;
    bool is_start_ = true;
    bool is_last_chunk_ = false;
};

struct Lines {
    Page page{};
    std::int64_t first = 0;  ///< numbers of the first and last line shown
    std::int64_t last = 0;   ///< 0: the object has fewer lines than `first`
    std::int64_t seen = 0;   ///< number of the last line that was read
    bool is_cut = false;     ///< the last line goes on
};

/// Lines from number `first` on, at most `count` and `max_bytes`.
[[nodiscard]] Lines read_lines(LineReader& reader, std::int64_t first, std::int64_t count, std::int64_t max_bytes);

struct GrepLimits {
    std::int64_t max_bytes = 0;
    std::int64_t max_matches = 0;
    std::int64_t line_bytes = 0;
    std::int64_t context = 0;  ///< lines shown before and after each match
};

struct Matches {
    std::string text{};  ///< "12: line" per match, "11- line" per line of context
    std::int64_t count = 0;
    std::int64_t lines = 0;                  ///< looked at
    std::optional<std::int64_t> go_on_at{};  ///< number of the line at which a limit was met
};

/// The lines from number `first` on that contain `text`, which has no line feed.
[[nodiscard]] Matches grep_lines(LineReader& reader, std::string_view text, std::int64_t first,
                                 const GrepLimits& limits);

}  // namespace whittle::inline v0::detail
