#include "whittle/summary/detail/facts.hpp"
#include "call_notes.hpp"
#include "identifiers.hpp"
#include "replaced.hpp"
#include "text_shape.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/text.hpp"
#include "whittle/summary/detail/text.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0 {
namespace {

using detail::IdentifierKind;

constexpr std::size_t most_constraints = 400;
constexpr std::size_t most_identifiers = 50'000;
constexpr std::size_t most_stated = 200;

/// The arguments' top-level strings that are a path and nothing else.
std::vector<std::string> paths_in_arguments(std::string_view arguments) {
    std::vector<std::string> paths;
    const detail::JsonValue json = detail::parse_json(arguments);
    if (!json.is_object()) return paths;
    for (const detail::JsonValue& value : json.values()) {
        const std::string* const text = value.string();
        if (text != nullptr && detail::is_path(*text)) paths.push_back(*text);
    }
    return paths;
}

/// Names that differ in their numbers only, call_1 to call_68: a few say what the others are.
bool is_more_of_a_series(std::string_view word, std::unordered_map<std::string, int>& series) {
    constexpr int most_of_a_series = 3;
    std::string name = detail::series_of(word);
    return name != word && ++series[std::move(name)] > most_of_a_series;
}

/// One line: white space collapsed, tags of ours escaped.
std::string one_line(std::string_view text) { return detail::single_spaced(escape_tags(to_valid_utf8(text))); }

}  // namespace

struct FactCollector::State {
    /// Lets a text be looked up that is no string. Not noexcept: libstdc++ would not keep the hashes of entries then.
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    struct Use {
        std::size_t messages = 0;  // that it stands in
        std::size_t last = 0;
        std::size_t order = 0;
        std::size_t replaced = 0;  // the message that gave what it was the value of another one
        IdentifierKind kind = IdentifierKind::name;
        bool only_in_results = true;
    };

    struct Dated {
        detail::Statement statement{};
        std::size_t message = 0;
    };
    struct Constraint {
        std::string text{};
        Dated said{};

        /// It says less, and is as old as it was.
        void reword(std::string words) {
            said.statement = detail::statement_of(words);
            text = std::move(words);
        }
    };

    void note(std::string_view identifier, IdentifierKind kind, bool in_result) {
        if (kind == IdentifierKind::number) return;  // alone it tells nothing
        auto found = identifiers.find(identifier);
        if (found == identifiers.end()) {
            if (identifiers.size() >= most_identifiers) return;
            found = identifiers.emplace(identifier, Use{.order = identifiers.size(), .kind = kind}).first;
        }
        Use& use = found->second;
        if (use.messages == 0 || use.last != message) ++use.messages;
        use.last = message;
        use.only_in_results = use.only_in_results && in_result;
    }

    /// As if it had been used again, but before everything else.
    void note_carried(const std::string& identifier) {
        if (identifiers.size() >= most_identifiers) return;
        IdentifierKind kind = IdentifierKind::name;
        detail::for_each_identifier(identifier, [&](std::string_view word, IdentifierKind of_word) {
            if (word == identifier) kind = of_word;
        });
        if (kind == IdentifierKind::number) return;  // of a list that an earlier version wrote
        identifiers.try_emplace(
            identifier, Use{.messages = 2, .order = identifiers.size(), .kind = kind, .only_in_results = false});
    }

    /// What is said again is as new as that; what it replaces goes.
    void note_constraint(std::string text) {
        const auto known = std::ranges::find(constraints, text, &Constraint::text);
        if (known != constraints.end()) {
            if (known->said.message == message) return;
            constraints.erase(known);
        }
        Dated said{detail::statement_of(text), message};
        replace(said);
        constraints.push_back({std::move(text), std::move(said)});
        if (constraints.size() > most_constraints) constraints.pop_front();
    }

