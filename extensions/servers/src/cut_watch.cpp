#include "whittle/servers/cut_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

/// Requests below this are never judged: a template may change so much.
constexpr std::int64_t least_judged = 512;

std::int64_t input_of(const Usage& usage) noexcept { return usage.input + usage.cache_read + usage.cache_write; }

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
    return sent.beside == before.beside && !before.messages.empty() && sent.messages.size() > before.messages.size() &&
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

void add_beside(SentRequest& sent, std::string_view system, std::span<const ToolSpec> tools) {
    sent.beside = hash128(system);
    for (const ToolSpec& tool : tools) sent.beside = hash128(to_compact_json(tool), sent.beside);
    sent.plain += without_runs(system) / 4;  // a template may leave tools out
}

std::optional<SilentCut> CutJudge::judge(SentRequest sent, const Usage& usage) {
    const std::int64_t billed = input_of(usage);
    const std::lock_guard lock(mutex_);
    const bool has_grown = begins_with(sent, before_) && least_before_ >= least_judged;
    const std::int64_t grown = has_grown ? least_before_ - before_.uncertain + surely(sent.plain - before_.plain) : 0;
    const std::int64_t least = std::max(surely(sent.plain), grown);
    const bool is_cut = billed > 0 && billed < least && (has_grown || least >= least_judged);
    before_ = std::move(sent);
    least_before_ = is_cut ? least : billed;  // what a cut request was billed is no yardstick
    if (!is_cut) return std::nullopt;
    return SilentCut{.sent = least, .billed = billed};
}

void tell_cut(const EventSink& events, const SilentCut& cut) noexcept {
    emit(events, {.level = Event::Level::warning,
                  .source = "cut_watch",
                  .kind = "silent_cut",
                  .text = "the server left out the oldest messages of a request and said nothing",
                  .tokens_before = cut.sent,
                  .tokens_after = cut.billed});
}

ModelError cut_error(const SilentCut& cut, std::int64_t window) {
    const Overflow overflow{.limit = window > 0 ? window : cut.billed, .used = cut.sent};
    return ModelError(overflow, fmt::format("call the model: the server cut the request in silence: of at least {} "
                                            "tokens it read {}",
                                            cut.sent, cut.billed));
}

}  // namespace whittle::inline v0::detail
