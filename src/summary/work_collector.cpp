#include "work_collector.hpp"

#include "text_shape.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t most_ranges = 4;     // of one file
constexpr std::size_t most_files = 500;    // the last used
constexpr std::size_t most_findings = 20;  // the newest
constexpr std::size_t longest_finding = 32'000;
constexpr std::size_t all_findings = 64'000;  // bytes: a note is carried in each summary
constexpr std::size_t longest_task = 200;

void add_range(FileUse& file, std::string range) {
    const auto known = std::ranges::find(file.ranges, range);
    if (known != file.ranges.end()) file.ranges.erase(known);
    if (file.ranges.size() == most_ranges) file.ranges.erase(file.ranges.begin());
    file.ranges.push_back(std::move(range));
}

/// What somebody was sent off for: the member that says it in short, else the first string.
std::string task_in(std::string_view arguments) {
    const JsonValue json = parse_json(arguments);
    const std::string* said = nullptr;
    for (const char* name : {"description", "title", "task", "prompt"}) {
        if (said == nullptr) said = json.find_string(name);
    }
    return said == nullptr ? std::string()
                           : std::string(grapheme_prefix(single_spaced(*said, longest_task), longest_task));
}

}  // namespace

WorkCollector::Used& WorkCollector::use(const std::string& path) {
    Used& used = files_[path];
    used.file.path = path;
    used.order = ++uses_;
    return used;
}

void WorkCollector::add_carried(const WorkState& state) {
    if (state.plan) plan_ = state.plan;
    for (const FileUse& file : state.files) {
        FileUse& known = use(file.path).file;
        known.writes += file.writes;
        known.is_read_whole |= file.is_read_whole;
        for (const std::string& range : file.ranges) add_range(known, range);
    }
    findings_.insert(findings_.end(), state.findings.begin(), state.findings.end());
}

void WorkCollector::touch(const FileTouch& touch) {
    FileUse& file = use(touch.path).file;
    file.writes += touch.is_written ? 1 : 0;
    file.is_read_whole |= touch.is_read && touch.range.empty();
    if (!touch.range.empty()) add_range(file, touch.range);
}

void WorkCollector::add_call(const PartView& call, const PartInfo& info, const CallNotes& notes) {
    if (notes.is_plan) plan_ = notes.plan;
    if (!notes.is_plan && matches_tool(config_.plan_tools, call.tool)) plan_ = std::vector{std::string(call.text)};
    for (const FileTouch& file : notes.files) touch(file);
    if (config_.subagent_reports_tokens > 0 && matches_tool(config_.subagent_tools, call.tool))
        tasks_[info.key_safe_call_id.str()] = task_in(call.text);
}

/// Results of several texts are one finding.
void WorkCollector::add_result(const PartView& result, const PartInfo& info) {
    const std::string_view tool = info.tool;
    const std::string_view name = info.key_safe_call_id;
    if (config_.subagent_reports_tokens <= 0 || result.is_error || is_blank(result.text)) return;
    if (!matches_tool(config_.subagent_tools, tool)) return;
    const std::string_view text = grapheme_prefix(result.text, longest_finding);
    if (!findings_.empty() && !name.empty() && newest_result_ == name) {
        std::string& whole = findings_.back().text;
        if (whole.size() + text.size() < longest_finding) whole.append("\n").append(text);
        return;
    }
    newest_result_ = name;
    const auto task = tasks_.find(newest_result_);
    findings_.push_back({std::string(tool), task == tasks_.end() ? std::string() : task->second, std::string(text)});
}

WorkState WorkCollector::take() {
    WorkState state{.plan = std::move(plan_)};
    std::vector<Used*> order;
    for (auto& [path, used] : files_) order.push_back(&used);
    std::ranges::sort(order, {}, &Used::order);
    const std::size_t first = order.size() - std::min(order.size(), most_files);
    for (std::size_t i = first; i < order.size(); ++i) state.files.push_back(std::move(order[i]->file));
    std::size_t oldest = findings_.size();
    std::size_t bytes = 0;
    while (oldest > 0 && findings_.size() - oldest < most_findings) {
        bytes += findings_[oldest - 1].text.size();
        if (bytes > all_findings) break;
        --oldest;
    }
    state.findings.assign(std::move_iterator(findings_.begin() + static_cast<std::ptrdiff_t>(oldest)),
                          std::move_iterator(findings_.end()));
    return state;
}

WorkState collect_work(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                       const PreserveWorkConfig& config) {
    WorkCollector work(config);
    for (const std::size_t i : fold) {
        const MessageInfo& info = outline[i];
        if (info.mark && !info.mark->work_state.empty()) work.add_carried(work_from_note(info.mark->work_state));
        std::size_t p = 0;
        visit_parts(i, [&](const PartView& part) {
            const std::size_t index = p++;
            if (index >= info.parts.size() || origin_of(mark_of(info, index)) != Origin::original) return;
            const PartInfo& known = info.parts[index];
            if (part.kind == PartKind::tool_call) work.add_call(part, known, notes_of_call(part.tool, part.text));
            if (part.kind == PartKind::tool_result) work.add_result(part, known);
        });
    }
    return work.take();
}

WorkOfFold work_of_fold(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                        const PreserveWorkConfig& config) {
    std::vector<std::size_t> staying;
    for (std::size_t i = 0, next = 0; i < outline.size(); ++i) {
        const bool is_folded = next < fold.size() && fold[next] == i;
        is_folded ? static_cast<void>(++next) : staying.push_back(i);
    }
    return {collect_work(visit_parts, outline, fold, config), collect_work(visit_parts, outline, staying, config)};
}

}  // namespace whittle::inline v0::detail
