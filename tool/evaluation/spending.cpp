#include "spending.hpp"

#include "characters.hpp"
#include "identifiers.hpp"
#include "pieces.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::int64_t worth_a_look = 200;  // characters

std::size_t hash_of_text(std::string_view text) { return std::hash<std::string_view>{}(text); }

template <typename Visit>
void each_identifier(const Message& message, Visit&& visit) {
    const auto scan = [&](std::string_view text) {
        IdentifierScanner scanner(text);
        for (auto found = scanner.next(); !found.empty(); found = scanner.next()) visit(hash_of_text(found));
    };
    scan(message.content);
    for (const ToolCall& call : message.calls) scan(call.arguments);
}

/// Which results were of no use later.
class UseOfResults {
public:
    explicit UseOfResults(std::span<const Message> messages) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (messages[i].role == Role::assistant)
                each_identifier(messages[i], [&](std::size_t name) { last_use_[name] = i; });
        }
    }

    /// In the order of the messages, each once.
    [[nodiscard]] bool is_unused(const Message& message, std::size_t index) {
        bool has_new = false;
        bool is_used = false;
        each_identifier(message, [&](std::size_t name) {
            if (!seen_.insert(name).second) return;
            has_new = true;
            const auto use = last_use_.find(name);
            is_used = is_used || (use != last_use_.end() && use->second > index);
        });
        return has_new && !is_used;
    }

private:
    std::unordered_map<std::size_t, std::size_t> last_use_{};  // by name: the last reply that has it
    std::unordered_set<std::size_t> seen_{};
};

/// Calls that came one after another, from the first to in front of the end.
struct CallRange {
    std::size_t first = 0;
    std::size_t end = 0;
};

/// In the requests of which calls something stood.
class Carried {
public:
    Carried(const Session& session, std::span<const RecordedCut> cuts, std::span<const std::size_t> uncounted)
        : calls_(session.calls()), cuts_(cuts), uncounted_(uncounted) {}

    [[nodiscard]] CallRange message(std::size_t index) const {
        const auto cut = std::ranges::upper_bound(cuts_, index, {}, &RecordedCut::before);
        return between(index + 1, cut == cuts_.end() ? SIZE_MAX : cut->before);
    }
    [[nodiscard]] CallRange kept(std::size_t cut) const {
        return between(cuts_[cut].before, cut + 1 < cuts_.size() ? cuts_[cut + 1].before : SIZE_MAX);
    }
    /// Whether nothing but calls that do not count had it.
    [[nodiscard]] bool is_left_out(const CallRange& calls) const {
        return calls.first < calls.end && counted(calls) == 0;
    }
    /// How many of these count.
    [[nodiscard]] std::int64_t counted(const CallRange& calls) const {
        if (calls.first >= calls.end) return 0;
        const auto from = std::ranges::lower_bound(uncounted_, calls.first);
        const auto to = std::ranges::lower_bound(uncounted_, calls.end);
        return static_cast<std::int64_t>(calls.end - calls.first) - (to - from);
    }

private:
    /// Calls whose replies are `first` or later and in front of `end`.
    [[nodiscard]] CallRange between(std::size_t first, std::size_t end) const {
        const auto place = [&](std::size_t message) {
            return static_cast<std::size_t>(std::ranges::lower_bound(calls_, message) - calls_.begin());
        };
        return {place(first), place(end)};
    }

    std::span<const std::size_t> calls_;
    std::span<const RecordedCut> cuts_;
    std::span<const std::size_t> uncounted_;
};

Spent spent_on(std::int64_t tokens, std::int64_t calls) { return {1, tokens, tokens * calls}; }

void add_ages(std::array<std::int64_t, spending_ages>& ages, std::int64_t tokens, const CallRange& calls,
              const Carried& carried) {
    constexpr std::array<std::size_t, spending_ages> first{0, 1, 11, 51};
    for (std::size_t age = 0; age < spending_ages; ++age) {
        const std::size_t end = age + 1 < spending_ages ? std::min(calls.end, calls.first + first[age + 1]) : calls.end;
        ages[age] += tokens * carried.counted({calls.first + first[age], end});
    }
}

