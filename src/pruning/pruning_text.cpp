// What stands in place of a pruned result.
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0 {

namespace {

constexpr std::size_t shown_bytes = 80;  // of the arguments and of the first line

/// The start of `text` on one line: valid UTF-8, without control characters.
std::string shortened(std::string_view text) {
    const std::string_view start = grapheme_prefix(text, shown_bytes);
    std::string shown = to_valid_utf8(start);
    std::ranges::replace_if(
        shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return shown + (start.size() < text.size() ? "..." : "");
}

/// The first line that is not blank.
std::string_view first_line(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n\v\f");
    if (begin == std::string_view::npos) return {};
    const std::string_view rest = text.substr(begin);
    return rest.substr(0, rest.find_first_of("\r\n"));
}

std::string in_chinese(const PrunedText& pruned, const PruningConfig& config) {
    std::string text = fmt::format("[旧的 {} 结果已移出", pruned.tool.empty() ? "tool" : pruned.tool);
    if (!pruned.arguments.empty() && pruned.arguments != "{}") text += "：" + shortened(pruned.arguments);
    if (pruned.bytes) text += fmt::format("，{} 字节，{} 行", *pruned.bytes, count_lines(pruned.text));
    const std::string_view line = config.partial ? std::string_view() : first_line(pruned.text);
    if (!line.empty()) text += fmt::format("，开头：\"{}\"", shortened(line));
    return text + way_back(pruned.location, pruned.reader, Language::chinese) + "]";
}

std::string in_english(const PrunedText& pruned, const PruningConfig& config) {
    std::string text = fmt::format("[Old {} result pruned", pruned.tool.empty() ? "tool" : pruned.tool);
    if (!pruned.arguments.empty() && pruned.arguments != "{}") text += ": " + shortened(pruned.arguments);
    if (pruned.bytes) text += fmt::format("; {} bytes, {} lines", *pruned.bytes, count_lines(pruned.text));
    const std::string_view line = config.partial ? std::string_view() : first_line(pruned.text);
    if (!line.empty()) text += fmt::format("; starts \"{}\"", shortened(line));
    return text + way_back(pruned.location, pruned.reader, Language::english) + "]";
}

/// The user's own placeholder; one that takes the place of a reference names the object.
std::string plain(const PrunedText& pruned, const PruningConfig& config, Language language, bool names_object) {
    if (!names_object || pruned.location.empty()) return config.placeholder;
    const std::string_view full = language == Language::chinese ? "全文：" : "Full text: ";
    return fmt::format("{} [{}{}]", config.placeholder, full, pruned.location);
}

}  // namespace

std::string text_in_place(const PrunedText& pruned, const PruningConfig& config, Language language, bool names_object) {
    const auto kept = static_cast<std::uint64_t>(config.head_bytes) + static_cast<std::uint64_t>(config.tail_bytes);
    if (config.partial && pruned.text.size() <= kept) return std::string(pruned.text);
    std::string note = !config.placeholder.empty()     ? plain(pruned, config, language, names_object)
                       : language == Language::chinese ? in_chinese(pruned, config)
                                                       : in_english(pruned, config);
    if (!config.partial) return note;
    std::string_view head = grapheme_prefix(pruned.text, static_cast<std::size_t>(config.head_bytes));
    std::string_view tail = grapheme_suffix(pruned.text, static_cast<std::size_t>(config.tail_bytes));
    if (config.head_lines > 0) head = first_lines(head, config.head_lines);
    if (config.tail_lines > 0) tail = last_lines(tail, config.tail_lines);
    return fmt::format("{}{}{}{}{}", head, head.empty() ? "" : "\n", note, tail.empty() ? "" : "\n", tail);
}

std::string_view further_text_in_place(Language language) noexcept {
    return language == Language::chinese ? "[已移出]" : "[pruned]";
}

}  // namespace whittle::inline v0
