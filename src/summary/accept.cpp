#include "whittle/summary/detail/accept.hpp"
#include "reply_form.hpp"

#include "whittle/base/text.hpp"
#include "whittle/summary/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t max_reply_bytes = 1'000'000;  // a longer reply is refused unread

template <typename Visit>
void for_each_long_line(std::string_view text, Visit&& visit) {
    constexpr std::size_t long_enough = 24;
    while (!text.empty()) {
        const std::size_t feed = std::min(text.find('\n'), text.size() - 1);
        const std::string_view line = text.substr(0, feed + 1);
        const std::size_t begin = line.find_first_not_of(" \t\r\n");
        if (begin != std::string_view::npos) {
            const std::string_view trimmed = line.substr(begin, line.find_last_not_of(" \t\r\n") - begin + 1);
            if (trimmed.size() >= long_enough) visit(trimmed);
        }
        text.remove_prefix(feed + 1);
    }
}

/// The bytes of each long line of a reply, all its occurrences together.
using LineBytes = std::unordered_map<std::string_view, std::size_t>;

LineBytes long_lines(std::string_view reply) {
    LineBytes bytes;
    for_each_long_line(reply, [&](std::string_view line) { bytes[line] += line.size(); });
    return bytes;
}

/// If half of the lines of `text` stand in the reply, how many bytes of it they are; else 0.
std::size_t repeated_bytes(const LineBytes& reply, std::string_view text) {
    std::unordered_set<std::string_view> lines;
    for_each_long_line(text, [&](std::string_view line) { lines.insert(line); });
    std::size_t repeated = 0;
    std::size_t bytes = 0;
    for (const std::string_view line : lines) {
        const auto found = reply.find(line);
        if (found == reply.end()) continue;
        ++repeated;
        bytes += found->second;
    }
    return repeated * 2 >= lines.size() ? bytes : 0;
}

/// A summary may begin with its task, above all with a task of one line, and go on with what was asked for.
bool repeats_prompt(std::string_view reply, const Acceptance& rules) {
    const LineBytes lines = long_lines(reply);
    const auto is_instruction = [&](std::string_view text) {
        return !text.empty() && (reply == text || repeated_bytes(lines, text) * 2 >= reply.size());
    };
    const auto holds_frame = [&](std::string_view text) { return repeated_bytes(lines, text) > 0; };
    return std::ranges::any_of(rules.instructions, is_instruction) || std::ranges::any_of(rules.frames, holds_frame);
}

SummaryError refused(Refusal refusal, std::string why) {
    return {.failure = SummaryFailure::refused, .refusal = refusal, .message = "accept summary: " + std::move(why)};
}

std::optional<SummaryError> judge_raw(const ReplyView& reply) {
    if (reply.role != Role::assistant)
        return refused(Refusal::wrong_role, fmt::format("the reply is a {} message", to_string(reply.role)));
    if (reply.has_tool_call || reply.finish == FinishReason::tool_calls)
        return refused(Refusal::tool_call, "the model called a tool");
    if (reply.finish == FinishReason::refusal) return refused(Refusal::refusal, "the model refused");
    if (reply.finish == FinishReason::length)
        return refused(Refusal::cut_off, "the reply was cut off at its length limit");
    if (reply.finish == FinishReason::paused) return refused(Refusal::cut_off, "the model paused before the end");
    if (reply.text.size() > max_reply_bytes) {
        return refused(Refusal::too_long,
                       fmt::format("the reply has {} bytes, allowed are {}", reply.text.size(), max_reply_bytes));
    }
    return std::nullopt;
}

std::optional<SummaryError> judge_size(std::string_view summary, const Acceptance& rules) {
    const std::int64_t tokens = rules.counter.count(summary);
    if (rules.max_summary_tokens > 0 && tokens > rules.max_summary_tokens) {
        return refused(Refusal::too_long,
                       fmt::format("the summary has {} tokens, allowed are {}", tokens, rules.max_summary_tokens));
    }
    if (rules.below_tokens > 0 && tokens >= rules.below_tokens) {
        return refused(Refusal::not_smaller,
                       fmt::format("the summary has {} tokens, what it replaces has {}", tokens, rules.below_tokens));
    }
    return std::nullopt;
}

