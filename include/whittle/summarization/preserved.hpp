#pragma once

#include "whittle/base/language.hpp"
#include "whittle/message/message_view.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What a summary carries of the user's messages, oldest first.
struct KeptUserMessages {
    std::vector<std::string> texts{};
    std::size_t left_out = 0;  ///< older ones for which there was no room
};

/// The newest of `texts` (oldest first) that fit `max_tokens`; the last one that is taken is cut to what is left, head
/// and tail. O(size of what is kept, times the logarithm of a cut text).
[[nodiscard]] KeptUserMessages keep_user_messages(std::vector<std::string> texts, std::int64_t max_tokens,
                                                  const TokenCounter& counter, Language language);

/// `text` if it has at most `max_tokens`; else its head with a note that something was cut (its head and its tail with
/// `with_tail`); empty if not even the note fits. Valid UTF-8 stays valid.
[[nodiscard]] std::string cut_to_tokens(std::string_view text, std::int64_t max_tokens, bool with_tail,
                                        const TokenCounter& counter, Language language);

/// A skill that a tool loaded.
struct Skill {
    std::string name{};
    std::string content{};

    friend bool operator==(const Skill&, const Skill&) = default;
};

/// The name in the arguments of a skill call: member `skill`, `skill_name` or `name`, else the only string. Absent if
/// they cannot be read.
[[nodiscard]] std::optional<std::string> skill_name_in(std::string_view arguments);

/// As `Provenance::skills` holds a skill: its name, a line feed, its content.
[[nodiscard]] std::string to_record(const Skill& skill);
[[nodiscard]] Skill skill_from_record(std::string_view record);

/// The newest copy of each skill, newest skills first within the limits, then in the order in which they came. The
/// first that does not fit ends the list.
[[nodiscard]] std::vector<Skill> keep_skills(std::vector<Skill> oldest_first, const PreserveSkillsConfig& config,
                                             std::int64_t room_tokens, const TokenCounter& counter, Language language);

/// One message's text that holds skills as reference that is already loaded. Empty for none.
[[nodiscard]] std::string to_text(std::span<const Skill> skills, Language language);

/// The texts of a user message, joined by line feeds.
template <AgentMessage M>
[[nodiscard]] std::string user_text_of(const M& m) {
    std::string text;
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        if (part.kind != PartKind::text || part.text.empty()) return;
        if (!text.empty()) text += '\n';
        text += part.text;
    });
    return text;
}

/// The user messages among those at `indices`, oldest first, and those that summaries among them carry. `filter` false:
/// not that one.
template <AgentMessage M>
[[nodiscard]] std::vector<std::string> user_messages_in(MessageView<M> messages, const Outline& outline,
                                                        std::span<const std::size_t> indices,
                                                        const std::function<bool(const M&)>& filter) {
    std::vector<std::string> texts;
    for (const std::size_t i : indices) {  // what a summary carries is older than what still stands, also before it
        const MessageInfo& info = outline[i];
        if (origin_of(info.mark) == Origin::summary)
            texts.insert(texts.end(), info.mark->user_messages.begin(), info.mark->user_messages.end());
    }
    for (const std::size_t i : indices) {
        const MessageInfo& info = outline[i];
        if (is_user_message(info) && (!filter || filter(messages[i]))) texts.push_back(user_text_of(messages[i]));
    }
    return texts;
}

namespace detail {

/// Collects skills from calls and results in list order.
class SkillCollector {
public:
    explicit SkillCollector(std::string_view tool) : tool_(tool) {}

    void add_carried(const Provenance& provenance);
    void add_part(const PartView& part, const Mark& mark);
    [[nodiscard]] std::vector<Skill> take();

private:
    std::string_view tool_;
    std::map<std::string, std::string, std::less<>> names_{};  // by call id
    std::vector<std::pair<std::string, Skill>> found_{};       // with the call id; empty for carried ones
};

}  // namespace detail

/// Skills that tools loaded in the messages at `indices` and those that earlier summaries carry, oldest first. Failed
/// calls, unreadable arguments and results that were cut or cleared are passed over.
template <AgentMessage M>
[[nodiscard]] std::vector<Skill> skills_in(MessageView<M> messages, const Outline& outline,
                                           std::span<const std::size_t> indices, std::string_view skill_tool) {
    detail::SkillCollector skills(skill_tool);
    for (const std::size_t i : indices) {
        if (outline[i].mark) skills.add_carried(*outline[i].mark);
    }
    for (const std::size_t i : indices) {
        std::size_t p = 0;
        message_traits<M>::for_each_part(
            messages[i], [&](const PartView& part) { skills.add_part(part, mark_of(outline[i], p++)); });
    }
    return skills.take();
}

}  // namespace whittle::inline v0
