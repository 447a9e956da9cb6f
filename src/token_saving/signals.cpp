#include "step_keys.hpp"
#include "whittle/token_saving/steps.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace whittle::inline v0 {

namespace {

using detail::StepKey;
using Keys = std::vector<StepKey>;

double clamp(double value) noexcept { return std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0); }

double share(std::ptrdiff_t count, double of) noexcept { return std::min(static_cast<double>(count) / of, 1.0); }

/// How often the last `period` steps stand at the end, one after the other.
std::ptrdiff_t cycles(const Keys& keys, std::size_t period) {
    std::size_t same = 0;
    while (same + period < keys.size() &&
           keys[keys.size() - 1 - same].whole == keys[keys.size() - 1 - same - period].whole)
        ++same;
    return 1 + static_cast<std::ptrdiff_t>(same / period);
}

/// Equal steps, or equal groups of up to four, at the end.
double streak_of(const Keys& keys) {
    constexpr std::size_t longest_period = 4;
    std::ptrdiff_t most = 1;
    for (std::size_t period = 1; period <= longest_period && period < keys.size(); ++period)
        most = std::max(most, cycles(keys, period));
    return most == 1 ? 0.0 : share(most, 5.0);
}

double diversity_of(const Keys& keys) {
    constexpr std::size_t least = 8;
    constexpr std::size_t looked_at = 5;
    Keys calls;
    std::ranges::copy_if(keys, std::back_inserter(calls), &StepKey::is_call);
    if (calls.size() < least) return 0.0;
    const std::span<const StepKey> last = std::span(calls).last(looked_at);
    const auto is_new = [&](std::size_t i) {
        return std::ranges::none_of(last.first(i), [&](const StepKey& key) { return key.input == last[i].input; });
    };
    int distinct = 0;
    bool alternates = true;
    for (std::size_t i = 0; i < last.size(); ++i) {
        distinct += is_new(i) ? 1 : 0;
        alternates = alternates && (i == 0 || !(last[i].input == last[i - 1].input));
    }
    if (distinct == 1) return 1.0;
    return distinct == 2 && !alternates ? 0.7 : 0.0;
}

constexpr std::array<std::string_view, 22> retractions{
    "i was wrong",       "that was wrong",    "that's wrong",      "i made a mistake", "my mistake",
    "let me reconsider", "on second thought", "scratch that",      "i misread",        "i misunderstood",
    "i take that back",  "i need to rethink", "let me rethink",    "i was mistaken",   "that was incorrect",
    "that's not right",  "that is not right", "let me start over", "我错了",           "我弄错了",
    "重新考虑",          "让我重新想"};
constexpr std::array<std::string_view, 20> hedges{"maybe",      "perhaps",   "might",    "possibly", "probably",
                                                  "not sure",   "unclear",   "could be", "i think",  "i guess",
                                                  "i'm unsure", "confusing", "confused", "strange",  "weird",
                                                  "也许",       "可能",      "或许",     "不确定",   "奇怪"};

std::ptrdiff_t occurrences(std::string_view text, std::string_view phrase) {
    std::ptrdiff_t count = 0;
    for (std::size_t at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + phrase.size()))
        ++count;
    return count;
}

/// The thoughts of the messages, in lower case; calls of one message share theirs.
std::vector<std::string> thoughts_of(std::span<const Step> steps) {
    std::vector<std::string> thoughts;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool is_shared = i > 0 && !steps[i].thought.empty() && steps[i].thought == steps[i - 1].thought;
        if (!is_shared) thoughts.push_back(ascii_lower(steps[i].thought));
    }
    return thoughts;
}

double hedge_of(std::span<const Step> steps) {
    const std::vector<std::string> thoughts = thoughts_of(steps);
    std::array<std::ptrdiff_t, 2> halves{};
    for (std::size_t i = 0; i < thoughts.size(); ++i) {
        const auto is_in = [&](std::string_view phrase) { return thoughts[i].find(phrase) != std::string::npos; };
        if (std::ranges::any_of(retractions, is_in)) return 1.0;
        for (const std::string_view hedge : hedges)
            halves[2 * i < thoughts.size() ? 0 : 1] += occurrences(thoughts[i], hedge);
    }
    const double growth = static_cast<double>(halves[1]) / static_cast<double>(std::max<std::ptrdiff_t>(1, halves[0]));
    return clamp((growth - 2.0) / 2.0);
}

constexpr std::size_t recent_steps = 20;

std::span<const Step> recent(std::span<const Step> steps) { return steps.last(std::min(steps.size(), recent_steps)); }

/// Edits that put back what an earlier edit of the same file replaced.
double edit_revert_of(std::span<const Step> steps) {
    std::ptrdiff_t reverts = 0;
    std::vector<detail::FileEdit> edits;
    for (const Step& step : recent(steps)) {
        const auto edit = detail::edit_of(step);
        if (!edit) continue;
        reverts +=
            std::ranges::any_of(edits, [&](const auto& earlier) { return reverts_edit(*edit, earlier); }) ? 1 : 0;
        edits.push_back(*edit);
    }
    return share(reverts, 2.0);
}

/// Test runs with the same arguments and the same outcome.
double test_repeat_of(std::span<const Step> steps, const Keys& keys) {
    const std::size_t first = steps.size() - recent(steps).size();
    std::ptrdiff_t most = 1;
    for (std::size_t i = first; i < steps.size(); ++i) {
        if (ascii_lower(steps[i].action_input).find("test") == std::string::npos || detail::edit_of(steps[i])) continue;
        const auto rest = std::span(keys).subspan(i);
        most = std::max(most, std::ranges::count(rest, keys[i].whole, &StepKey::whole));
    }
    return share(most - 1, 4.0);
}

double value_of(const Signals& signals, std::string_view name) {
    const auto found = signals.find(name);
    return found == signals.end() ? 0.0 : clamp(found->second);
}

}  // namespace

Signals trajectory_signals(std::span<const Step> steps) {
    const Keys keys = detail::keys_of(steps);
    return {{"streak", streak_of(keys)},
            {"diversity", diversity_of(keys)},
            {"hedge", hedge_of(steps)},
            {"call_count", share(std::ranges::count_if(keys, &StepKey::is_call), 100.0)},
            {"edit_revert", edit_revert_of(steps)},
            {"test_repeat", test_repeat_of(steps, keys)}};
}

bool is_stuck(const Signals& signals) {
    if (value_of(signals, "streak") > 0.7) return true;
    return value_of(signals, "hedge") > 0.6 && value_of(signals, "diversity") > 0.5;
}

}  // namespace whittle::inline v0
