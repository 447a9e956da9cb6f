#include "whittle/servers/silent_truncation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

/// Requests below this are never checked: a template may change so much.
constexpr std::int64_t min_checked_tokens = 512;

std::int64_t input_of(const Usage& usage) noexcept {
    return usage.uncached_input + usage.cache_read + usage.cache_write;
}

/// Vocabularies have long runs of one character as one token, those of rules that tables are drawn with too.
std::int64_t without_runs(std::string_view text) noexcept {
    std::int64_t bytes = 0;
    std::string_view before;
    while (!text.empty()) {
        std::size_t size = 1;
        while (size < std::min<std::size_t>(text.size(), 4) &&
               (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U)
            ++size;
        const std::string_view character = text.substr(0, size);
        bytes += character == before ? 0 : static_cast<std::int64_t>(size);
        before = character;
        text.remove_prefix(size);
    }
    return bytes;
}

/// Four bytes a token is the rule of thumb; no text of an agent comes to twice as many.
std::int64_t surely(std::int64_t plain) noexcept { return plain / 2; }

bool begins_with(const SentRequest& sent, const SentRequest& before) {
    return sent.overhead == before.overhead && !before.messages.empty() &&
           sent.messages.size() > before.messages.size() &&
           std::ranges::equal(before.messages, std::span(sent.messages).first(before.messages.size()));
}

/// Bytes at the front of a text that a template may leave out later: thinking that a server left in the reply.
std::size_t thought_in(const PartView& part) noexcept {
    constexpr std::string_view end = "</think>";
    if (part.kind == PartKind::thinking) return part.text.size();
    const std::size_t at = part.kind == PartKind::text ? part.text.rfind(end) : std::string_view::npos;
    return at == std::string_view::npos ? 0 : at + end.size();
}

}  // namespace

void add_part(SentRequest& sent, Hash128& message, std::int64_t& bytes, const PartView& part) {
    message = hash128(part.tool, hash128(part.text, message));
    if (part.kind == PartKind::media) return;
    const std::size_t thought = thought_in(part);
    sent.uncertain += static_cast<std::int64_t>(thought);  // a token for each byte at most
    bytes += without_runs(part.text.substr(thought));
}

void add_message(SentRequest& sent, Hash128 message, std::int64_t bytes) {
    sent.messages.push_back(message);
    sent.plain += bytes / 4;
}

void add_overhead(SentRequest& sent, std::string_view system, std::span<const ToolSpec> tools) {
    sent.overhead = hash128(system);
    for (const ToolSpec& tool : tools) sent.overhead = hash128(to_compact_json(tool), sent.overhead);
    sent.plain += without_runs(system) / 4;  // a template may leave tools out
}

std::optional<SilentTruncation> TruncationDetector::detect(SentRequest sent, const Usage& usage) {
    const std::int64_t billed = input_of(usage);
    const std::lock_guard lock(mutex_);
    const bool has_grown = begins_with(sent, before_) && least_before_ >= min_checked_tokens;
    const std::int64_t grown = has_grown ? least_before_ - before_.uncertain + surely(sent.plain - before_.plain) : 0;
    const std::int64_t least = std::max(surely(sent.plain), grown);
    const bool is_truncated = billed > 0 && billed < least && (has_grown || least >= min_checked_tokens);
    before_ = std::move(sent);
    least_before_ = is_truncated ? least : billed;  // the bill of a truncated request is no baseline
    if (!is_truncated) return std::nullopt;
    return SilentTruncation{.sent_tokens_at_least = least, .billed_input_tokens = billed};
}

void report_truncation(const EventSink& events, const SilentTruncation& truncation) noexcept {
    emit(events, {.level = Event::Level::warning,
                  .source = "truncation_check",
                  .kind = "silent_truncation",
                  .text = "the server dropped the oldest messages of a request without an error",
                  .tokens_before = truncation.sent_tokens_at_least,
                  .tokens_after = truncation.billed_input_tokens});
}

ModelError truncation_error(const SilentTruncation& truncation, std::int64_t window) {
    const Overflow overflow{.context_limit_tokens = window > 0 ? window : truncation.billed_input_tokens,
                            .requested_tokens = truncation.sent_tokens_at_least};
    return ModelError(overflow, fmt::format("call the model: the server silently truncated the request: of at least {} "
                                            "tokens it read {}",
                                            truncation.sent_tokens_at_least, truncation.billed_input_tokens));
}

}  // namespace whittle::inline v0::detail
