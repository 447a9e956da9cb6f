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
    RuleDescription{"clear", "an old tool result, replaced by a placeholder"},
    RuleDescription{"cleared", "replaced by a short placeholder"},
    RuleDescription{"cleared_already", "already replaced by a placeholder"},
    RuleDescription{"current_turn", "in the newest turns, which are kept"},
    RuleDescription{"cut", "shortened"},
    RuleDescription{"does_not_pay_yet",
                    "could go, but the provider would have to read everything behind it again: that costs "
                    "more than it has saved so far"},
    RuleDescription{"edit_result", "an edit's result, cut to its first line and errors"},
    RuleDescription{"excluded_tool", "the configuration excludes results of this tool"},
    RuleDescription{"failed", "could not be removed"},
    RuleDescription{"failed_call", "the result of a failed call, which is kept"},
    RuleDescription{"fold", "replaced by a summary"},
    RuleDescription{"folded", "replaced by a summary"},
    RuleDescription{"kept", "as it was recorded"},
    RuleDescription{"kept_thinking", "thinking of the newest replies, which is kept"},
    RuleDescription{"level", "before a summary that is kept"},
    RuleDescription{"long_result", "a long result, cut to its head and tail"},
    RuleDescription{"media", "an image, a sound or a document, replaced by a placeholder"},
    RuleDescription{"newest", "among the newest results, which are kept"},
    RuleDescription{"newest_user", "the newest message of the user"},
    RuleDescription{"no_gain", "would not become shorter"},
    RuleDescription{"old_arguments", "texts of an old call that an edit replaced, or that were never used again"},
    RuleDescription{"old_lines", "lines of an old result that were never used again"},
    RuleDescription{"old_media", "an old image, sound or document"},
    RuleDescription{"old_output", "an old output, cut to one line"},
    RuleDescription{"old_passages", "an old result, cut to passages that were used later"},
    RuleDescription{"old_result", "an old result, replaced by one placeholder"},
    RuleDescription{"old_round", "in tool rounds older than those that are kept"},
    RuleDescription{"old_thinking", "thinking of an old reply"},
    RuleDescription{"open_round", "in the tool round that is not answered yet"},
    RuleDescription{"other_middleware", "another middleware has changed it already"},
    RuleDescription{"output", "an old output, cut to an extract"},
    RuleDescription{"over_limits", "the request had more images or bytes than the provider takes"},
    RuleDescription{"pinned", "pinned, so it is kept"},
    RuleDescription{"prefix", "among the first messages, which are kept"},
    RuleDescription{"protected_tool", "results of this tool are protected"},
    RuleDescription{"prune", "an old result, replaced by a placeholder"},
    RuleDescription{"pruned_already", "already replaced by a placeholder"},
    RuleDescription{"recent", "among the newest messages, which are kept"},
    RuleDescription{"recent_result", "among the newest results, which are kept"},
    RuleDescription{"released", "released by the model as no longer needed"},
    RuleDescription{"removed", "removed without a replacement"},
    RuleDescription{"required_first_step", "the first step of the tool loop, which the provider requires"},
    RuleDescription{"retained_round", "in the newest tool rounds, which are kept"},
    RuleDescription{"rule_based_summary", "older messages, replaced by a summary by rule, without a model"},
    RuleDescription{"shorten", "less of the text is left"},
    RuleDescription{"shortened_already", "it is short already"},
    RuleDescription{"shown_lines", "lines that the request shows elsewhere"},
    RuleDescription{"skip_boundary", "in the newest turns, which are kept"},
    RuleDescription{"skip_clear", "the settings of this tool skip clearing"},
    RuleDescription{"store_refused", "the store refused the original, so it is kept"},
    RuleDescription{"summary", "older messages, replaced by a summary"},
    RuleDescription{"system", "a system message"},
    RuleDescription{"target_reached", "enough was freed before it was reached"},
    RuleDescription{"too_small", "too little would be freed"},
    RuleDescription{"trim", "old text, replaced by a mark that says how to get it back"},
    RuleDescription{"truncate", "a result was shortened when it came"},
    RuleDescription{"vetoed", "the host refused"},
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
