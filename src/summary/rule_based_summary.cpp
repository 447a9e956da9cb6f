#include "whittle/summary/detail/rule_based_summary.hpp"

#include "text_shape.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "work_collector.hpp"
#include "work_words.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"
#include "whittle/summary/detail/facts.hpp"
#include "whittle/summary/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

enum Section : std::size_t { earlier, requests, plan, findings, files, commands, errors, stored, calls, results };

/// A section's heading, and its part of the room; what one does not need goes to those behind it.
struct SectionInfo {
    std::string_view english;
    std::string_view chinese;
    double share;
};

constexpr std::array<SectionInfo, 10> section_infos{{
    {"Earlier summary:", "更早的摘要：", 0.1},
    {"Asked by the user:", "用户的要求：", 0.1},
    {plan_heading.english, plan_heading.chinese, 0.05},
    {"Found and decided:", "发现与决定：", 0.15},
    {used_files_heading.english, used_files_heading.chinese, 0.2},
    {"Commands:", "命令：", 0.05},
    {"Last errors:", "最近的错误：", 0.05},
    {"Stored, and under which key:", "已存储的内容及其键：", 0.05},
    {"Other calls, with the newest arguments:", "其他调用（附最近的参数）：", 0.1},
    {"How their newest results end:", "其最近结果的结尾：", 0.05},
}};

constexpr std::string_view title_in_english = "Written without a model, word for word from the conversation.";
constexpr std::string_view title_in_chinese = "未使用模型，逐字摘自对话。";

std::string_view in_language(Language language, std::string_view english, std::string_view chinese) {
    return language == Language::chinese ? chinese : english;
}

/// Words in sentences that say what was found, decided or is next.
constexpr std::array<std::string_view, 34> words_that_tell{
    "because",   "root cause", "the problem", "the issue",  "the bug", "decid",  "instead",
    "turns out", "the fix",    "fixed",       "found",      "i'll",    "i will", "need to",
    "next",      "remaining",  "todo",        "the reason", "works",   "passes", "fails",
    "failing",   "complete",   "implement",   "should",     "must",    "因为",   "决定",
    "问题",      "修复",       "接下来",      "计划",       "原因",    "完成"};

constexpr std::array<std::string_view, 9> words_of_errors{"error",  "exception", "traceback", "failed", "fatal",
                                                          "panic:", "not found", "denied",    "错误"};

constexpr std::array<std::string_view, 4> words_of_success{"0 failed", "0 errors", "no error", "without error"};

