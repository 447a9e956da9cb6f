#include "chain_diff.hpp"

#include "rule_descriptions.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "totals_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

void step(std::vector<Hash128>& request, const TracedCall& call) {
    request.resize(call.keep);
    request.insert(request.end(), call.fresh.begin(), call.fresh.end());
}

bool is_same_way(const ExplainedMessage& a, const ExplainedMessage& b) {
    return a.state == b.state && a.tokens_sent == b.tokens_sent && a.text == b.text;
}

/// The messages that the chain wrote and that `other` does not have word for word.
std::vector<const ExplainedMessage*> added_alone(const Explanation& explanation, const Explanation& other) {
    std::vector<const ExplainedMessage*> alone;
    for (const ExplainedMessage& message : explanation.messages) {
        if (message.recorded) continue;
        const auto is_same = [&](const ExplainedMessage& m) { return !m.recorded && m.text == message.text; };
        if (std::ranges::none_of(other.messages, is_same)) alone.push_back(&message);
    }
    return alone;
}

ordered_json chain_json(const ChainTrace& chain) {
    ordered_json json{{"name", chain.name}, {"cache", chain.profile.cache.name}};
    json.update(totals_json(chain.totals, chain.cost, chain.profile));
    return json;
}

/// Of each call, the first message that differs; absent where the requests are the same.
std::vector<std::optional<std::size_t>> by_call(const ChainDiff& diff) {
    std::vector<std::optional<std::size_t>> places(diff.chains[0].calls.size());
    for (const DifferentCall& call : diff.differences) places[call.call] = call.message;
    return places;
}

ordered_json calls_json(const ChainDiff& diff) {
    const auto places = by_call(diff);
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const TracedCall& a = diff.chains[0].calls[i];
        const TracedCall& b = diff.chains[1].calls[i];
        list.push_back({{"call", i},
                        {"tokens", {a.tokens, b.tokens}},
                        {"input_cost_tokens", {a.input_cost, b.input_cost}},
                        {"first_different_message", places[i] ? ordered_json(*places[i]) : ordered_json(nullptr)}});
    }
    return list;
}

ordered_json side_json(const std::optional<ExplainedMessage>& message) {
    return message ? message_json(*message) : ordered_json(nullptr);
}

/// The rows of the summary: what the chains sent, and their cost.
std::string summary_text(const ChainDiff& diff, bool colour) {
    const ReplayTotals& a = diff.chains[0].totals;
    const ReplayTotals& b = diff.chains[1].totals;
    Table table({"", "A", "B", "B/A"});
    const auto add = [&](std::string name, std::int64_t of_a, std::int64_t of_b) {
        table.add({std::move(name), grouped(of_a), grouped(of_b),
                   ratio(static_cast<double>(of_b), static_cast<double>(of_a))});
    };
    add("input tokens", a.sent.input, b.sent.input);
    add("largest request", a.sent.peak, b.sent.peak);
    add("read from the cache", a.sent.cached, b.sent.cached);
    const double cost_a = diff.chains[0].cost.with_refetches;
    const double cost_b = diff.chains[1].cost.with_refetches;
    table.add({"cost in tokens", rounded(cost_a), rounded(cost_b), ratio(cost_b, cost_a)});
    if (diff.chains[0].profile.prices && diff.chains[1].profile.prices) {
        const double of_a = money_of(diff.chains[0].cost.billed_with_refetches, *diff.chains[0].profile.prices);
        const double of_b = money_of(diff.chains[1].cost.billed_with_refetches, *diff.chains[1].profile.prices);
        table.add({"money", amount(of_a), amount(of_b), ratio(of_b, of_a)});
    }
    add("cache resets", a.sent.resets, b.sent.resets);
    add("commits", a.commits, b.commits);
    add("calls of summarizers", a.side_calls, b.side_calls);
    return table.text(colour, table_columns()) +
           wrapped_lines(
               "tokens: of all calls together, by each chain's own counter and cache. cost in tokens: what the calls "
               "cost at the plain input price; output is paid too, and so is fetching again what was needed and "
               "missing; by characters / 4\n"
               "cache resets: calls that break what the cache holds by more than 64 tokens. commits: changes that the "
               "chain made, each of one message or several\n",
               table_columns());
}

std::string calls_text(const ChainDiff& diff, bool colour) {
    const auto places = by_call(diff);
    Table table({"call", "tokens A", "tokens B", "cost A", "cost B", "differs at"});
    for (std::size_t i = 0; i < places.size(); ++i) {
        const TracedCall& a = diff.chains[0].calls[i];
        const TracedCall& b = diff.chains[1].calls[i];
        table.add({std::to_string(i), grouped(a.tokens), grouped(b.tokens), rounded(a.input_cost),
                   rounded(b.input_cost), places[i] ? std::to_string(*places[i]) : "-"});
    }
    return table.stacked_text(colour, table_columns()) + wrapped(
                                                             "cost of a call: of its input alone, by the chain's own "
                                                             "counter and cache. differs at: index of the first "
                                                             "message that differs",
                                                             table_columns());
}

std::string way_of(const std::optional<ExplainedMessage>& message) {
    if (!message) return "does not have it";
    std::string text(to_string(message->state));
    if (message->sent) text += fmt::format(", {} tokens", grouped(message->tokens_sent));
    if (message->folded_into) text += fmt::format(" into message {}", *message->folded_into);
    if (!message->edits.empty()) {
        const ExplainedEdit& last = message->edits.back();
        text += fmt::format(" by {}: {}{}{}", last.by, last.reason, last.rule.empty() ? "" : ", rule ", last.rule);
    }
    return text;
}