std::shared_ptr<const Message> shared(const Message& message) { return std::make_shared<const Message>(message); }

}  // namespace

void requests_as_recorded(const Session& session, std::span<const RecordedCut> cuts, TakeRequest take) {
    std::size_t next_cut = 0;
    std::size_t sent_to = 0;
    std::size_t size = 0;  // of the request before
    for (std::size_t call = 0; call < session.calls().size(); ++call) {
        const std::size_t reply = session.calls()[call];
        Request request{.keep = size};
        while (next_cut < cuts.size() && cuts[next_cut].before <= reply) {
            request = {};
            for (const Message& message : cuts[next_cut].kept) request.rest.push_back({.message = shared(message)});
            sent_to = cuts[next_cut++].before;
        }
        for (; sent_to < reply; ++sent_to) request.rest.push_back({.recorded = sent_to});
        size = request.keep + request.rest.size();
        take(call, request);
    }
}

Spent& Spent::operator+=(const Spent& other) noexcept {
    messages = add_saturating(messages, other.messages);
    tokens = add_saturating(tokens, other.tokens);
    sent = add_saturating(sent, other.sent);
    return *this;
}

Spending& Spending::operator+=(const Spending& other) {
    all += other.all;
    users += other.users;
    replies += other.replies;
    kept += other.kept;
    for (const auto& [tool, spent] : other.tools) tools[tool] += spent;
    for (std::size_t age = 0; age < spending_ages; ++age)
        sent_by_age[age] = add_saturating(sent_by_age[age], other.sent_by_age[age]);
    repeated += other.repeated;
    unused += other.unused;
    return *this;
}

Spending spending_of(const Session& session, std::span<const RecordedCut> cuts,
                     std::span<const std::size_t> uncounted) {
    const auto messages = session.messages();
    const Carried carried(session, cuts, uncounted);
    UseOfResults use(messages);
    std::unordered_map<std::string_view, std::string_view> tool_of;
    std::unordered_set<std::size_t> results;
    Spending spending;
    const auto add = [&](Spent& kind, std::int64_t tokens, const CallRange& range) {
        const std::int64_t calls = carried.counted(range);
        kind += spent_on(tokens, calls);
        spending.all += spent_on(tokens, calls);
        add_ages(spending.sent_by_age, tokens, range, carried);
    };
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Message& message = messages[i];
        const std::int64_t tokens = tokens_of_characters(session.characters_of(i));
        const CallRange range = carried.message(i);
        const std::int64_t calls = carried.counted(range);
        const bool is_unused = use.is_unused(message, i);
        for (const ToolCall& call : message.calls) tool_of.insert_or_assign(call.id, call.tool);
        const bool is_repeated = message.role == Role::tool && session.characters_of(i) >= worth_a_look &&
                                 !results.insert(hash_of_text(message.content)).second;
        if (carried.is_left_out(range)) continue;
        if (message.role != Role::tool) {
            add(message.role == Role::assistant ? spending.replies : spending.users, tokens, range);
            continue;
        }
        const auto caller = tool_of.find(message.result_of);
        add(spending.tools[caller == tool_of.end() ? message.name : std::string(caller->second)], tokens, range);
        if (session.characters_of(i) < worth_a_look) continue;
        if (is_repeated) spending.repeated += spent_on(tokens, calls);
        if (is_unused && !is_repeated) spending.unused += spent_on(tokens, calls);
    }
    for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
        if (carried.is_left_out(carried.kept(cut))) continue;
        for (const Message& message : cuts[cut].kept)
            add(spending.kept, tokens_of_characters(count_characters(text_of(message))), carried.kept(cut));
    }
    return spending;
}

}  // namespace whittle::inline v0::evaluation
