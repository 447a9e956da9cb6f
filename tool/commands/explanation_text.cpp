#include "explanation.hpp"

#include "rule_descriptions.hpp"
#include "shown.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace whittle::cli {
namespace {

constexpr std::size_t below_message = 6;  // columns in front of a line below a message's own

/// "12>7": where it was recorded, and where it is sent if that differs.
std::string place_text(const ExplainedMessage& message) {
    if (!message.recorded) return fmt::format("+{}", *message.sent);
    if (!message.sent || *message.sent == *message.recorded) return fmt::format("{}", *message.recorded);
    return fmt::format("{}>{}", *message.recorded, *message.sent);
}

std::string tokens_text(const ExplainedMessage& message) {
    if (message.state == MessageState::kept) return grouped(message.tokens_sent);
    if (message.state == MessageState::added) return "+" + grouped(message.tokens_sent);
    return fmt::format("{} -> {}", grouped(message.tokens_recorded), grouped(message.tokens_sent));
}

/// How places are written.
std::string heading_of_messages(const Explanation& explanation, std::size_t columns) {
    bool has_moved = false;
    bool has_added = false;
    for (const ExplainedMessage& message : explanation.messages) {
        has_moved = has_moved || (message.recorded && message.sent && *message.recorded != *message.sent);
        has_added = has_added || message.state == MessageState::added;
    }
    std::string text = "messages, by index in the recording";
    if (has_moved) text += " (12>7: sent as message 7)";
    if (has_added) text += " (+3: message 3 of the request)";
    return indented(text + ", with tokens as recorded -> as sent:", 0, 2, columns);
}

std::string edit_text(const ExplainedEdit& edit) {
    std::string text = fmt::format("by {} from call {} on: {}", edit.by, edit.call, edit.reason);
    if (!edit.rule.empty() && edit.rule != edit.reason) text += fmt::format(", rule {}", edit.rule);
    return text;
}

std::string original_text(const ExplainedMessage& message) {
    if (message.stored.empty()) return "original: in the journal of the conversation";
    constexpr std::size_t most = 3;
    const std::size_t shown_keys = std::min(most, message.stored.size());
    std::string text = fmt::format(
        "original in the store: {}",
        fmt::join(message.stored.begin(), message.stored.begin() + static_cast<std::ptrdiff_t>(shown_keys), ", "));
    if (message.stored.size() > most) text += fmt::format(" and {} more", message.stored.size() - most);
    return text;
}

/// A line of a text for a terminal: a tab is four blanks, and no end of a line of Windows is left.
std::string line_shown(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string out;
    for (const char c : line) c == '\t' ? out.append(4, ' ') : out.append(1, c);
    return shown(out);
}

/// The first lines of a text as lines, and how many there are more.
std::string text_lines(std::string_view text, std::size_t columns) {
    constexpr std::size_t most = 6;
    constexpr std::string_view title = "now: ";
    constexpr std::size_t rest = below_message + title.size();
    const std::size_t width = columns - std::min(columns - 1, rest);
    std::string out;
    std::size_t count = 0;
    for (std::size_t begin = 0; begin <= text.size(); ++count) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (count < most) {
            const std::string line = line_shown(text.substr(begin, end - begin));
            out += (count == 0 ? std::string(below_message, ' ') + std::string(title) : std::string(rest, ' ')) +
                   (count == 0 && text.find('\n') == std::string_view::npos && width_of(line) <= 3 * width
                        ? indented(line, 0, rest, columns)
                        : clipped_to_width(line, width) + "\n");
        }
        begin = end + 1;
    }
    if (count > most)
        out += std::string(rest, ' ') + fmt::format("... {} more line{}\n", count - most, count == most + 1 ? "" : "s");
    return out;
}

/// What stands below a message's own line.
std::string reasons_text(const ExplainedMessage& message, std::size_t columns) {
    std::string text;
    const auto add = [&](std::string_view line) {
        text += indented(shown(line), below_message, below_message + 2, columns);
    };
    for (const ExplainedEdit& edit : message.edits) add(edit_text(edit));
    for (const ExplainedKeep& keep : message.keeps) add(fmt::format("{} keeps it: {}", keep.by, keep.rule));
    if (message.state == MessageState::kept) return text;
    if (message.folded_into) add(fmt::format("into message {} of the request", *message.folded_into));
    if (message.sent && !message.text.empty()) text += text_lines(message.text, columns);
    if (message.state != MessageState::added || !message.stored.empty()) add(original_text(message));
    return text;
}

