#include "characters.hpp"
#include "identifiers.hpp"
#include "session_data.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

SizeClass size_of(std::int64_t tokens) {
    constexpr std::int64_t small_below = 20'000;
    constexpr std::int64_t medium_to = 100'000;
    return tokens < small_below ? SizeClass::small : tokens <= medium_to ? SizeClass::medium : SizeClass::large;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](auto word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

bool operator==(const ToolCall& a, const ToolCall& b) noexcept {
    return a.id == b.id && a.tool == b.tool && a.arguments == b.arguments;
}

std::string text_of(const Message& message) {
    std::string text = message.content;
    for (const ToolCall& call : message.calls) text.append("\n").append(call.tool).append(" ").append(call.arguments);
    return text;
}

AgentKind guess_kind(std::string_view file_name, std::string_view source) {
    const std::string words = ascii_lower(file_name) + " " + ascii_lower(source);
    if (words.starts_with("coding") || has_any(words, {"swe"})) return AgentKind::coding;
    return has_any(words, {"service", "tau"}) ? AgentKind::service : AgentKind::other;
}

struct CommonIdentifiers::Counts {
    std::int64_t sessions = 0;
    std::unordered_map<Hash128, std::int64_t, Hash128Hasher> of{};
};

CommonIdentifiers::CommonIdentifiers() : counts_(std::make_unique<Counts>()) {}
CommonIdentifiers::~CommonIdentifiers() = default;
CommonIdentifiers::CommonIdentifiers(CommonIdentifiers&&) noexcept = default;
CommonIdentifiers& CommonIdentifiers::operator=(CommonIdentifiers&&) noexcept = default;

void CommonIdentifiers::add(const SessionInput& session) {
    std::unordered_set<Hash128, Hash128Hasher> found;
    const auto look_at = [&](std::string_view text) {
        IdentifierScanner scanner(text);
        for (std::string_view word = scanner.next(); !word.empty(); word = scanner.next()) found.insert(hash128(word));
    };
    look_at(session.system);
    for (const Message& message : session.messages) look_at(text_of(message));
    ++counts_->sessions;
    for (const Hash128& word : found) ++counts_->of[word];
}

bool CommonIdentifiers::contains(std::string_view identifier) const {
    constexpr std::int64_t fewest_sessions = 4;
    const auto found = counts_->of.find(hash128(identifier));
    return counts_->sessions >= fewest_sessions && found != counts_->of.end() && 2 * found->second > counts_->sessions;
}

SessionData::SessionData(SessionInput given, const CommonIdentifiers* common) : input(std::move(given)) {
    if (!input.system.empty()) {
        system = {.role = Role::system, .content = input.system};
        system_piece = table.add(system);
    }
    tools_tokens = tokens_of_characters(count_characters(input.tools));
    count();
    name_messages();
    time_calls();
    edits = find_edits(input, calls, turns);
    probes = find_probes({input, table, pieces, calls, turns, common});
}

void SessionData::count() {
    std::int64_t characters = count_characters(input.system);
    std::size_t turn = 0;
    tokens_before.push_back(0);
    for (std::size_t i = 0; i < input.messages.size(); ++i) {
        pieces.push_back(table.add(input.messages[i]));
        characters += piece(i).characters;
        tokens_before.push_back(tokens_before.back() + piece(i).tokens);
        if (input.messages[i].role == Role::assistant) {
            calls.push_back(i);
            ++turn;
        }
        turns.push_back(turn);
    }
    size = size_of(input.estimated_tokens > 0 ? input.estimated_tokens : whole_tokens(characters));
}

void SessionData::name_messages() {
    for (std::size_t i = 0; i < input.messages.size(); ++i) {
        const Message& message = input.messages[i];
        by_piece[pieces[i]].push_back(i);
        if (!message.result_of.empty()) by_result.emplace(message.result_of, i);
        for (const ToolCall& call : message.calls) {
            if (!call.id.empty()) by_call.emplace(call.id, i);
        }
    }
}

void SessionData::time_calls() {
    constexpr double seconds_between_calls = 20;
    double now = 0;
    for (const std::size_t reply : calls) {
        const bool is_known = reply < input.seconds.size() && input.seconds[reply];
        now = is_known ? *input.seconds[reply] : now + seconds_between_calls;
        call_seconds.push_back(now);
    }
}

Session::Session(SessionInput input, const CommonIdentifiers* common)
    : data_(std::make_unique<SessionData>(std::move(input), common)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const std::string& Session::id() const noexcept { return data_->input.id; }
const std::string& Session::source() const noexcept { return data_->input.source; }
AgentKind Session::kind() const noexcept { return data_->input.kind; }
SizeClass Session::size() const noexcept { return data_->size; }
std::span<const Message> Session::messages() const noexcept { return data_->input.messages; }
std::span<const std::size_t> Session::calls() const noexcept { return data_->calls; }
std::size_t Session::turn_of(std::size_t message) const noexcept { return data_->turns[message]; }
std::int64_t Session::characters_of(std::size_t message) const noexcept { return data_->piece(message).characters; }

}  // namespace whittle::inline v0::evaluation
