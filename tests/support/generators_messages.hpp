// The message types that every law is tried on, and how a generated history becomes one of them.
#pragma once

#include "generators.hpp"
#include "message_builder.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/validity.hpp"

// Made by tests/CMakeLists.txt: those of extensions.
#include "generated_message_types.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

/// A host's type with nothing but a role and a text; it knows no tools.
struct PlainMessage {
    Role role = Role::user;
    std::string text{};
};

/// A host's type with calls and results of its own shape.
struct StepMessage {
    struct Call {
        std::string id{};
        std::string function{};
        std::string json{};
    };
    Role role = Role::user;
    std::string content{};
    std::vector<Call> calls{};
    std::string call_id{};  ///< of a result
    bool is_result = false;
};

}  // namespace whittle::testing

namespace whittle::inline v0 {

template <>
struct message_traits<testing::PlainMessage> {
    using M = testing::PlainMessage;
    static Role role(const M& m) { return m.role; }
    template <typename Visit>
    static void for_each_part(const M& m, Visit&& visit) {
        if (!m.text.empty()) visit(PartView{.kind = PartKind::text, .text = m.text});
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        if (part != 0 || m.text.empty()) throw std::out_of_range("no such part");
        m.text = std::string(text);
    }
    static void erase_part(M& m, std::size_t) { m.text.clear(); }
    static M make(Role role, std::string_view text) { return {role, std::string(text)}; }
};

template <>
struct message_traits<testing::StepMessage> {
    using M = testing::StepMessage;
    using Call = M::Call;
    static Role role(const M& m) { return m.role; }
    template <typename Visit>
    static void for_each_part(const M& m, Visit&& visit) {
        if (m.is_result) {
            visit(PartView{.kind = PartKind::tool_result, .text = m.content, .call_id = m.call_id});
        } else if (!m.content.empty()) {
            visit(PartView{.kind = PartKind::text, .text = m.content});
        }
        for (const auto& c : m.calls)
            visit(PartView{.kind = PartKind::tool_call, .text = c.json, .call_id = c.id, .tool = c.function});
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        const std::size_t front = has_front(m) ? 1 : 0;
        if (part < front) {
            m.content = std::string(text);
            return;
        }
        const auto json = nlohmann::json::parse(text, nullptr, false);
        if (!json.is_object()) throw std::invalid_argument("arguments must be an object");
        m.calls.at(part - front).json = std::string(text);
    }
    static void erase_part(M& m, std::size_t part) {
        const std::size_t front = has_front(m) ? 1 : 0;
        if (part < front) {
            m.content.clear();
            m.is_result = false;
            return;
        }
        if (part - front >= m.calls.size()) throw std::out_of_range("no such part");
        m.calls.erase(m.calls.begin() + static_cast<std::ptrdiff_t>(part - front));
    }
    static void rename_call(M& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        const std::size_t front = has_front(m) ? 1 : 0;
        if (part < front) {
            m.call_id = std::string(call_id);
            return;
        }
        Call& call = m.calls.at(part - front);
        call.id = std::string(call_id);
        if (!tool.empty()) call.function = std::string(tool);
    }
    static M make(Role role, std::string_view text) { return {role, std::string(text), {}, {}, false}; }
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        std::vector<M> messages;
        for (const ToolResult& result : results) {
            M m{Role::tool, {}, {}, result.call_id, true};
            for (const Part& part : result.parts) m.content += part.text;
            messages.push_back(std::move(m));
        }
        return messages;
    }

private:
    static bool has_front(const M& m) { return m.is_result || !m.content.empty(); }
};

static_assert(AgentMessage<testing::PlainMessage> && !ToolMessage<testing::PlainMessage>);
static_assert(ToolMessage<testing::StepMessage> && !HasCodec<testing::StepMessage>);

}  // namespace whittle::inline v0

