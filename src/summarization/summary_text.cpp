#include "whittle/summarization/detail/summary_text.hpp"

#include "whittle/summary/detail/text.hpp"

#include <fmt/format.h>

#include <array>

namespace whittle::inline v0 {

namespace {

constexpr std::string_view user_tag = "all_user_messages";

/// One text in two languages.
struct Wording {
    std::string_view english;
    std::string_view chinese;

    [[nodiscard]] std::string_view in(Language language) const noexcept {
        return language == Language::chinese ? chinese : english;
    }
};

constexpr Wording preamble{
    "This is not a message from the user. The earlier part of this conversation was folded into the summary below to "
    "save room. A model wrote it: details may be lost or inexact.",
    "这不是用户发来的消息。为节省空间，本对话较早的部分已折叠为下面的摘要。摘要由模型撰写：细节可能丢失或不准确。"};
constexpr Wording preamble_by_rule{
    "This is not a message from the user. The earlier part of this conversation was folded into the summary below to "
    "save room. It was picked from that part word for word, by rule: much is left out.",
    "这不是用户发来的消息。为节省空间，本对话较早的部分已折叠为下面的摘要。摘要按规则逐字摘录：许多内容已省略。"};
constexpr Wording transcript{
    "The whole conversation up to here is recorded in {}. Look there for exact code, output or wording that the "
    "summary lacks.",
    "到此为止的完整对话记录在 {}。需要摘要中缺少的准确代码、输出或措辞时，请查阅该文件。"};
constexpr Wording stored{
    "The folded messages are stored as \"{}\". {} for exact code, output or wording that the summary lacks.",
    "折叠的消息保存在 \"{}\"。需要摘要中缺少的准确代码、输出或措辞时，{}。"};
constexpr Wording read_with{"Read them in parts with {}", "请用 {} 分段读取"};
constexpr Wording look_there{"Look there", "请在那里查阅"};
constexpr Wording continuation{
    "Go on with the current work from where it stopped, as if nothing had been folded: do not answer this message, do "
    "not repeat the summary, and ask nothing that it answers.",
    "请从中断处继续当前的工作，就像没有折叠过一样：不要回复这条消息，不要复述摘要，也不要询问摘要中已有答案的问题。"};
constexpr Wording later{
    "The record goes on from what earlier summaries say, which stay in front of yours. Write about this record alone.",
    "这段记录接在更早的摘要之后，那些摘要会保留在你的摘要前面。只写这段记录的内容。"};
constexpr Wording not_from_user{"This is not a message from the user. Earlier messages were folded into a summary.",
                                "这不是用户发来的消息。较早的消息已折叠为摘要。"};
constexpr Wording left_out{"({} earlier user message(s) left out for lack of room)",
                           "（因篇幅所限，省略了 {} 条更早的用户消息）"};

}  // namespace

std::string join_sections(std::span<const std::string> sections) {
    std::string text;
    for (const std::string& section : sections) {
        if (section.empty()) continue;
        if (!text.empty()) text += "\n\n";
        text += section;
    }
    return text;
}

std::string without_user_section(std::string_view summary) {
    const auto place = find_last_tag(summary, user_tag);
    if (!place) return std::string(summary);
    return fmt::format("{}{}", summary.substr(0, place->begin), summary.substr(place->end));
}

std::string user_section(const KeptUserMessages& messages, Language language) {
    std::string text = fmt::format("<{}>\n", user_tag);
    if (messages.left_out > 0) {
        text += fmt::format(fmt::runtime(left_out.in(language)), messages.left_out);
        text += '\n';
    }
    for (const std::string& message : messages.texts) text += fmt::format("- {}\n", escape_tags(message));
    return text + fmt::format("</{}>", user_tag);
}

namespace {

/// The summary with the user's own words; these may be in no other place.
std::string with_user_messages(std::string_view summary, const KeptUserMessages* messages, Language language) {
    if (messages == nullptr || messages->texts.empty()) return std::string(summary);
    const std::string section = user_section(*messages, language);
    const auto place = find_last_tag(summary, user_tag);
    if (!place) return join_sections(std::array{std::string(summary), section});
    return fmt::format("{}{}{}", summary.substr(0, place->begin), section, summary.substr(place->end));
}

std::string where_folded(const SummaryParts& parts, Language language) {
    if (parts.stored_as.empty()) return {};
    const std::string how = parts.reader.empty() ? std::string(look_there.in(language))
                                                 : fmt::format(fmt::runtime(read_with.in(language)), parts.reader);
    return fmt::format(fmt::runtime(stored.in(language)), fmt::join(parts.stored_as, "\", \""), how);
}

}  // namespace

std::string compose_summary(const SummaryParts& parts, Language language) {
    const Wording& first = parts.is_by_rule ? preamble_by_rule : preamble;
    std::string where;
    if (!parts.transcript_file_path.empty())
        where = fmt::format(fmt::runtime(transcript.in(language)), parts.transcript_file_path);
    // One by rule ends in a list of its own.
    std::string summary(parts.summary);
    std::string facts;
    std::string& listed = parts.is_by_rule ? summary : facts;
    listed = with_facts(std::move(listed), parts.facts, language);
    return join_sections(std::array{std::string(first.in(language)),
                                    with_user_messages(summary, parts.user_messages, language), std::string(parts.work),
                                    std::move(facts), std::move(where), where_folded(parts, language),
                                    std::string(parts.ends_in_order ? continuation.in(language) : std::string_view{})});
}

std::string_view later_part(Language language) noexcept { return later.in(language); }

std::string continue_text(Language language) {
    return fmt::format("{} {}", not_from_user.in(language), continuation.in(language));
}

}  // namespace whittle::inline v0
