#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// What the JSON adapters need of text and bytes. Compiled, and free of JSON types.
namespace whittle::inline v0::detail {

/// RFC 4648, with padding.
[[nodiscard]] std::string base64_encode(std::string_view bytes);

/// "data:{mime};base64,{bytes}"; without a mime type, application/octet-stream.
[[nodiscard]] std::string to_data_url(std::string_view mime, std::string_view bytes);

/// The mime type of a data: URL; empty for any other URL. A view into `url`.
[[nodiscard]] std::string_view mime_of_data_url(std::string_view url) noexcept;

/// What follows ";base64," in a data: URL; nullopt for any other URL. A view into `url`.
[[nodiscard]] std::optional<std::string_view> base64_of_data_url(std::string_view url) noexcept;

/// Every byte as the code point of that number, in UTF-8: valid whatever `bytes` is.
[[nodiscard]] std::string bytes_to_code_points(std::string_view bytes);

/// The inverse; nullopt if `text` holds anything above U+00FF or is not UTF-8.
[[nodiscard]] std::optional<std::string> code_points_to_bytes(std::string_view text);

/// Offset of the first bracket that opens level `max_depth` + 1; the size if there is none.
[[nodiscard]] std::size_t offset_of_depth(std::string_view json, std::size_t max_depth) noexcept;

/// Whether every bracket that `json` opens is closed again: false for the first line of a pretty-printed document.
[[nodiscard]] bool is_closed_json(std::string_view json) noexcept;

/// At most 80 bytes of `text`, valid UTF-8, for an error text: control characters as in JSON, so that it makes up no
/// line; "..." where something was left out.
[[nodiscard]] std::string clip_for_error(std::string_view text);

/// `json` with U+FFFD in place of what no text can hold: escapes of half a surrogate pair, as cut previews and Python's
/// surrogateescape leave them, and bytes that are no UTF-8. nullopt: there is none. What is no JSON stays none.
[[nodiscard]] std::optional<std::string> repaired_json(std::string_view json);

/// How many values a file may hold, in its records or in texts of these: a value takes a hundred times the bytes that
/// it may be written with. Logs have one in 14 bytes or more.
class ValueBudget {
public:
    /// Whether `json`, which is the next part of the file, may be parsed.
    [[nodiscard]] bool take(std::string_view json) noexcept;
    /// Why it may not.
    static constexpr std::string_view reason = "more values than a file of this size may hold";

private:
    std::size_t values_ = 0;
    std::size_t bytes_ = 0;
};

enum class LineRead { line, end, too_long };

/// Reads one line without its line feed. More than `max_bytes` is not read further: a file without line ends cannot
/// use up the memory. What the stream's buffer throws gets out.
[[nodiscard]] LineRead read_line(std::istream& in, std::string& line, std::size_t max_bytes);

/// Appends the rest of the stream. False if `text` would be larger than `max_bytes`.
[[nodiscard]] bool read_rest(std::istream& in, std::string& text, std::size_t max_bytes);

/// Throws Error(not_found) with the system's reason; also for a directory.
[[nodiscard]] std::ifstream open_sessions(const std::filesystem::path& file);

/// Cuts an input into texts of one session each: a line, or all of it if its first line is no whole JSON value.
class SessionText {
public:
    /// `in` must outlive this. `name` starts error texts.
    SessionText(std::istream& in, std::string name, std::size_t max_bytes)
        : in_(&in), name_(std::move(name)), max_bytes_(max_bytes) {}

    /// Throws Error(parse_failed) for more than `max_bytes`, and for more values than `ValueBudget` has.
    [[nodiscard]] bool next();
    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] std::size_t line() const noexcept { return line_; }  ///< from 1, the first of the text

private:
    [[nodiscard]] bool next_line();
    void take_document();
    [[noreturn]] void fail_too_long() const;

    std::istream* in_;
    std::string name_;
    std::size_t max_bytes_;
    std::string text_{};
    ValueBudget values_{};
    std::size_t line_ = 0;
    std::size_t first_line_ = 0;  // that is not blank
};

}  // namespace whittle::inline v0::detail
