#pragma once

#include "whittle/base/text.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/part.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Counts or estimates tokens. A text has a size in *units* (bytes, millionths of a token, tokens: the counter's own);
/// units of the parts of a message are added and turned into tokens once per message. Thread-safe, deterministic.
class TokenCounter {
public:
    virtual ~TokenCounter() = default;

    /// Names the counter and its parameters: conversations keep one column of counts per id.
    [[nodiscard]] virtual std::string_view id() const noexcept = 0;

    /// Size of `text` in units, at least 0. O(size).
    [[nodiscard]] virtual std::int64_t measure_units(std::string_view text) const = 0;

    /// Tokens of a message whose texts have `units`.
    [[nodiscard]] virtual std::int64_t to_tokens(std::int64_t units) const noexcept { return units; }

    /// Tokens of an image, sound or document.
    [[nodiscard]] virtual std::int64_t media_tokens(const MediaView&) const { return 2'000; }

    /// Tokens of a text that stands alone.
    [[nodiscard]] std::int64_t count(std::string_view text) const { return to_tokens(measure_units(text)); }
};

/// How `chars_counter` counts.
struct CharsOptions {
    double chars_per_token = 4.0;           ///< UTF-8 bytes per token, 0.001 to 1000000. Kept to a thousandth
    bool round_up = false;                  ///< round up instead of down, per message
    std::int64_t tokens_per_image = 2'000;  ///< tokens of each media part
};

/// UTF-8 bytes divided by a constant: the rule of thumb of the field (4.0, rounded down, 2,000 per media part).
[[nodiscard]] std::shared_ptr<const TokenCounter> chars_counter(const CharsOptions& options = {});

/// 3 bytes per token, rounded up per message, 1,000 per image: errs on the high side for English and code.
[[nodiscard]] std::shared_ptr<const TokenCounter> pessimistic_counter();

/// Looks at the script of the text: words, numbers, punctuation and white space of code, base64 and hex runs, and CJK,
/// Cyrillic, Arabic and other letters have weights of their own. Linear, no vocabulary needed. docs/tokens.md has its
/// errors.
[[nodiscard]] std::shared_ptr<const TokenCounter> estimate_counter();

/// A user's function over one text, for example an exact tokenizer. Negative results count as 0.
[[nodiscard]] std::shared_ptr<const TokenCounter> counter_from(std::string id,
                                                               std::function<std::int64_t(std::string_view)> count);

/// `inner`, with a call of `check_cancelled` before each text: what `check_cancelled` throws ends the counting of a
/// long history, also in the midst of a message. Throws Error(invalid_argument) if one of them is missing.
[[nodiscard]] std::shared_ptr<const TokenCounter> cancellable_counter(std::shared_ptr<const TokenCounter> inner,
                                                                      std::function<void()> check_cancelled);

namespace detail {

/// Adds what a part counts: units of its texts, tokens of its media.
inline void add_measure(const PartView& part, const TokenCounter& counter, std::int64_t& units, std::int64_t& media) {
    units = add_saturating(units, counter.measure_units(part.text));
    if (part.kind == PartKind::tool_call) units = add_saturating(units, counter.measure_units(part.tool));
    if (part.kind == PartKind::media) media = add_saturating(media, counter.media_tokens(part.media));
}

}  // namespace detail

/// Tokens of one message: text, thinking, tool names and arguments, and media. Ids and roles count 0.
template <AgentMessage M>
[[nodiscard]] std::int64_t count_message(const M& m, const TokenCounter& counter) {
    std::int64_t units = 0;
    std::int64_t media = 0;
    message_traits<M>::for_each_part(m,
                                     [&](const PartView& part) { detail::add_measure(part, counter, units, media); });
    return add_saturating(counter.to_tokens(units), media);
}

/// Tokens of what stands beside the messages: system text, and tools as compact JSON.
[[nodiscard]] std::int64_t count_overhead(std::string_view system, std::span<const ToolSpec> tools,
                                          const TokenCounter& counter);

/// A tool as it is counted: `{"name":...,"description":...,"parameters":...}` without white space between tokens.
[[nodiscard]] std::string to_compact_json(const ToolSpec& tool);

}  // namespace whittle::inline v0
