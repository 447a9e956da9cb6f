#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Who speaks. `system` also stands for a provider's "developer".
enum class Role : std::uint8_t { system, user, assistant, tool };

/// What a part of a message is.
enum class PartKind : std::uint8_t {
    text,
    thinking,
    tool_call,    ///< `text` is the raw JSON of the arguments
    tool_result,  ///< one text block of a result; a result without text is one empty part
    media,        ///< an image, sound or document; inside a tool result it carries that call's id
    other,        ///< opaque to the library, never touched
};

/// "system", "user", ...; "text", "thinking", ...
[[nodiscard]] std::string_view to_string(Role role) noexcept;
[[nodiscard]] std::string_view to_string(PartKind kind) noexcept;

/// Media as a message holds it: either its bytes or where it is (a data: URL counts as a URL).
struct MediaView {
    std::string_view mime{};   ///< such as "image/png"; empty if unknown
    std::string_view bytes{};  ///< the content, not base64; empty: `url` says where it is
    std::string_view url{};    ///< where it is; empty: `bytes` has it
    int width = 0;             ///< pixels, 0 if unknown
    int height = 0;            ///< likewise
};

/// One part of a message, as the library sees it. Valid only during the call that passes it.
struct PartView {
    PartKind kind = PartKind::text;  ///< what the part is
    std::string_view text{};         ///< empty for media
    std::string_view call_id{};      ///< tool_call, tool_result, and media inside a result
    std::string_view tool{};         ///< tool_call; tool_result where the message names its tool
    MediaView media{};               ///< media: what it is
    bool is_error = false;           ///< tool_result
    bool starts_new_result = false;  ///< tool_result and media: a result of its own, whatever has the same id before it
};

/// As `MediaView`, owned.
struct Media {
    std::string mime{};   ///< such as "image/png"; empty if unknown
    std::string bytes{};  ///< the content, not base64; empty: `url` says where it is
    std::string url{};    ///< where it is; empty: `bytes` has it
    int width = 0;        ///< pixels, 0 if unknown
    int height = 0;       ///< likewise

    friend bool operator==(const Media&, const Media&) = default;
};

/// A part that owns its content.
struct Part {
    PartKind kind = PartKind::text;  ///< what the part is
    std::string text{};              ///< as `PartView::text`
    std::string call_id{};           ///< tool_call, tool_result, and media inside a result
    std::string tool{};              ///< tool_call; tool_result where the message names its tool
    Media media{};                   ///< media: what it is
    bool is_error = false;           ///< tool_result: the call failed

    friend bool operator==(const Part&, const Part&) = default;
};

/// A view of `part`, valid as long as it is unchanged.
[[nodiscard]] PartView view_of(const Part& part) noexcept;
/// A copy of what the view shows.
[[nodiscard]] Part to_part(const PartView& view);

/// What a tool call came back with: text and media parts in the tool's order. No parts is an empty result.
struct ToolResult {
    std::string call_id{};  ///< of the call that it answers
    std::string tool{};     ///< name of the tool; empty: not known
    /// Texts and media, in the tool's order.
    std::vector<Part> parts{};
    bool is_error = false;  ///< the call failed

    friend bool operator==(const ToolResult&, const ToolResult&) = default;
};

/// What a provider billed for one call, in tokens. The three input classes are disjoint.
struct Usage {
    std::int64_t uncached_input = 0;  ///< neither read from nor written to the prompt cache
    std::int64_t cache_read = 0;      ///< input read from the prompt cache
    std::int64_t cache_write = 0;     ///< input written to the prompt cache
    std::int64_t output = 0;          ///< reply, hidden reasoning included
    /// Of `cache_write`: what the provider said lives for 5 minutes, and for an hour, which cost differently. The rest
    /// is not told.
    std::int64_t cache_write_5m = 0;
    std::int64_t cache_write_1h = 0;  ///< of `cache_write`, likewise: for an hour

    /// All input classes and the output, held at the maximum.
    [[nodiscard]] std::int64_t total() const noexcept;
    /// The same with so many tokens of `cache_write` told to live that long; held within it, the hour first.
    [[nodiscard]] Usage with_lifetimes(std::int64_t five_minutes, std::int64_t hour) const noexcept;
    /// Field by field, held at the maximum.
    Usage& operator+=(const Usage& more) noexcept;

    friend bool operator==(const Usage&, const Usage&) = default;
};

/// A tool as the model sees it.
struct ToolSpec {
    std::string name{};                                               ///< as the model calls it
    std::string description{};                                        ///< what it does, for the model
    std::string parameters = R"({"type":"object","properties":{}})";  ///< JSON Schema as compact JSON

    friend bool operator==(const ToolSpec&, const ToolSpec&) = default;
};

}  // namespace whittle::inline v0
