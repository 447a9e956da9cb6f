#include "whittle/summary/detail/sections.hpp"

#include "text_shape.hpp"

#include <fmt/format.h>

#include <array>

namespace whittle::inline v0 {

namespace {

// Those of `summary_instruction`, but for the last: a next step need not be known.
constexpr std::array<std::string_view, 8> english_sections{
    "Primary request and intent", "Key concepts",  "Files and code", "Errors and fixes", "Problem solving",
    "All user messages",          "Pending tasks", "Current work"};
constexpr std::array<std::string_view, 8> chinese_sections{"主要请求与意图", "关键概念",     "文件与代码", "错误与修复",
                                                           "问题解决",       "所有用户消息", "待办任务",   "当前工作"};

}  // namespace

std::span<const std::string_view> summary_sections(Language language) noexcept {
    return language == Language::chinese ? chinese_sections : english_sections;
}

std::vector<std::string> missing_sections(std::string_view summary, std::span<const std::string> required) {
    const std::string lower = detail::lowered(summary);
    std::vector<std::string> missing;
    for (const std::string& section : required) {
        if (lower.find(detail::lowered(section)) == std::string::npos) missing.push_back(section);
    }
    return missing;
}

std::string correction_text(std::span<const std::string> missing, Language language) {
    std::string list;
    for (const std::string& section : missing) list += fmt::format("\n- {}", section);
    if (language == Language::chinese)
        return fmt::format(
            "摘要缺少以下部分：{}\n请重新写出完整的摘要，包含所有部分；某部分没有内容时，写出标题并注明“无”。"
            "保留已写的一切，格式与之前相同。",
            list);
    return fmt::format(
        "The summary lacks these sections:{}\nWrite the whole summary again, with every section; where there is "
        "nothing "
        "to say, give the heading and \"none\". Keep everything that you wrote, in the same form as before.",
        list);
}

}  // namespace whittle::inline v0
