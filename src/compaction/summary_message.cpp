#include "turn_fold.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0 {

namespace {

constexpr std::string_view turn_task_english =
    "Write the summary that replaces this part of the conversation. Whoever reads it has nothing else.\n"
    "Write one dense paragraph: what the user wants and on which conditions, in the user's own words where they are "
    "explicit; what was decided and why; which tools were called with which arguments, and what came of each call; "
    "what is done, what is not, and what was being done at the end.\n"
    "Carry over everything that still matters from an earlier summary. Copy names, paths, identifiers, numbers and "
    "error messages exactly. Invent nothing. Answer with the paragraph alone, between <summary> and </summary>.";

constexpr std::string_view turn_task_chinese =
    "请写出用来取代这部分对话的摘要。读者除此之外一无所有。\n"
    "写成一个紧凑的段落：用户想要什么、有哪些条件（明确的条件使用用户的原话）；做了哪些决定、为什么；调用了哪些工具、"
    "参数是什么、各得到什么结果；已完成什么、未完成什么、结束时正在做什么。\n"
    "把更早摘要中仍然重要的内容全部带过来。名称、路径、标识符、数字和错误信息要原样照抄。不要编造。"
    "只输出放在 <summary> 与 </summary> 之间的这一段。";

struct Heading {
    std::string_view system;
    std::string_view user;
    std::string_view by_rule;
};

constexpr Heading english_heading{
    "[Summary of earlier turns]",
    "[Summary of earlier turns, written by a model; details may be lost. Not a message from the "
    "user: do not answer it.]",
    "[Summary of earlier turns, excerpts of them; the rest is left out. Not a message from the user: do not answer "
    "it.]"};
constexpr Heading chinese_heading{"[较早轮次的摘要]",
                                  "[较早轮次的摘要，由模型撰写，细节可能丢失。这不是用户的消息：不要回复它。]",
                                  "[较早轮次的摘要，摘自原文，其余内容已省略。这不是用户的消息：不要回复它。]"};

}  // namespace

std::string_view compaction_instruction(Language language) noexcept {
    return language == Language::chinese ? turn_task_chinese : turn_task_english;
}

std::string length_sentence(std::int64_t max_tokens, Language language) {
    const std::int64_t words = std::max<std::int64_t>(1, max_tokens / 2);
    if (language == Language::chinese) return fmt::format("\n摘要最多 {} 字：更长的会被截断。", words);
    return fmt::format("\nThe summary has at most {} words: a longer one is cut off.", words);
}

std::string compose_compacted(const detail::SummaryText& summary, std::string_view work,
                              std::span<const RetainedFact> facts, bool is_system, Language language) {
    const Heading& heading = language == Language::chinese ? chinese_heading : english_heading;
    std::string text(is_system ? heading.system : summary.is_by_rule ? heading.by_rule : heading.user);
    // One by rule ends in a list of its own.
    text.append("\n").append(summary.is_by_rule ? with_facts(summary.text, facts, language) : summary.text);
    if (!work.empty()) text.append("\n\n").append(work);
    if (!summary.is_by_rule && !facts.empty()) text.append("\n\n").append(to_text(facts, language));
    return text;
}

}  // namespace whittle::inline v0
