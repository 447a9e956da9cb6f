#include "rule_words.hpp"

#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::cli {
namespace {

using RuleWords = std::pair<std::string_view, std::string_view>;

/// Sorted by rule.
constexpr std::array rule_words{
    RuleWords{"added", "written by the chain"},
    RuleWords{"clear", "a placeholder stands for an old tool result"},
    RuleWords{"cleared", "something short stands in its place"},
    RuleWords{"cleared_already", "a placeholder stands there already"},
    RuleWords{"current_turn", "of the newest turns, which stay"},
    RuleWords{"cut", "shortened"},
    RuleWords{"does_not_pay_yet",
              "could go, but the provider would have to read again what stands behind it: that costs "
              "more than it has saved so far"},
    RuleWords{"edit_result", "of an edit's result only the first line and errors are left"},
    RuleWords{"excluded_tool", "the configuration leaves results of this tool alone"},
    RuleWords{"failed", "could not be taken out"},
    RuleWords{"failed_call", "the result of a call that failed, which stays"},
    RuleWords{"fold", "went into a summary"},
    RuleWords{"folded", "a summary stands for it"},
    RuleWords{"kept", "as it was recorded"},
    RuleWords{"kept_thinking", "thinking of the newest replies, which stays"},
    RuleWords{"level", "stands in front of a summary that stays"},
    RuleWords{"long_result", "a long result, of which head and tail are left"},
    RuleWords{"loop_head", "the first step of the tool loop, which the provider wants to see"},
    RuleWords{"media", "something short stands for an image, a sound or a document"},
    RuleWords{"newest", "of the newest results, which stay"},
    RuleWords{"newest_user", "the newest message of the user"},
    RuleWords{"no_gain", "would not become shorter"},
    RuleWords{"old_arguments", "texts of an old call that an edit has replaced, or that nothing came back to"},
    RuleWords{"old_lines", "lines of an old result that nothing came back to"},
    RuleWords{"old_media", "an old image, sound or document"},
    RuleWords{"old_output", "of an old output one line is left"},
    RuleWords{"old_passages", "of an old result only passages are left that something came back to"},
    RuleWords{"old_result", "an old result; one placeholder stands for all of it"},
    RuleWords{"old_round", "of older tool rounds than those that stay"},
    RuleWords{"old_thinking", "thinking of an old reply"},
    RuleWords{"open_round", "of the tool round that is not answered yet"},
    RuleWords{"other_middleware", "another middleware has changed it already"},
    RuleWords{"output", "of an old output an extract is left"},
    RuleWords{"over_limits", "the request had more images or bytes than the provider takes"},
    RuleWords{"pinned", "pinned: it stays"},
    RuleWords{"plain_summary", "a summary by rule, without a model, stands for older messages"},
    RuleWords{"prefix", "of the first messages, which stay"},
    RuleWords{"protected_tool", "results of this tool are protected"},
    RuleWords{"prune", "a placeholder stands for an old result"},
    RuleWords{"pruned_already", "a placeholder stands there already"},
    RuleWords{"recent", "of the newest messages, which stay"},
    RuleWords{"recent_result", "of the newest results, which stay"},
    RuleWords{"released", "the model said that it needs it no more"},
    RuleWords{"removed", "went, and nothing stands for it"},
    RuleWords{"retained_round", "of the newest tool rounds, which stay"},
    RuleWords{"shorten", "less of the text is left"},
    RuleWords{"shortened_already", "it is short already"},
    RuleWords{"shown_lines", "lines that stand elsewhere in the request"},
    RuleWords{"skip_boundary", "of the newest turns, which stay"},
    RuleWords{"skip_clear", "the settings of this tool skip clearing"},
    RuleWords{"store_refused", "the store did not take the original, so it stays"},
    RuleWords{"summary", "a summary stands for older messages"},
    RuleWords{"system", "a system message"},
    RuleWords{"target_reached", "enough was free before its turn came"},
    RuleWords{"too_small", "too little would be freed"},
    RuleWords{"trim", "old text is left out, with a mark that says how to get it back"},
    RuleWords{"truncate", "a result was shortened when it came"},
    RuleWords{"vetoed", "the host said no"},
};

static_assert(std::ranges::is_sorted(rule_words));

}  // namespace

std::string_view meaning_of_rule(std::string_view rule) noexcept {
    const auto found = std::ranges::lower_bound(rule_words, rule, {}, &RuleWords::first);
    return found != rule_words.end() && found->first == rule ? found->second : std::string_view{};
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