SummaryError refuse_manner(Refusal manner) {
    switch (manner) {
        case Refusal::error_text: return refused(manner, "the reply is an error text");
        case Refusal::refusal: return refused(manner, "the reply is a refusal");
        case Refusal::greeting: return refused(manner, "the reply is a greeting, a question or an assent");
        default: return refused(manner, "the reply says too little of what it replaces");
    }
}

/// Whether a text shares enough words with the conversation: two, and more the more others it has, and the longer the
/// conversation is. Nothing: that has too few words to tell.
std::optional<bool> says_enough(const ShownNames::SharedWords& words, std::size_t names) {
    constexpr std::size_t few_words = 28;
    if (words.shown < few_words) return std::nullopt;
    const std::size_t others = words.said - words.shared;
    return 4 * (words.shared + names) >= 8 + others + std::min<std::size_t>(words.shown, 500) / 50;
}

bool names_enough(const ShownNames::Said& said) noexcept { return said.known_paths > 0 || said.telling >= 2; }

/// A short text that names nothing has to share words with what it replaces. Where that has too few words to tell, it
/// must not read like a refusal, a greeting or an error.
std::optional<SummaryError> judge_short(std::string_view summary, const ShownNames::Said& said,
                                        const Acceptance& rules) {
    constexpr std::size_t short_summary = 600;  // bytes
    if (summary.size() > short_summary || names_enough(said)) return std::nullopt;
    const ShownNames::SharedWords words = rules.shown->words_shared_by(summary, rules.frames);
    const std::optional<bool> enough = rules.is_answer ? std::nullopt : says_enough(words, said.telling);
    if (enough.value_or(words.shared >= 2)) return std::nullopt;
    const std::optional<Refusal> manner = detail::manner_of(summary);
    if (!manner && !enough) return std::nullopt;
    return refuse_manner(manner.value_or(Refusal::unrelated));
}

/// A summary names something of what it replaces, and little that stands nowhere in it.
std::optional<SummaryError> judge_names(const ShownNames::Said& said, std::size_t shown) {
    constexpr std::size_t many_shown = 50;
    constexpr std::size_t many_invented = 8;
    if (shown >= many_shown && said.known == 0) {
        return refused(Refusal::unrelated,
                       fmt::format("the summary names nothing of the {} names in what it replaces", shown));
    }
    if (said.invented >= many_invented && said.invented * 3 > said.names) {
        return refused(Refusal::invented,
                       fmt::format("of the {} names in the summary, {} stand nowhere in what it replaces", said.names,
                                   said.invented));
    }
    return std::nullopt;
}

std::optional<SummaryError> judge_text(std::string_view reply, std::string_view summary, const Acceptance& rules) {
    if (is_blank(summary)) return refused(Refusal::empty, "there is no text in the reply");
    if (repeats_prompt(reply, rules)) return refused(Refusal::echo, "the reply repeats the instructions");
    if (detail::is_empty_reply(summary)) return refused(Refusal::empty, "the reply says nothing");
    const ShownNames::Said said = rules.shown != nullptr ? rules.shown->said_in(summary) : ShownNames::Said{};
    if (detail::is_page(summary) || (detail::is_error_json(summary) && said.known_paths < 2) ||
        (detail::opens_with_error(summary) && !names_enough(said)))
        return refuse_manner(Refusal::error_text);
    if (detail::is_bare_heading(summary))
        return refused(Refusal::cut_off, "the reply ends where the summary should begin");
    if (rules.shown != nullptr) {
        if (auto bad = judge_short(summary, said, rules)) return bad;
        if (auto bad = judge_names(said, rules.shown->size())) return bad;
    }
    return judge_size(summary, rules);
}

}  // namespace

std::optional<std::string> accept_reply(const ReplyView& reply, const Acceptance& rules, SummaryError& error) {
    if (auto bad = judge_raw(reply)) {
        error = *std::move(bad);
        return std::nullopt;
    }
    std::string summary = clean_reply(reply.text);
    if (auto bad = judge_text(reply.text, summary, rules)) {
        error = *std::move(bad);
        return std::nullopt;
    }
    return summary;
}

}  // namespace whittle::inline v0