template <typename Visit>
void for_each_line(std::string_view text, Visit&& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

constexpr std::size_t longest_line = 300;

/// Calls of one tool that say nothing of files, commands or plans: clicks, searches, queries.
struct ToolUse {
    std::string tool{};
    std::int64_t calls = 0;
    std::string newest{};  ///< the newest arguments, as a line; empty: there were none
};

constexpr std::string_view arguments_mark = ", last with ";

std::string without_arguments(const ToolUse& use) {
    return fmt::format("{}: {} call{}", use.tool, use.calls, use.calls == 1 ? "" : "s");
}

std::string line_of_use(const ToolUse& use) {
    std::string text = without_arguments(use);
    if (!use.newest.empty()) text.append(arguments_mark).append(use.newest);
    return text;
}

/// Of a line as `line_of_use` writes it.
std::optional<ToolUse> read_tool_use(std::string_view line) {
    const std::size_t mark = std::min(line.find(arguments_mark), line.size());
    const std::string_view head = line.substr(0, mark);
    const std::size_t colon = head.rfind(": ");
    const std::size_t word = head.rfind(" call");
    if (colon == head.npos || word == head.npos || word <= colon + 2) return std::nullopt;
    const std::string_view number = head.substr(colon + 2, word - colon - 2);
    if (number.size() > 15 || !std::ranges::all_of(number, is_digit)) return std::nullopt;
    ToolUse use{.tool = std::string(head.substr(0, colon))};
    for (const char digit : number) use.calls = 10 * use.calls + (digit - '0');
    if (mark < line.size()) use.newest = line.substr(mark + arguments_mark.size());
    return use;
}

/// The last words of a text, as a line.
std::string end_of(std::string_view text) {
    constexpr std::size_t most = 160;
    constexpr std::size_t looked_at = 1'000;
    const std::string line = to_line(grapheme_suffix(text, looked_at), 2 * looked_at);
    return line.size() <= most ? line : fmt::format("...{}", grapheme_suffix(line, most));
}

/// Collects in order of the messages; each section has the oldest in front.
class RuleBasedSummary {
public:
    RuleBasedSummary(VisitParts visit_parts, const Outline& outline, const RuleBasedSummaryConfig& config)
        : visit_parts_(visit_parts), outline_(outline), config_(config) {}

    void add(std::size_t message);
    [[nodiscard]] std::string text(const FactCollector& facts, const TokenCounter& counter, Language language);

private:
    void add_part(const MessageInfo& info, std::size_t part, const PartView& view);
    void add_summary(std::string_view text, const Provenance& mark);
    void add_lines_by_rule(std::string_view text, bool has_work);
    void add_own_line(std::size_t section, std::string_view line, WorkState& work);
    void add_call(const PartView& call, const PartInfo& info);
    void add_use(ToolUse use);
    void add_result(const PartView& result, const PartInfo& info);
    void add_error(const PartView& result);
    void add_findings(std::string_view text);
    void add_line(Section section, std::string line);
    void add_work();

    VisitParts visit_parts_;
    const Outline& outline_;
    const RuleBasedSummaryConfig& config_;
    std::array<std::vector<std::string>, section_infos.size()> lines_{};
    WorkCollector work_{config_.work};
    std::vector<ToolUse> uses_{};                // those used last at the end
    std::unordered_set<std::string> counted_{};  // objects of the calls that `uses_` counts
};

void RuleBasedSummary::add(std::size_t message) {
    const MessageInfo& info = outline_[message];
    if (info.mark && !info.mark->work_state.empty()) work_.add_carried(work_from_note(info.mark->work_state));
    std::size_t part = 0;
    visit_parts_(message, [&](const PartView& view) { add_part(info, part++, view); });
}

void RuleBasedSummary::add_part(const MessageInfo& info, std::size_t part, const PartView& view) {
    const Mark& mark = mark_of(info, part);
    if (origin_of(mark) == Origin::summary) return add_summary(view.text, *mark);
    if (mark && view.kind == PartKind::tool_result) {
        for (const std::string& key : mark->stored_keys)
            add_line(stored,
                     to_line(fmt::format("{}: {}", std::string_view(info.parts[part].tool), key), 2 * longest_line));
    }
    if (origin_of(mark) != Origin::original) return;
    if (view.kind == PartKind::tool_call) return add_call(view, info.parts[part]);
    if (view.kind == PartKind::tool_result) return add_result(view, info.parts[part]);
    if (view.kind != PartKind::text) return;
    if (info.role == Role::assistant) add_findings(view.text);
    if (config_.with_user_messages && is_original_user_message(info))
        add_line(requests, to_line(view.text, 2 * longest_line));
}

/// The lines of a summary by rule behind its title, without what stands behind it.
std::string_view lines_by_rule(std::string_view text) {
    for (const std::string_view title : {title_in_english, title_in_chinese}) {
        const std::size_t begin = text.find(title);
        if (begin != text.npos) text = text.substr(begin + title.size());
    }
    return text.substr(0, text.find("\n\n"));
}

/// One of ours goes on line by line, one of a model by its beginning.
void RuleBasedSummary::add_summary(std::string_view text, const Provenance& mark) {
    constexpr std::size_t most = 4'000;
    if (mark.reason == rule_based_summary_reason)
        return add_lines_by_rule(lines_by_rule(text), !mark.work_state.empty());
    for_each_line(grapheme_prefix(text, most), [&](std::string_view line) {
        if (!is_blank(line)) add_line(earlier, to_line(line, longest_line));
    });
}

/// `has_work`: plan and files came as a note.
void RuleBasedSummary::add_lines_by_rule(std::string_view text, bool has_work) {
    std::size_t section = section_infos.size();
    WorkState work;
    for_each_line(text, [&](std::string_view line) {
        const auto head = std::ranges::find_if(
            section_infos, [&](const SectionInfo& info) { return line == info.english || line == info.chinese; });
        if (head != section_infos.end()) {
            section = static_cast<std::size_t>(head - section_infos.begin());
        } else if (line.starts_with("- ") && section < section_infos.size()) {
            add_own_line(section, line.substr(2), work);
        }
    });
    if (!has_work) work_.add_carried(work);
}

void RuleBasedSummary::add_own_line(std::size_t section, std::string_view line, WorkState& work) {
    if (section == plan) {
        if (!work.plan) work.plan.emplace();
        work.plan->emplace_back(line);
    } else if (section == files) {
        work.files.push_back(file_from_text(line));
    } else if (section == calls) {
        if (auto use = read_tool_use(line)) add_use(*std::move(use));
    } else {
        add_line(static_cast<Section>(section), std::string(line));
    }
}

void RuleBasedSummary::add_call(const PartView& call, const PartInfo& info) {
    const CallNotes notes = notes_of_call(call.tool, call.text);
    work_.add_call(call, info, notes);
    if (!notes.command.empty()) add_line(commands, to_line(notes.command, longest_line));
    if (!notes.command.empty() || !notes.files.empty() || notes.is_plan) return;
    constexpr std::size_t longest_tool = 80;
    constexpr std::size_t longest_arguments = 200;
    std::string arguments = to_line(call.text, longest_arguments);
    if (arguments == "{}" || arguments == "null") arguments.clear();
    add_use({to_line(call.tool, longest_tool), 1, std::move(arguments)});
    if (!info.key_safe_call_id.empty()) counted_.insert(info.key_safe_call_id.str());
}

/// Moves to the end; what was called without arguments keeps those of an earlier call.
void RuleBasedSummary::add_use(ToolUse use) {
    constexpr std::size_t most_tools = 200;
    const auto known = std::ranges::find(uses_, use.tool, &ToolUse::tool);
    if (known != uses_.end()) {
        use.calls = add_saturating(use.calls, known->calls);
        if (use.newest.empty()) use.newest = std::move(known->newest);
        uses_.erase(known);
    } else if (uses_.size() == most_tools) {
        uses_.erase(uses_.begin());
    }
    uses_.push_back(std::move(use));
}

void RuleBasedSummary::add_result(const PartView& result, const PartInfo& info) {
    add_error(result);
    if (counted_.contains(info.key_safe_call_id.str()) && !is_blank(result.text)) {
        const std::string end = end_of(result.text);
        add_line(results, to_line(fmt::format("{}: {}", std::string_view(info.tool), end), longest_line));
    }
}

/// The last line of a failed result, or of one that speaks of an error at its end.
void RuleBasedSummary::add_error(const PartView& result) {
    constexpr std::size_t looked_at = 2'000;
    std::string_view telling_line;
    std::string_view last;
    for_each_line(grapheme_suffix(result.text, looked_at), [&](std::string_view line) {
        if (is_blank(line)) return;
        last = line;
        const std::string lower = ascii_lower(line);
        const bool tells = holds_any(lower, words_of_errors) && !holds_any(lower, words_of_success);
        if (line.size() <= longest_line && tells) telling_line = line;
    });
    if (!result.is_error && telling_line.data() != last.data()) return;
    const std::string_view line = telling_line.empty() ? last : telling_line;
    if (!line.empty()) add_line(errors, to_line(line, longest_line));
}

/// Lines that tell something, and the last one of a text.
void RuleBasedSummary::add_findings(std::string_view text) {
    std::string_view last;
    for_each_line(text, [&](std::string_view line) {
        if (is_blank(line)) return;
        if (!last.empty() && holds_any(ascii_lower(last), words_that_tell))
            add_line(findings, to_line(last, longest_line));
        last = line;
    });
    if (!last.empty()) add_line(findings, to_line(last, longest_line));
}

/// What was said before moves to the end.
void RuleBasedSummary::add_line(Section section, std::string line) {
    if (line.empty()) return;
    std::vector<std::string>& lines = lines_[section];
    constexpr std::size_t looked_back = 50;
    const auto recent = lines.end() - static_cast<std::ptrdiff_t>(std::min(looked_back, lines.size()));
    const auto known = std::find(recent, lines.end(), line);
    if (known != lines.end()) lines.erase(known);
    lines.push_back(std::move(line));
}

void RuleBasedSummary::add_work() {
    const WorkState work = work_.take();
    if (work.plan && config_.work.plan_tokens > 0) {
        for (const std::string& item : *work.plan) add_line(plan, to_line(item, longest_line));
    }
    for (const FileUse& file : config_.work.file_list_tokens > 0 ? work.files : std::vector<FileUse>{})
        lines_[files].push_back(whittle::to_text(file));
    for (const ToolUse& use : uses_) lines_[calls].push_back(line_of_use(use));
}

std::string RuleBasedSummary::text(const FactCollector& facts, const TokenCounter& counter, Language language) {
    add_work();
    std::string text(in_language(language, title_in_english, title_in_chinese));
    if (counter.count(text) > config_.max_tokens) return {};
    std::int64_t units = counter.measure_units(text);
    double part = 0;  // of the room, up to here
    const auto has_room = [&](std::int64_t more) {
        return counter.to_tokens(add_saturating(units, more)) <=
               to_int64(part * static_cast<double>(config_.max_tokens));
    };
    for (std::size_t s = 0; s < section_infos.size(); ++s) {
        part += section_infos[s].share;
        std::vector<std::string>& lines = lines_[s];
        const std::string head =
            fmt::format("\n{}", in_language(language, section_infos[s].english, section_infos[s].chinese));
        std::int64_t more = counter.measure_units(head);
        std::size_t first = lines.size();
        for (; first > 0; --first) {
            std::int64_t line = counter.measure_units("\n- " + lines[first - 1]);
            if (s == calls && !has_room(add_saturating(more, line))) {  // how often is worth more than with what
                lines[first - 1] = without_arguments(uses_[first - 1]);
                line = counter.measure_units("\n- " + lines[first - 1]);
            }
            if (!has_room(add_saturating(more, line))) break;
            more = add_saturating(more, line);
        }
        if (first == lines.size()) continue;
        units = add_saturating(units, more);
        text += head;
        for (std::size_t i = first; i < lines.size(); ++i) text.append("\n- ").append(lines[i]);
    }
    const std::int64_t rest = config_.max_tokens - counter.count(text) - 1;
    const std::vector<RetainedFact> names = facts.missing_in(text, rest, counter, language);
    return with_facts(std::move(text), names, language);
}

}  // namespace

std::string rule_based_summary(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                               const RuleBasedSummaryConfig& config, const TokenCounter& counter, Language language) {
    FactCollector facts;
    collect_facts(visit_parts, outline, fold, facts);
    RuleBasedSummary summary(visit_parts, outline, config);
    for (const std::size_t message : fold) summary.add(message);
    return summary.text(facts, counter, language);
}

}  // namespace whittle::inline v0::detail