namespace whittle::testing {

template <>
struct Builder<ChatMessage> {
    static constexpr std::string_view name = "ChatMessage";
    static std::vector<ChatMessage> build(const ChatMessage& m) { return {m}; }
};

template <>
struct Builder<PlainMessage> {
    static constexpr std::string_view name = "a type without tools";
    static std::vector<PlainMessage> build(const ChatMessage& m) {
        PlainMessage plain{m.role == Role::tool ? Role::user : m.role, {}};
        for (const Part& part : m.parts)
            plain.text += part.kind == PartKind::tool_call ? part.tool + "(" + part.text + ")" : part.text;
        return {plain};
    }
};

template <>
struct Builder<StepMessage> {
    static constexpr std::string_view name = "a type with its own tools";
    static std::vector<StepMessage> build(const ChatMessage& m) {
        std::vector<StepMessage> steps;
        StepMessage front{m.role, {}, {}, {}, false};
        for (const Part& part : m.parts) {
            if (part.kind == PartKind::tool_result) {
                steps.push_back({m.role, part.text, {}, part.call_id, true});
            } else if (part.kind == PartKind::tool_call) {
                front.calls.push_back({part.call_id, part.tool, part.text});
            } else {
                front.content += part.text;
            }
        }
        if (steps.empty() || !front.calls.empty() || !front.content.empty())
            steps.insert(m.role == Role::assistant ? steps.begin() : steps.end(), std::move(front));
        return steps;
    }
};

namespace detail {

/// The members in one of all their orders, and some that nobody knows.
inline void shuffle_members(nlohmann::ordered_json& object, Dice& dice) {
    std::vector<std::pair<std::string, nlohmann::ordered_json>> members;
    for (auto& [key, value] : object.items()) members.emplace_back(key, std::move(value));
    if (dice.one_in(4)) members.emplace_back("cache_control", nlohmann::ordered_json{{"type", "ephemeral"}});
    if (dice.one_in(4)) members.emplace_back("x_more", nlohmann::ordered_json::array({1.0, nullptr}));
    for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[dice.below(i)]);
    object = nlohmann::ordered_json::object();
    for (auto& [key, value] : members) object[key] = std::move(value);
}

inline void shuffle_elements(nlohmann::ordered_json& holder, const char* key, Dice& dice) {
    const auto found = holder.find(key);
    if (found == holder.end() || !found->is_array()) return;
    for (nlohmann::ordered_json& element : *found) {
        if (element.is_object()) shuffle_members(element, dice);
    }
}

/// A result's text as the other of the two forms that both formats have.
inline void reshape_result(nlohmann::ordered_json& result, Dice& dice) {
    const auto content = result.find("content");
    if (content == result.end() || !content->is_string() || !dice.one_in(3)) return;
    nlohmann::ordered_json text{{"type", "text"}, {"text", *content}};
    *content = nlohmann::ordered_json::array({std::move(text)});
}

inline void rewrite_block(nlohmann::ordered_json& block, Dice& dice) {
    if (!block.is_object() || block.value("type", "") != "tool_result") return;
    reshape_result(block, dice);
    if (!block.contains("is_error") && dice.one_in(3)) block["is_error"] = false;
    shuffle_elements(block, "content", dice);
}

}  // namespace detail

/// The same message as other hosts write it: members in every order, members that nobody knows, text of results in
/// arrays, "is_error": false. Follows the sizes of its texts only.
template <typename M>
[[nodiscard]] M as_hosts_write_it(const M& m) {
    if constexpr (requires { m.json(); }) {
        std::size_t size = 0;
        message_traits<M>::for_each_part(m, [&](const PartView& part) { size += 1 + part.text.size(); });
        Dice dice(size);
        nlohmann::ordered_json json = m.json();
        if (json["role"] == "tool") detail::reshape_result(json, dice);
        const auto content = json.find("content");
        if (content != json.end() && content->is_array()) {
            for (nlohmann::ordered_json& block : *content) detail::rewrite_block(block, dice);
        }
        detail::shuffle_elements(json, "content", dice);
        detail::shuffle_elements(json, "tool_calls", dice);
        detail::shuffle_members(json, dice);
        M written(std::move(json));
        if (m.usage()) written.with_usage(*m.usage());
        return written;
    } else {
        return m;
    }
}

/// The history as a message type has it: where all results of a turn stand in one message, they are joined; every
/// fourth of these has a text of the user behind the results.
template <typename M>
[[nodiscard]] History shaped(const History& history) {
    if constexpr (!requires { Builder<M>::joins_results; }) {
        return history;
    } else {
        History joined;
        bool is_run = false;
        const auto is_result = [](const Part& part) { return part.kind == PartKind::tool_result; };
        for (const ChatMessage& m : history) {
            const bool is_answer = m.role == Role::user && std::ranges::any_of(m.parts, is_result);
            const bool was_run = std::exchange(is_run, m.role == Role::tool || is_answer);
            if (was_run && is_run) {
                joined.back().parts.insert(joined.back().parts.end(), m.parts.begin(), m.parts.end());
            } else {
                joined.push_back(m);
            }
        }
        for (std::size_t i = 0; i < joined.size(); ++i) {
            if (joined[i].role == Role::tool && i % 4 == 3)
                joined[i].parts.push_back({PartKind::text, "and " + std::string(i, 'u')});
        }
        return joined;
    }
}

/// The two profiles that a message type's histories are held to, the stricter one last.
template <typename M>
[[nodiscard]] std::array<const ValidityProfile*, 2> law_profiles() {
    if constexpr (requires { Builder<M>::profiles(); }) {
        return Builder<M>::profiles();
    } else {
        return {&openai_chat(), &openai_compatible()};
    }
}

/// Calls `visit(Type<M>{})` for every message type.
template <typename Visit>
void for_each_message_type(Visit&& visit) {
    visit(Type<ChatMessage>{});
#define WHITTLE_VISIT(T) visit(Type<T>{});
    WHITTLE_EXTENSION_MESSAGE_TYPES(WHITTLE_VISIT)
#undef WHITTLE_VISIT
    visit(Type<PlainMessage>{});
    visit(Type<StepMessage>{});
}

template <typename M>
[[nodiscard]] std::vector<M> build_all(const History& history) {
    std::vector<M> messages;
    for (const ChatMessage& m : shaped<M>(history)) {
        for (M& built : Builder<M>::build(m)) messages.push_back(std::move(built));
    }
    return messages;
}

/// Usage goes to the front message of what a neutral one becomes; types without usage lose it.
static_assert(HasUsage<ChatMessage>);

}  // namespace whittle::testing
