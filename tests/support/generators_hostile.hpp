// Histories whose size is one number: thousands of what a session usually has a few of. A few bytes each, so that what
// costs is their number.
#pragma once

#include "generators.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::testing {

namespace detail {

using IdOf = std::string (*)(std::size_t);

inline std::string own_id(std::size_t i) { return "call_" + std::to_string(i); }
inline std::string same_id(std::size_t) { return "call_1"; }
inline std::string no_id(std::size_t) { return {}; }
/// Ids that differ only in what a name may not hold.
inline std::string unsafe_id(std::size_t i) { return std::string(1 + i % 7, '/') + "call"; }

inline std::string result_text(std::size_t i) { return "result " + std::to_string(i) + " of the tool, and its text"; }

/// One request, and the reply that ends it.
inline History framed(History middle) {
    History history{ChatMessage::user("go")};
    history.insert(history.end(), middle.begin(), middle.end());
    history.push_back(ChatMessage::assistant("done"));
    history.push_back(ChatMessage::user("and now the next"));
    return history;
}

inline ChatMessage call_of(std::size_t n, IdOf id) {
    ChatMessage call = ChatMessage::assistant();
    for (std::size_t i = 0; i < n; ++i) call.call(id(i), "read", R"({"path":"a"})");
    return call;
}

/// `n` calls in one reply, answered in one message each.
inline History parallel(std::size_t n, IdOf id) {
    History middle{call_of(n, id)};
    for (std::size_t i = 0; i < n; ++i) middle.push_back(ChatMessage::result(id(i), "read", result_text(i)));
    return framed(std::move(middle));
}

/// A round whose results come newest call first.
inline History backwards(std::size_t n) {
    History middle{call_of(n, own_id)};
    for (std::size_t i = n; i-- > 0;) middle.push_back(ChatMessage::result(own_id(i), "read", result_text(i)));
    return framed(std::move(middle));
}

/// A round with all results in one message.
inline History joined(std::size_t n, IdOf id) {
    History middle{call_of(n, id), ChatMessage{Role::tool, {}}};
    for (std::size_t i = 0; i < n; ++i)
        middle.back().parts.push_back({PartKind::tool_result, result_text(i), id(i), "read"});
    return framed(std::move(middle));
}

/// A round with a reminder behind each result.
inline History reminded(std::size_t n) {
    History middle{call_of(n, own_id)};
    for (std::size_t i = 0; i < n; ++i) {
        middle.push_back(ChatMessage::result(own_id(i), "read", result_text(i)));
        middle.back().parts.push_back({PartKind::text, "reminder"});
    }
    return framed(std::move(middle));
}

inline History unanswered(std::size_t n, IdOf id) { return framed({call_of(n, id)}); }

/// The replies of `n` rounds, none of them answered.
inline History open_rounds(std::size_t n, IdOf id) {
    History middle;
    for (std::size_t i = 0; i < n; ++i) middle.push_back(ChatMessage::assistant().call(id(i), "read"));
    return framed(std::move(middle));
}

inline History rounds(std::size_t n, IdOf id) {
    History middle;
    for (std::size_t i = 0; i < n; ++i) {
        middle.push_back(ChatMessage::assistant().call(id(i), "read", R"({"path":"a"})"));
        middle.push_back(ChatMessage::result(id(i), "read", result_text(i)));
    }
    return framed(std::move(middle));
}

inline History orphans(std::size_t n, IdOf id) {
    History middle;
    for (std::size_t i = 0; i < n; ++i) middle.push_back(ChatMessage::result(id(i), "read", result_text(i)));
    return framed(std::move(middle));
}

/// One call, and `n` results for it.
inline History answered_again(std::size_t n) {
    History middle{call_of(1, own_id)};
    for (std::size_t i = 0; i < n; ++i) middle.push_back(ChatMessage::result(own_id(0), "read", result_text(i)));
    return framed(std::move(middle));
}

inline Part text_part(std::size_t i) { return {PartKind::text, result_text(i)}; }
inline Part thinking_part(std::size_t i) { return {PartKind::thinking, result_text(i)}; }
inline Part media_part(std::size_t i) {
    return {PartKind::media, {}, {}, {}, {"image/png", "\x89PNG" + std::to_string(i), {}, 10, 10}};
}

/// One message of `n` parts.
inline History one_message(std::size_t n, Role role, Part (*part)(std::size_t)) {
    ChatMessage m{role, {}};
    for (std::size_t i = 0; i < n; ++i) m.parts.push_back(part(i));
    return framed({std::move(m)});
}

/// One result of `n` blocks.
inline History one_result(std::size_t n, Part (*block)(std::size_t)) {
    History middle{call_of(1, own_id), ChatMessage{Role::tool, {}}};
    for (std::size_t i = 0; i < n; ++i) {
        Part part = block(i);
        if (part.kind == PartKind::text) part.kind = PartKind::tool_result;
        part.call_id = own_id(0);
        middle.back().parts.push_back(std::move(part));
    }
    return framed(std::move(middle));
}

inline History users(std::size_t n) {
    History middle;
    for (std::size_t i = 0; i < n; ++i) middle.push_back(ChatMessage::user("the same request again, word for word"));
    return framed(std::move(middle));
}

}  // namespace detail

/// A kind of history, by the number of what there is so much of.
struct HostileShape {
    std::string_view name;
    History (*make)(std::size_t n);
    bool is_one_run = true;  ///< the model is called a fixed number of times, whatever `n` is
};

[[nodiscard]] inline const auto& hostile_shapes() {
    using namespace detail;
    static const auto shapes = std::to_array<HostileShape>({
        {"calls", [](std::size_t n) { return parallel(n, own_id); }},
        {"calls_same_id", [](std::size_t n) { return parallel(n, same_id); }},
        {"calls_no_id", [](std::size_t n) { return parallel(n, no_id); }},
        {"calls_unsafe_id", [](std::size_t n) { return parallel(n, unsafe_id); }},
        {"calls_backwards", backwards},
        {"calls_joined", [](std::size_t n) { return joined(n, own_id); }},
        {"calls_joined_same_id", [](std::size_t n) { return joined(n, same_id); }},
        {"calls_reminded", reminded},
        {"open_calls", [](std::size_t n) { return unanswered(n, own_id); }},
        {"open_calls_same_id", [](std::size_t n) { return unanswered(n, same_id); }},
        {"open_rounds", [](std::size_t n) { return open_rounds(n, own_id); }, false},
        {"open_rounds_same_id", [](std::size_t n) { return open_rounds(n, same_id); }, false},
        {"rounds", [](std::size_t n) { return rounds(n, own_id); }, false},
        {"rounds_same_id", [](std::size_t n) { return rounds(n, same_id); }, false},
        {"orphans", [](std::size_t n) { return orphans(n, own_id); }},
        {"orphans_same_id", [](std::size_t n) { return orphans(n, same_id); }},
        {"orphans_no_id", [](std::size_t n) { return orphans(n, no_id); }},
        {"answered_again", answered_again},
        {"text_parts", [](std::size_t n) { return one_message(n, Role::user, text_part); }},
        {"reply_parts", [](std::size_t n) { return one_message(n, Role::assistant, text_part); }},
        {"thinking_parts", [](std::size_t n) { return one_message(n, Role::assistant, thinking_part); }},
        {"media_parts", [](std::size_t n) { return one_message(n, Role::user, media_part); }},
        {"result_blocks", [](std::size_t n) { return one_result(n, text_part); }},
        {"result_media", [](std::size_t n) { return one_result(n, media_part); }},
        {"users", users},
    });
    return shapes;
}

}  // namespace whittle::testing
