#include "edits.hpp"

#include "arguments.hpp"
#include "characters.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";

/// Without a line number: digits, then an arrow, a tabulator, "->", ":" or " |".
std::string_view without_number(std::string_view line, bool and_blank) noexcept {
    const std::size_t digits = std::min(line.find_first_not_of(blanks), line.size());
    const std::size_t at = std::min(line.find_first_not_of("0123456789", digits), line.size());
    if (at == digits) return line;
    for (const std::string_view mark : {"\u2192", "\t", "->", ":", " |"}) {
        if (!line.substr(at).starts_with(mark)) continue;
        line.remove_prefix(at + mark.size());
        if (and_blank && !line.empty() && blanks.find(line.front()) != std::string_view::npos) line.remove_prefix(1);
        return line;
    }
    return line;
}

template <typename Change>
std::string joined_lines(std::string_view text, Change change) {
    std::string joined;
    bool is_first = true;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = change(text.substr(at, end - at));
        if (!std::exchange(is_first, false)) joined += '\n';
        joined.append(line.substr(0, line.find_last_not_of(blanks) + 1));
        at = end + 1;
    }
    return joined;
}

std::string copied(std::string_view text) {
    return joined_lines(text, [](std::string_view line) { return line; });
}

std::vector<std::string> ways_to_copy(std::string_view text) {
    std::vector<std::string> ways{copied(text)};
    for (const bool and_blank : {false, true})
        ways.push_back(joined_lines(text, [&](std::string_view line) { return without_number(line, and_blank); }));
    return ways;
}

/// What a hunk of a patch expects to find: its context and the lines that it takes out.
std::vector<std::string> hunks_of(std::string_view patch) {
    constexpr std::array<std::string_view, 5> borders{"@@", "*** ", "diff ", "--- ", "+++ "};
    std::vector<std::string> hunks;
    std::string hunk;
    bool is_first = true;
    bool takes_out = false;
    const auto close = [&] {
        if (takes_out) hunks.push_back(copied(hunk));
        hunk.clear();
        is_first = true;
        takes_out = false;
    };
    for (const std::string_view line : lines_of(patch)) {
        if (std::ranges::any_of(borders, [&](std::string_view border) { return line.starts_with(border); })) {
            close();
        } else if (line.starts_with(' ') || line.starts_with('-')) {
            takes_out = takes_out || line.front() == '-';
            if (!std::exchange(is_first, false)) hunk += '\n';
            hunk.append(line.substr(1));
        }
    }
    close();
    return hunks;
}

std::vector<std::string> old_texts_of(const ToolCall& call) {
    constexpr std::array<std::string_view, 5> replaced{"old_string", "oldString", "old_str", "oldText", "search"};
    std::vector<std::string> texts;
    for (const Argument& argument : read_arguments(call.arguments)) {
        if (argument.is_number) continue;
        if (std::ranges::find(replaced, argument.key) != replaced.end()) {
            texts.push_back(copied(argument.text));
        } else if (argument.text.find("*** Begin Patch") != std::string::npos) {
            for (std::string& hunk : hunks_of(argument.text)) texts.push_back(std::move(hunk));
        }
    }
    return texts;
}

}  // namespace

CopiedText::CopiedText(std::string_view text) : forms_(ways_to_copy(text)) {}

bool CopiedText::holds(std::string_view old_text) const {
    const auto has = [&](std::string_view text) {
        return std::ranges::any_of(forms_,
                                   [&](const std::string& form) { return form.find(text) != std::string::npos; });
    };
    return has(old_text) || has(json_escaped(old_text));
}

std::vector<std::string> copied_texts(const Message& message) {
    std::vector<std::string> texts = ways_to_copy(message.content);
    for (const ToolCall& call : message.calls) {
        for (const Argument& argument : read_arguments(call.arguments)) {
            if (!argument.is_number) texts.push_back(copied(argument.text));
        }
    }
    return texts;
}

std::vector<std::vector<EditProbe>> find_edits(const SessionInput& input, const std::vector<std::size_t>& calls,
                                               const std::vector<std::size_t>& turns) {
    constexpr std::size_t shortest = 30;
    std::vector<std::vector<EditProbe>> edits(calls.size());
    std::vector<std::vector<std::string>> shown;  // by message, once an edit asks
    const auto stands_in = [](const std::string& text) {
        return [&text](const std::string& whole) { return whole.find(text) != std::string::npos; };
    };
    for (std::size_t call = 0; call < calls.size(); ++call) {
        for (const ToolCall& edit : input.messages[calls[call]].calls) {
            for (std::string& old : old_texts_of(edit)) {
                if (old.size() < shortest) continue;
                while (shown.size() < calls[call]) shown.push_back(copied_texts(input.messages[shown.size()]));
                EditProbe probe{.old_text = std::move(old)};
                for (std::size_t i = 0; i < calls[call]; ++i) {
                    if (std::ranges::any_of(shown[i], stands_in(probe.old_text)))
                        probe.messages.push_back(static_cast<std::uint32_t>(i));
                }
                if (probe.messages.empty()) continue;
                const std::size_t last = probe.messages.back();
                const bool is_reply = input.messages[last].role == Role::assistant;
                probe.age = turns[calls[call]] - 1 - turns[last] + (is_reply ? 1 : 0);
                edits[call].push_back(std::move(probe));
            }
        }
    }
    return edits;
}

}  // namespace whittle::inline v0::evaluation
