#include "report_advice.hpp"

#include "command_line.hpp"

#include <fmt/format.h>

#include <cmath>

namespace whittle::cli {
namespace {

constexpr double noticeable = 3;  // per cent

/// C++ that makes the chain of a preset.
std::string code_of_preset(const AdvisedChain& chain) {
    std::string profile = fmt::format(".context_window = {}", chain.window);
    if (!chain.cache.empty()) profile += fmt::format(", .cache = *find_cache_profile(\"{}\")", chain.cache);
    const std::string settings = chain.name == "recommended"
                                     ? fmt::format("recommended({{{}}})", profile)
                                     : fmt::format("preset_config(Preset::{}, {{{}}})", chain.name, profile);
    return fmt::format(
        "#include <whittle/whittle.hpp>  // using namespace whittle;\n"
        "const Chain<> chain = make_chain(\n"
        "    {});\n"
        "chain.before_model(conversation);  // before each call of the model; then send conversation.messages()\n",
        settings);
}

std::string code_of_file() {
    return "#include <whittle/whittle.hpp>  // using namespace whittle;\n"
           "#include <whittle/config/config_json.hpp>  // `json`: the text of chain.json\n"
           "const Chain<> chain = make_chain<ChatMessage>(read_chain_settings(json));\n"
           "chain.before_model(conversation);  // before each call of the model; then send conversation.messages()\n";
}

std::string name_of_config(const AdvisedChain& chain) {
    if (!chain.is_preset) return fmt::format("Save this as chain.json: it is {}, as this report ran it.", chain.name);
    const std::string window = chain.window > 0 ? grouped(chain.window) + " tokens" : "unknown size";
    const std::string cache = chain.cache.empty() ? ""
                                                  : fmt::format(
                                                        " and for the provider's cache {} (profile.cache), one of the "
                                                        "most frequent here: set the one that your provider bills",
                                                        chain.cache);
    return fmt::format("Save this as chain.json. It is the preset {}, written out, for a window of {}{}.", chain.name,
                       window, cache);
}

}  // namespace

std::vector<ReportFigure> cost_figures_of(const ReportComparison& comparison, const std::string& sent_before,
                                          const std::string& sent_after) {
    const auto value = [](const ReportCost& cost) { return cost_text(cost); };
    const auto note = [](const ReportCost& cost, const std::string& sent) {
        return (cost.dollars ? rounded(cost.tokens) + " tokens' worth" : "tokens' worth") +
               (sent.empty() ? "" : "; " + sent + " tokens sent");
    };
    ReportCost saved{.tokens = std::abs(comparison.before.tokens - comparison.after.tokens)};
    if (comparison.before.dollars && comparison.after.dollars)
        saved.dollars = std::abs(*comparison.before.dollars - *comparison.after.dollars);
    const double percent = percent_saved(comparison.before, comparison.after);
    return {{.label = comparison.base, .value = value(comparison.before), .note = note(comparison.before, sent_before)},
            {.label = "under " + comparison.chain,
             .value = value(comparison.after),
             .note = note(comparison.after, sent_after)},
            {.label = percent > -0.5 ? "saved" : "spent more",
             .value = fmt::format("{:.0f} %", std::abs(percent)),
             .note = cost_with_unit(saved)}};
}

std::string cost_sentence(const ReportComparison& comparison) {
    return fmt::format("It cost {} {}. Under {} it would have cost {}, {}.", cost_with_unit(comparison.before),
                       comparison.base, comparison.chain, cost_with_unit(comparison.after),
                       change_of(comparison.before, comparison.after));
}

std::string changes_sentence(const std::string& subject, const SessionReport& session_report, double refetches) {
    std::int64_t changes = 0;
    std::int64_t less = 0;
    for (const ReportedRule& rule : session_report.rules) {
        if (rule.state == MessageState::added) continue;
        changes += rule.messages;
        less += rule.tokens_before - rule.tokens;
    }
    if (changes == 0) return fmt::format("{} would have changed no message.", subject);
    ReportCost again{.tokens = refetches};
    if (session_report.price) again.dollars = sum_of_sent(session_report).refetches * *session_report.price;
    std::string text =
        fmt::format("{} would have changed messages {} and made them {} shorter, each for all later calls.", subject,
                    changes == 1 ? "once" : grouped(changes) + " times", numbered(less, "token"));
    if (refetches >= 0.5)
        text += fmt::format(" {} of its cost is for what a later call needed and had to fetch again.",
                            cost_with_unit(again));
    return text;
}

std::string advice_text(const ReportComparison& comparison) {
    const double percent = percent_saved(comparison.before, comparison.after);
    if (percent >= noticeable)
        return fmt::format(
            "{} would have saved {:.0f} % here: {} in place of {}. To have that in your own agent:", comparison.subject,
            percent, cost_with_unit(comparison.after), cost_with_unit(comparison.before));
    const std::string change = change_of(comparison.before, comparison.after);
    return fmt::format(
        "{}: under {} they would have cost {}. It saves where sessions grow long, most above 100,000 tokens. If yours "
        "do:",
        percent > -noticeable ? "Nothing need be done for sessions like these"
                              : fmt::format("Do not use {} for sessions like these", comparison.chain),
        comparison.chain, change);
}

std::vector<ReportStep> steps_for(const AdvisedChain& chain) {
    std::vector<ReportStep> steps;
    steps.push_back({.text = name_of_config(chain), .paste = chain.config});
    const std::string example = chain.example.empty() ? "SESSIONS.jsonl" : quoted_for_shell(chain.example);
    steps.push_back({.text = "See what it does to a session of your own, call by call:",
                     .paste = fmt::format("whittle replay {} --config chain.json --html replay.html\n", example)});
    steps.push_back({.text = "Use it in your agent. whittle is a C++ library: an agent that you build calls it before "
                             "each call of the model; one of somebody else's has to take it in first.",
                     .paste = chain.is_preset ? code_of_preset(chain) : code_of_file()});
    return steps;
}

std::string units_text(bool has_dollars, std::string_view reason) {
    return (has_dollars ? "A token's worth"
                        : fmt::format("Costs are in tokens' worth, since {}. A token's worth", reason)) +
           std::string(
               " is the price of one token of input that is in no cache; one that is read from a cache costs a "
               "part of that, one of output several times as much, by each provider's prices. Tokens are "
               "counted as characters / 4.");
}

std::string fetched_again_text(double refetches) {
    return refetches < 0.5 ? "" : " That includes fetching again what it took out and a later call needed.";
}

}  // namespace whittle::cli