std::string figures_text(std::int64_t count, std::int64_t threshold) {
    return threshold > 0 ? fmt::format(" ({} tokens, limit {})", grouped(count), grouped(threshold)) : std::string();
}

std::string stages_text(const Explanation& explanation, std::size_t columns) {
    std::string text;
    for (const ExplainedStage& stage : explanation.stages) {
        std::string line = fmt::format("{} {}: {}{}", stage.hook, stage.middleware, stage.outcome_text,
                                       figures_text(stage.count, stage.threshold));
        if (!stage.error.empty()) line += ": " + stage.error;
        text += indented(shown(line), 0, 4, columns);
    }
    return text;
}

/// The messages of one commit, or of all that no limit was behind, such as results that were shortened when they came.
struct EditTime {
    std::int64_t first_call = 0;
    std::int64_t last_call = 0;
    std::int64_t messages = 0;
};

/// Each time the chain changed what is sent, with the tokens that made it due: once, not at every message.
std::string times_text(const Explanation& explanation, std::size_t columns) {
    using Key = std::tuple<std::int64_t, std::string, std::string, std::int64_t, std::int64_t>;
    std::map<Key, EditTime> times;
    for (const ExplainedMessage& message : explanation.messages) {
        for (const ExplainedEdit& edit : message.edits) {
            const bool is_due = edit.threshold > 0;
            const Key key{is_due ? edit.call : 0, edit.by, edit.reason, is_due ? edit.count : 0, edit.threshold};
            EditTime& time = times.try_emplace(key, EditTime{edit.call, edit.call, 0}).first->second;
            time.first_call = std::min(time.first_call, edit.call);
            time.last_call = std::max(time.last_call, edit.call);
            ++time.messages;
        }
    }
    std::string text = times.empty() ? "" : "\nedits, and the calls from which on they stand:\n";
    for (const auto& [key, time] : times) {
        const auto& [call, by, reason, count, threshold] = key;
        const std::string calls = time.first_call == time.last_call
                                      ? fmt::format("call {}", time.first_call)
                                      : fmt::format("calls {} to {}", time.first_call, time.last_call);
        text += indented(shown(fmt::format("{} by {}: {}, {}{}", calls, by, reason, numbered(time.messages, "message"),
                                           figures_text(count, threshold))),
                         2, 6, columns);
    }
    return text;
}

std::set<std::string> rules_in(const Explanation& explanation) {
    std::set<std::string> rules;
    for (const ExplainedMessage& message : explanation.messages) {
        rules.insert(std::string(to_string(message.state)));
        for (const ExplainedEdit& edit : message.edits) rules.insert({edit.reason, edit.rule});
        for (const ExplainedKeep& keep : message.keeps) rules.insert(keep.rule);
    }
    return rules;
}

std::string overhead_text(std::int64_t tokens) {
    return tokens == 0 ? "without system text and tools, which the recording lacks"
                       : fmt::format("{} of them system text and tools", grouped(tokens));
}

}  // namespace

std::string explanation_text(const Explanation& explanation, std::size_t columns) {
    std::string text = fmt::format("{}: call {} (the first is 0)\n", shown(explanation.trajectory), explanation.call);
    text += indented(fmt::format("{} tokens sent for {} recorded, {} (counted by {})", grouped(explanation.tokens_sent),
                                 grouped(explanation.tokens_recorded), overhead_text(explanation.overhead),
                                 shown(explanation.counter)),
                     0, 4, columns);
    text += stages_text(explanation, columns) + times_text(explanation, columns) + "\n";
    text += heading_of_messages(explanation, columns);
    for (const ExplainedMessage& message : explanation.messages) {
        const std::string who = message.tool.empty() ? message.role : fmt::format("{} {}", message.role, message.tool);
        text += clipped_to_width(shown(fmt::format("{:>5} {:<8} {}, {}", place_text(message), to_string(message.state),
                                                   who, tokens_text(message))),
                                 columns) +
                "\n" + reasons_text(message, columns);
    }
    const std::string rules = rules_text(rules_in(explanation), columns);
    return rules.empty() ? text : text + "\nwhat these words mean:\n" + rules;
}

}  // namespace whittle::cli