/// What the states, the reasons and the rules that are named mean.
std::string words_text(const ChainDiff& diff, std::size_t columns) {
    std::set<std::string> words;
    for (const DifferentMessage& message : diff.messages) {
        for (const std::optional<ExplainedMessage>& side : {message.a, message.b}) {
            if (!side) continue;
            words.insert(std::string(to_string(side->state)));
            if (!side->edits.empty()) words.insert({side->edits.back().reason, side->edits.back().rule});
        }
    }
    const std::string text = rules_text(words, columns);
    return text.empty() ? text : "\nwhat these words mean:\n" + text;
}

std::string messages_text(const ChainDiff& diff, std::size_t columns) {
    std::string text;
    constexpr std::size_t indent = 6;
    for (const DifferentMessage& message : diff.messages) {
        const ExplainedMessage& known = message.a ? *message.a : *message.b;
        const std::string place = known.recorded ? std::to_string(*known.recorded) : fmt::format("+{}", *known.sent);
        std::string line = fmt::format("{:>5} {}{}{}", place, known.role, known.tool.empty() ? "" : " ", known.tool);
        if (known.recorded) line += fmt::format(", {} tokens recorded", grouped(known.tokens_recorded));
        text += clipped_to_width(shown(line), columns) + "\n";
        for (const auto& [name, side] : {std::pair("A ", &message.a), std::pair("B ", &message.b)})
            text += indented(shown(name + way_of(*side)), indent, indent + 2, columns);
    }
    return text + words_text(diff, columns);
}

}  // namespace

std::vector<DifferentCall> differences(const ChainTrace& a, const ChainTrace& b) {
    std::vector<DifferentCall> found;
    std::vector<Hash128> of_a;
    std::vector<Hash128> of_b;
    for (std::size_t call = 0; call < std::min(a.calls.size(), b.calls.size()); ++call) {
        step(of_a, a.calls[call]);
        step(of_b, b.calls[call]);
        const auto place = std::ranges::mismatch(of_a, of_b);
        if (place.in1 == of_a.end() && place.in2 == of_b.end()) continue;
        found.push_back({call, static_cast<std::size_t>(place.in1 - of_a.begin())});
    }
    return found;
}

std::vector<DifferentMessage> different_messages(const Explanation& a, const Explanation& b) {
    std::vector<DifferentMessage> different;
    std::vector<const ExplainedMessage*> of_b;
    for (const ExplainedMessage& message : b.messages) {
        if (message.recorded) of_b.push_back(&message);
    }
    std::size_t next = 0;  // both have every recorded message, in the order of the recording
    for (const ExplainedMessage& message : a.messages) {
        if (!message.recorded) continue;
        const ExplainedMessage& other = *of_b[next++];
        if (!is_same_way(message, other)) different.push_back({message, other});
    }
    for (const ExplainedMessage* message : added_alone(a, b)) different.push_back({*message, std::nullopt});
    for (const ExplainedMessage* message : added_alone(b, a)) different.push_back({std::nullopt, *message});
    return different;
}

void hide_secrets(ChainDiff& diff, const KnownSecrets& secrets) {
    diff.trajectory = secrets.hidden(diff.trajectory);
    for (ChainTrace& chain : diff.chains) {
        chain.name = secrets.hidden(chain.name);
        for (std::string& error : chain.totals.errors) error = secrets.hidden(error);
    }
    for (DifferentMessage& message : diff.messages) {
        if (message.a) hide_secrets(*message.a, secrets);
        if (message.b) hide_secrets(*message.b, secrets);
    }
}

std::string diff_json(const ChainDiff& diff, bool calls) {
    ordered_json json{{"trajectory", diff.trajectory}};
    json["chains"] = {chain_json(diff.chains[0]), chain_json(diff.chains[1])};
    json["calls"] = diff.chains[0].calls.size();
    json["different_calls"] = diff.differences.size();
    json["first_different_call"] =
        diff.differences.empty() ? ordered_json(nullptr) : ordered_json(diff.differences.front().call);
    json["shown_call"] = diff.shown_call ? ordered_json(*diff.shown_call) : ordered_json(nullptr);
    json["messages"] = ordered_json::array();
    for (const DifferentMessage& message : diff.messages)
        json["messages"].push_back({{"a", side_json(message.a)}, {"b", side_json(message.b)}});
    if (calls) json["call_list"] = calls_json(diff);
    return shown_json(json) + "\n";
}

std::string diff_text(const ChainDiff& diff, bool calls, std::size_t columns, bool colour) {
    const std::size_t number = diff.chains[0].calls.size();
    std::string text = fmt::format("{}: {} calls\nA  {}\nB  {}\n\n", shown(diff.trajectory), number,
                                   shown(diff.chains[0].name), shown(diff.chains[1].name));
    text += summary_text(diff, colour) + "\n";
    if (calls) text += calls_text(diff, colour) + "\n";
    if (diff.differences.empty()) {
        text += "all requests are the same\n";
    } else {
        text += fmt::format("{} of {} requests differ, the first at call {}\n", diff.differences.size(), number,
                            diff.differences.front().call);
    }
    if (diff.shown_call) {
        text += fmt::format("call {}: {} of its messages differ\n", *diff.shown_call, diff.messages.size());
        text += messages_text(diff, columns);
    }
    return text;
}

}  // namespace whittle::cli
