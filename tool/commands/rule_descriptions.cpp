#include "rule_descriptions.hpp"

#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::cli {
namespace {

using RuleDescription = std::pair<std::string_view, std::string_view>;

/// Sorted by rule.
constexpr std::array rule_descriptions{
    RuleDescription{"added", "written by the chain"},
    RuleDescription{"clear", "a placeholder stands for an old tool result"},
    RuleDescription{"cleared", "something short stands in its place"},
    RuleDescription{"cleared_already", "a placeholder stands there already"},
    RuleDescription{"current_turn", "of the newest turns, which stay"},
    RuleDescription{"cut", "shortened"},
    RuleDescription{"does_not_pay_yet",
                    "could go, but the provider would have to read again what stands behind it: that costs "
                    "more than it has saved so far"},
    RuleDescription{"edit_result", "of an edit's result only the first line and errors are left"},
    RuleDescription{"excluded_tool", "the configuration leaves results of this tool alone"},
    RuleDescription{"failed", "could not be taken out"},
    RuleDescription{"failed_call", "the result of a call that failed, which stays"},
    RuleDescription{"fold", "went into a summary"},
    RuleDescription{"folded", "a summary stands for it"},
    RuleDescription{"kept", "as it was recorded"},
    RuleDescription{"kept_thinking", "thinking of the newest replies, which stays"},
    RuleDescription{"level", "stands in front of a summary that stays"},
    RuleDescription{"long_result", "a long result, of which head and tail are left"},
    RuleDescription{"loop_head", "the first step of the tool loop, which the provider wants to see"},
    RuleDescription{"media", "something short stands for an image, a sound or a document"},
    RuleDescription{"newest", "of the newest results, which stay"},
    RuleDescription{"newest_user", "the newest message of the user"},
    RuleDescription{"no_gain", "would not become shorter"},
    RuleDescription{"old_arguments", "texts of an old call that an edit has replaced, or that nothing came back to"},
    RuleDescription{"old_lines", "lines of an old result that nothing came back to"},
    RuleDescription{"old_media", "an old image, sound or document"},
    RuleDescription{"old_output", "of an old output one line is left"},
    RuleDescription{"old_passages", "of an old result only passages are left that something came back to"},
    RuleDescription{"old_result", "an old result; one placeholder stands for all of it"},
    RuleDescription{"old_round", "of older tool rounds than those that stay"},
    RuleDescription{"old_thinking", "thinking of an old reply"},
    RuleDescription{"open_round", "of the tool round that is not answered yet"},
    RuleDescription{"other_middleware", "another middleware has changed it already"},
    RuleDescription{"output", "of an old output an extract is left"},
    RuleDescription{"over_limits", "the request had more images or bytes than the provider takes"},
    RuleDescription{"pinned", "pinned: it stays"},
    RuleDescription{"plain_summary", "a summary by rule, without a model, stands for older messages"},
    RuleDescription{"prefix", "of the first messages, which stay"},
    RuleDescription{"protected_tool", "results of this tool are protected"},
    RuleDescription{"prune", "a placeholder stands for an old result"},
    RuleDescription{"pruned_already", "a placeholder stands there already"},
    RuleDescription{"recent", "of the newest messages, which stay"},
    RuleDescription{"recent_result", "of the newest results, which stay"},
    RuleDescription{"released", "the model said that it needs it no more"},
    RuleDescription{"removed", "went, and nothing stands for it"},
    RuleDescription{"retained_round", "of the newest tool rounds, which stay"},
    RuleDescription{"shorten", "less of the text is left"},
    RuleDescription{"shortened_already", "it is short already"},
    RuleDescription{"shown_lines", "lines that stand elsewhere in the request"},
    RuleDescription{"skip_boundary", "of the newest turns, which stay"},
    RuleDescription{"skip_clear", "the settings of this tool skip clearing"},
    RuleDescription{"store_refused", "the store did not take the original, so it stays"},
    RuleDescription{"summary", "a summary stands for older messages"},
    RuleDescription{"system", "a system message"},
    RuleDescription{"target_reached", "enough was free before its turn came"},
    RuleDescription{"too_small", "too little would be freed"},
    RuleDescription{"trim", "old text is left out, with a mark that says how to get it back"},
    RuleDescription{"truncate", "a result was shortened when it came"},
    RuleDescription{"vetoed", "the host said no"},
};

static_assert(std::ranges::is_sorted(rule_descriptions));

}  // namespace

std::string_view meaning_of_rule(std::string_view rule) noexcept {
    const auto found = std::ranges::lower_bound(rule_descriptions, rule, {}, &RuleDescription::first);
    return found != rule_descriptions.end() && found->first == rule ? found->second : std::string_view{};
}

std::string rules_text(const std::set<std::string>& rules, std::size_t columns) {
    std::string text;
    for (const std::string& rule : rules) {
        const std::string_view meaning = meaning_of_rule(rule);
        if (!meaning.empty()) text += indented(fmt::format("{}: {}", rule, meaning), 2, 6, columns);
    }
    return text;
}

std::string indented(std::string_view text, std::size_t first, std::size_t rest, std::size_t columns) {
    constexpr std::size_t fewest = 16;  // of text in a line, however deep it stands
    const std::string lines = wrapped(text, std::max(fewest, columns - std::min(columns, rest)));
    std::string out;
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin);
        out += std::string(begin == 0 ? first : rest, ' ') + lines.substr(begin, end - begin + 1);
        begin = end + 1;
    }
    return out;
}

}  // namespace whittle::cli