    /// Takes out of the constraints what `later` replaces. Whether there was any.
    bool replace(const Dated& later) {
        bool found = false;
        for (std::size_t i = 0; i < constraints.size();) {
            std::optional<Left> left = left_of(constraints[i], later);
            if (!left) {
                ++i;
                continue;
            }
            found = true;
            for (const std::string& value : left->values) note_replaced(value, later.message);
            if (left->text.empty()) {
                constraints.erase(constraints.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                constraints[i++].reword(std::move(left->text));
            }
        }
        return found;
    }

    /// A value that is none any more is no name to keep either, unless it is used again.
    void note_replaced(std::string_view value, std::size_t when) {
        const auto found = identifiers.find(value);
        if (found != identifiers.end()) found->second.replaced = when;
    }

    /// What a later statement leaves of a constraint.
    struct Left {
        std::string text{};  ///< empty: nothing
        std::vector<std::string> values{};
    };

    /// Nullopt: all of it. A rule that is not replaced as a whole loses the values alone.
    [[nodiscard]] static std::optional<Left> left_of(const Constraint& constraint, const Dated& later) {
        if (later.message <= constraint.said.message) return std::nullopt;
        const auto replaced = detail::replaced_values(constraint.said.statement, later.statement);
        if (replaced.empty()) return std::nullopt;
        Left left;
        for (const detail::StatementWord& value : replaced)
            left.values.push_back(constraint.text.substr(value.begin, value.length));
        if (detail::is_replaced_whole(constraint.said.statement, later.statement, replaced)) return left;
        left.text = constraint.text;
        for (auto value = replaced.rbegin(); value != replaced.rend(); ++value)
            left.text.replace(value->begin, value->length, "[...]");
        return left;
    }

    /// Sentences of the user that give values. One that replaces a condition is one itself, unless it stays anyway.
    void note_statements(std::string_view text, bool stays = false) {
        constexpr std::size_t most = 200;
        detail::for_each_statement(text, most, [&](std::string_view sentence, detail::Statement statement) {
            Dated said{std::move(statement), message};
            if (replace(said) && !stays) note_constraint(one_line(sentence));
            statements.push_back(std::move(said));
        });
        while (statements.size() > most) statements.pop_front();
    }

    /// What a summary says is newer than all; what it repeats of the user is as old as that.
    [[nodiscard]] std::vector<Dated> statements_of(std::string_view summary) const {
        constexpr std::size_t most = 400;
        std::vector<Dated> said;
        detail::for_each_statement(summary, most, [&](std::string_view, detail::Statement statement) {
            const auto known = std::ranges::find(statements, statement, &Dated::statement);
            const std::size_t when = known == statements.end() ? SIZE_MAX : known->message;
            said.push_back({std::move(statement), when});
        });
        return said;
    }

    /// What a summary leaves of a constraint; empty: nothing.
    [[nodiscard]] static std::string left_of(Constraint constraint, std::span<const Dated> summary) {
        for (const Dated& later : summary) {
            std::optional<Left> left = left_of(constraint, later);
            if (!left) continue;
            if (left->text.empty()) return {};
            constraint.reword(std::move(left->text));
        }
        return std::move(constraint.text);
    }

    /// Said again it is as new as that.
    void note_stated(std::string text) {
        std::erase(stated, text);
        stated.push_back(std::move(text));
        if (stated.size() > most_stated) stated.pop_front();
    }

    void note_written(std::string path) {
        if (known_written.size() >= most_identifiers || !known_written.insert(path).second) return;
        written.push_back(std::move(path));
    }

    /// All facts, best first, until `visit` says false.
    void for_each_ranked(std::string_view summary, FunctionRef<bool(RetainedFact)> visit) const;
    void for_each_ranked_identifier(FunctionRef<bool(std::string_view)> visit) const;

    std::unordered_map<std::string, Use, TextHash, std::equal_to<>> identifiers{};
    std::deque<Constraint> constraints{};  // those of the newest message last
    std::deque<Dated> statements{};        // of the user; the newest last
    std::deque<std::string> stated{};      // by results of tools; the newest last
    std::vector<std::string> written{};
    std::unordered_set<std::string, TextHash, std::equal_to<>> known_written{};  // `written`
    std::size_t message = 0;
};

FactCollector::FactCollector() : state_(std::make_unique<State>()) {}
FactCollector::FactCollector(FactCollector&&) noexcept = default;
FactCollector& FactCollector::operator=(FactCollector&&) noexcept = default;
FactCollector::~FactCollector() = default;

void FactCollector::next_message() noexcept { ++state_->message; }

void FactCollector::add(const PartView& part, bool is_user) {
    if (part.kind == PartKind::thinking || part.kind == PartKind::media || part.kind == PartKind::other) return;
    const bool in_result = part.kind == PartKind::tool_result;
    if (part.kind == PartKind::tool_call && detail::is_writing_tool(part.tool)) {
        for (std::string& path : paths_in_arguments(part.text)) state_->note_written(std::move(path));
    }
    detail::for_each_identifier(
        part.text, [&](std::string_view word, IdentifierKind kind) { state_->note(word, kind, in_result); });
    if (in_result) {
        detail::for_each_stated_condition(part.text,
                                          [&](std::string_view sentence) { state_->note_stated(one_line(sentence)); });
    }
    if (!is_user || part.kind != PartKind::text) return;
    std::size_t found = 0;
    detail::for_each_constraint(part.text, [&](std::string_view sentence) {
        if (found++ < most_constraints) state_->note_constraint(one_line(sentence));
    });
    state_->note_statements(part.text);
}

void FactCollector::add_later_text(std::string_view text) { state_->note_statements(text, true); }

void FactCollector::add_summary_text(std::string_view text) {
    for (State::Dated& said : state_->statements_of(text)) {
        said.message = std::min(said.message, state_->message);
        state_->replace(said);
    }
}

void FactCollector::add_user_text(std::string_view text) { add(PartView{.kind = PartKind::text, .text = text}, true); }

void FactCollector::add_carried(std::span<const RetainedFact> facts) {
    for (auto fact = facts.rbegin(); fact != facts.rend(); ++fact) {  // the newest is the first one
        if (fact->kind == FactKind::stated) state_->note_stated(fact->text);
    }
    for (const RetainedFact& fact : facts) {
        if (fact.kind == FactKind::constraint) state_->note_constraint(fact.text);
        if (fact.kind == FactKind::written_path) state_->note_written(fact.text);
        if (fact.kind == FactKind::identifier) state_->note_carried(fact.text);
    }
}

/// Those used again after they came up first, paths before names, the last used first. What only one tool result
/// mentioned is noise, and so are the further ones of a series (`is_more_of_a_series`). A heap: few of many are asked
/// for.
void FactCollector::State::for_each_ranked_identifier(FunctionRef<bool(std::string_view)> visit) const {
    using Entry = std::pair<const std::string, Use>;
    std::vector<const Entry*> entries;
    for (const Entry& entry : identifiers) {
        const Use& use = entry.second;
        if (use.replaced > use.last) continue;
        if (use.messages > 1 || !use.only_in_results) entries.push_back(&entry);
    }
    const auto is_worse = [](const Entry* a, const Entry* b) {
        const auto key = [](const Use& use) {
            return std::tuple(use.messages < 2, static_cast<int>(use.kind), ~use.last, use.order);
        };
        return key(a->second) > key(b->second);
    };
    std::ranges::make_heap(entries, is_worse);
    std::unordered_map<std::string, int> series;
    for (; !entries.empty(); entries.pop_back()) {
        std::ranges::pop_heap(entries, is_worse);
        const std::string& word = entries.back()->first;
        if (!is_more_of_a_series(word, series) && !visit(word)) return;
    }
}

/// The newest message's constraints first, in the order in which it says them. What the summary or the user has
/// replaced since does not come back.
void FactCollector::State::for_each_ranked(std::string_view summary, FunctionRef<bool(RetainedFact)> visit) const {
    const std::vector<Dated> said = statements_of(summary);
    for (std::size_t end = constraints.size(); end > 0;) {
        std::size_t begin = end - 1;
        while (begin > 0 && constraints[begin - 1].said.message == constraints[end - 1].said.message) --begin;
        for (std::size_t i = begin; i < end; ++i) {
            std::string left = left_of(constraints[i], said);
            if (!left.empty() && !visit({FactKind::constraint, std::move(left)})) return;
        }
        end = begin;
    }
    for (const std::string& path : written) {
        if (!visit({FactKind::written_path, one_line(path)})) return;
    }
    for (auto text = stated.rbegin(); text != stated.rend(); ++text) {
        if (!visit({FactKind::stated, *text})) return;
    }
    for_each_ranked_identifier([&](std::string_view word) {
        return known_written.contains(word) || visit({FactKind::identifier, one_line(word)});
    });
}

namespace {

/// What a summary says, for look-ups.
class Said {
public:
    explicit Said(std::string_view summary) : text_(one_line(summary)) {
        detail::for_each_identifier(text_, [&](std::string_view word, IdentifierKind) { words_.insert(word); });
    }
    [[nodiscard]] bool has(const RetainedFact& fact) const {
        if (words_.contains(fact.text)) return true;
        // Only for the bounded number of sentences, and for paths that are no plain identifiers.
        const bool is_plain = fact.kind == FactKind::identifier;
        return !is_plain && text_.find(fact.text) != std::string::npos;
    }

private:
    std::string text_;
    std::unordered_set<std::string_view> words_{};
};

std::string line_of(const RetainedFact& fact, Language language) {
    const bool chinese = language == Language::chinese;
    switch (fact.kind) {
        case FactKind::constraint: return (chinese ? "- 用户要求：" : "- the user asked: ") + fact.text + "\n";
        case FactKind::written_path: return (chinese ? "- 已写入：" : "- written: ") + fact.text + "\n";
        case FactKind::stated: return (chinese ? "- 工具结果中写道：" : "- a tool's result says: ") + fact.text + "\n";
        case FactKind::identifier: break;
    }
    return "- " + fact.text + "\n";
}

std::string_view heading(Language language) noexcept {
    return language == Language::chinese
               ? "以下内容逐字摘自上述对话，摘要中未提及；互相矛盾时以排在前面的为准：\n"
               : "Kept word for word from that conversation, beside the summary; where two differ, the first is "
                 "newer:\n";
}

}  // namespace

std::vector<RetainedFact> FactCollector::missing_in(std::string_view summary, std::int64_t max_tokens,
                                                    const TokenCounter& counter, Language language) const {
    constexpr int most_misses = 50;        // in a row: the budget is used up
    constexpr std::int64_t of_stated = 4;  // the part of the budget that is for what results say
    const Said said(summary);
    std::vector<RetainedFact> kept;
    std::int64_t units = counter.measure_units(heading(language));
    std::int64_t stated = 0;
    int misses = 0;
    state_->for_each_ranked(summary, [&](RetainedFact fact) {
        if (said.has(fact)) return true;
        const std::int64_t line = counter.measure_units(line_of(fact, language));
        const std::int64_t more = add_saturating(units, line);
        if (counter.to_tokens(more) > max_tokens) return ++misses < most_misses;
        misses = 0;
        if (fact.kind == FactKind::stated) {
            if (counter.to_tokens(add_saturating(stated, line)) > max_tokens / of_stated) return true;
            stated += line;
        }
        units = more;
        kept.push_back(std::move(fact));
        return true;
    });
    while (!kept.empty() && counter.count(to_text(kept, language)) > max_tokens) kept.pop_back();
    return kept;
}

std::string to_text(std::span<const RetainedFact> facts, Language language) {
    if (facts.empty()) return {};
    std::string text(heading(language));
    for (const RetainedFact& fact : facts) text += line_of(fact, language);
    text.pop_back();
    return text;
}

std::string with_facts(std::string text, std::span<const RetainedFact> facts, Language language) {
    if (facts.empty()) return text;
    const std::string_view head = heading(language);
    const std::size_t blank = text.rfind("\n\n");
    const bool has_list = blank != text.npos && std::string_view(text).substr(blank + 2).starts_with(head);
    std::string list = to_text(facts, language);
    if (has_list) list.erase(0, head.size());
    return text.append(text.empty() ? "" : has_list ? "\n" : "\n\n").append(list);
}

std::string to_note(std::span<const RetainedFact> facts) {
    detail::JsonWriter list;
    list.open_array();
    for (const RetainedFact& fact : facts) {
        list.open_array();
        list.value(static_cast<int>(fact.kind));
        list.value(fact.text);
        list.close_array();
    }
    list.close_array();
    return list.take();
}

std::vector<RetainedFact> facts_from_note(std::string_view note) {
    const detail::JsonValue list = detail::parse_json(note);
    std::vector<RetainedFact> facts;
    if (!list.is_array()) return facts;
    for (const detail::JsonValue& item : list.values()) {
        if (!item.is_array() || item.size() != 2) return {};
        const std::vector<detail::JsonValue> pair = item.values();
        const std::int64_t kind = pair[0].integer().value_or(-1);
        const std::string* const text = pair[1].string();
        if (kind < 0 || kind > static_cast<std::int64_t>(FactKind::stated) || text == nullptr) return {};
        facts.push_back({static_cast<FactKind>(kind), *text});
    }
    return facts;
}

}  // namespace whittle::inline v0
