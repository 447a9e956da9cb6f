#include "whittle/digest/accept.hpp"

#include "whittle/base/text.hpp"
#include "whittle/digest/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t longest_excuse = 600;  // bytes: a refusal or an error text is short

constexpr std::array<std::string_view, 12> refusal_openings{
    "i'm sorry, but i can", "i am sorry, but i can", "i'm sorry, i can", "sorry, but i can",
    "i cannot assist",      "i can't assist",        "i cannot help",    "i can't help",
    "i'm unable to",        "i am unable to",        "抱歉，我",         "对不起，我"};

constexpr std::array<std::string_view, 12> error_openings{"error:",
                                                          "{\"error\"",
                                                          "{ \"error\"",
                                                          "[error",
                                                          "internal server error",
                                                          "bad gateway",
                                                          "service unavailable",
                                                          "rate limit exceeded",
                                                          "too many requests",
                                                          "429 too many",
                                                          "upstream error",
                                                          "<!doctype html"};

bool begins_with_any(std::string_view text, std::span<const std::string_view> openings) {
    const std::string start = ascii_lower(text.substr(0, 40));
    return std::ranges::any_of(openings, [&](std::string_view opening) { return start.starts_with(opening); });
}

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

DigestError refused(Refusal refusal, std::string why) {
    return {.failure = DigestFailure::refused, .refusal = refusal, .message = "accept summary: " + std::move(why)};
}

std::optional<DigestError> judge_raw(const ReplyView& reply, const Acceptance& rules) {
    if (reply.has_tool_call || reply.finish == FinishReason::tool_calls)
        return refused(Refusal::tool_call, "the model called a tool");
    if (reply.finish == FinishReason::refusal) return refused(Refusal::refusal, "the model refused");
    if (reply.finish == FinishReason::length)
        return refused(Refusal::cut_off, "the reply was cut off at its length limit");
    if (reply.finish == FinishReason::paused) return refused(Refusal::cut_off, "the model paused before the end");
    if (static_cast<std::int64_t>(reply.text.size()) > rules.max_reply_bytes) {
        return refused(Refusal::too_long,
                       fmt::format("the reply has {} bytes, allowed are {}", reply.text.size(), rules.max_reply_bytes));
    }
    return std::nullopt;
}

std::optional<DigestError> judge_size(std::string_view summary, const Acceptance& rules) {
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

std::optional<DigestError> judge_text(std::string_view reply, std::string_view summary, const Acceptance& rules) {
    if (is_blank(summary)) return refused(Refusal::empty, "there is no text in the reply");
    if (repeats_prompt(reply, rules)) return refused(Refusal::echo, "the reply repeats the instructions");
    if (summary.size() <= longest_excuse) {
        if (begins_with_any(summary, refusal_openings)) return refused(Refusal::refusal, "the reply is a refusal");
        if (begins_with_any(summary, error_openings)) return refused(Refusal::error_text, "the reply is an error text");
    }
    return judge_size(summary, rules);
}

}  // namespace

std::optional<std::string> accept_reply(const ReplyView& reply, const Acceptance& rules, DigestError& error) {
    if (auto bad = judge_raw(reply, rules)) {
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
