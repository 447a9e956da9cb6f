#include "whittle/summary/detail/work_state.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/json.hpp"
#include "work_words.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"
#include "whittle/summary/detail/chunk_planner.hpp"
#include "whittle/summary/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace whittle::inline v0 {

namespace {

using detail::WorkHeading;

constexpr WorkHeading findings_heading{"Reports of those who were sent off, word for word:",
                                       "受派代理的报告（逐字）："};
constexpr WorkHeading items_left_out{"({} earlier left out)", "（省略较早的 {} 条）"};
constexpr WorkHeading cut_off{"[... the rest is left out]", "[……其余省略]"};

constexpr std::size_t longest_item = 1'000;

std::string to_item(std::string_view text) { return detail::to_line(text, longest_item); }

/// Blocks under a heading: the newest that fit `max_tokens`, which stand at the end.
class WorkSection {
public:
    WorkSection(std::string_view heading, std::int64_t max_tokens, const TokenCounter& counter, Language language)
        : heading_(heading),
          note_(items_left_out.in(language)),
          counter_(counter),
          note_tokens_(counter.count(note_) + 1),
          left_(sub_saturating(max_tokens, counter.count(heading) + note_tokens_ + spare)) {}

    [[nodiscard]] std::int64_t left() const noexcept { return left_; }
    /// From the newest to the oldest; an empty one is left out. Nothing is shown behind what is left out.
    void add(std::string block) {
        const std::int64_t tokens = add_saturating(counter_.count(block), 1);
        is_full_ = is_full_ || block.empty() || tokens > left_;
        if (is_full_) {
            ++missing_;
            return;
        }
        left_ -= tokens;
        blocks_.push_back(std::move(block));
    }
    /// From the newest to the oldest. Where all fit, no room is kept for a word on what is left out.
    void add_all(std::vector<std::string> blocks) {
        std::int64_t tokens = 0;
        for (const std::string& block : blocks) tokens = add_saturating(tokens, counter_.count(block) + 1);
        if (left_ > 0 && tokens <= left_ + note_tokens_) left_ = tokens;
        for (std::string& block : blocks) add(std::move(block));
    }
    [[nodiscard]] std::string text() const {
        if (blocks_.empty()) return {};
        std::string text(heading_);
        if (missing_ > 0) text += "\n" + fmt::format(fmt::runtime(note_), missing_);
        for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) text.append("\n").append(*block);
        return text;
    }

private:
    static constexpr std::int64_t spare = 4;  // counters round each piece

    std::string_view heading_;
    std::string_view note_;
    const TokenCounter& counter_;
    std::int64_t note_tokens_;
    std::int64_t left_;
    bool is_full_ = false;
    std::size_t missing_ = 0;
    std::vector<std::string> blocks_{};
};

/// A finding as a block of lines of at most `max_tokens`; its head where it is longer. Empty: not even that fits.
std::string to_block(const Finding& finding, std::int64_t max_tokens, const TokenCounter& counter, Language language) {
    std::string head = "- " + to_item(finding.tool);
    if (!finding.task.empty()) head += ": " + to_item(finding.task);
    const std::string text = escape_tags(to_valid_utf8(finding.text));
    std::string whole = head + "\n" + text;
    if (counter.count(whole) <= max_tokens) return whole;
    const std::string_view mark = cut_off.in(language);
    const auto fits = [&](std::string_view part) {
        return counter.count(fmt::format("{}\n{}\n{}", head, part, mark)) <= max_tokens;
    };
    const auto guess = static_cast<std::size_t>(std::clamp<std::int64_t>(max_tokens, 1, 1'000'000)) * 3;
    const std::string_view part = longest_prefix(text, guess, fits);
    return part.empty() ? std::string() : fmt::format("{}\n{}\n{}", head, part, mark);
}

std::string findings_text(const WorkState& state, const PreserveWorkConfig& config, std::int64_t max_tokens,
                          const TokenCounter& counter, Language language) {
    WorkSection section(findings_heading.in(language), std::min(config.subagent_reports_tokens, max_tokens), counter,
                        language);
    for (auto finding = state.findings.rbegin(); finding != state.findings.rend(); ++finding) {
        const std::int64_t most = std::min(config.max_tokens_per_subagent_report, sub_saturating(section.left(), 1));
        section.add(most > 0 ? to_block(*finding, most, counter, language) : std::string());
    }
    return section.text();
}

}  // namespace

std::string to_text(const FileUse& file) {
    std::string what;
    const auto say = [&](std::string_view text) { what.append(what.empty() ? "" : ", ").append(text); };
    if (file.writes > 0) say(file.writes == 1 ? "written" : fmt::format("written {} times", file.writes));
    if (file.is_read_whole) say("read");
    for (const std::string& range : file.ranges) say("lines " + range);
    return escape_tags(fmt::format("{} ({})", file.path, what.empty() ? "named" : what));
}

namespace {

constexpr std::string_view written_word = "written";

/// "written 3 times" -> 3
int writes_in(std::string_view said) {
    int writes = 0;
    for (const char c : said.substr(written_word.size())) {
        if (detail::is_digit(c) && writes < 100'000) writes = 10 * writes + (c - '0');
    }
    return std::max(1, writes);
}

}  // namespace

FileUse file_from_text(std::string_view line) {
    const std::size_t open = line.ends_with(')') ? line.rfind(" (") : line.npos;
    if (open == line.npos) return {.path = std::string(line)};
    FileUse file{.path = std::string(line.substr(0, open))};
    std::string_view rest = line.substr(open + 2, line.size() - open - 3);
    constexpr std::string_view lines = "lines ";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(", "), rest.size());
        const std::string_view said = rest.substr(0, end);
        if (said.starts_with(written_word)) file.writes = writes_in(said);
        if (said == "read") file.is_read_whole = true;
        if (said.starts_with(lines)) file.ranges.emplace_back(said.substr(lines.size()));
        rest.remove_prefix(std::min(rest.size(), end + 2));
    }
    return file;
}

std::string to_text(const WorkState& state, const PreserveWorkConfig& config, std::int64_t max_tokens,
                    const TokenCounter& counter, Language language) {
    std::string text;
    std::int64_t left = max_tokens;
    const auto append = [&](const std::string& section) {
        if (section.empty()) return;
        left = sub_saturating(left, add_saturating(counter.count(section), 1));
        text.append(text.empty() ? "" : "\n").append(section);
    };
    WorkSection plan(detail::plan_heading.in(language), std::min(config.plan_tokens, left), counter, language);
    std::vector<std::string> items;
    const std::vector<std::string> planned = state.plan.value_or(std::vector<std::string>{});
    for (auto item = planned.rbegin(); item != planned.rend(); ++item) items.push_back("- " + to_item(*item));
    plan.add_all(std::move(items));
    append(plan.text());
    append(findings_text(state, config, left, counter, language));
    WorkSection files(detail::used_files_heading.in(language), std::min(config.file_list_tokens, left), counter,
                      language);
    std::vector<std::string> used;
    for (auto file = state.files.rbegin(); file != state.files.rend(); ++file)
        used.push_back("- " + to_item(to_text(*file)));
    files.add_all(std::move(used));
    append(files.text());
    return text;
}

std::string to_note(const WorkState& state) {
    if (state.empty()) return {};
    detail::JsonWriter note;
    const auto list = [&](const auto& items, const auto& write) {
        note.open_array();
        for (const auto& item : items) write(item);
        note.close_array();
    };
    const auto write_text = [&](const std::string& item) { note.value(item); };
    note.open_array();
    list(state.plan.value_or(std::vector<std::string>{}), write_text);
    note.value(state.plan ? 1 : 0);
    list(state.files, [&](const FileUse& file) {
        note.open_array();
        note.value(file.path);
        note.value(file.writes);
        note.value(file.is_read_whole ? 1 : 0);
        list(file.ranges, write_text);
        note.close_array();
    });
    list(state.findings, [&](const Finding& finding) {
        list(std::array{finding.tool, finding.task, finding.text}, write_text);
    });
    note.close_array();
    return note.take();
}

namespace {

using Json = detail::JsonValue;

std::vector<std::string> read_texts(const Json& list) {
    std::vector<std::string> texts;
    for (const Json& item : list.values()) {
        if (const std::string* text = item.string()) texts.push_back(*text);
    }
    return texts;
}

std::optional<FileUse> file_of(const Json& json) {
    if (!json.is_array() || json.size() != 4) return std::nullopt;
    const std::vector<Json> fields = json.values();
    const std::string* path = fields[0].string();
    if (path == nullptr) return std::nullopt;
    const std::int64_t writes = std::clamp<std::int64_t>(fields[1].integer().value_or(0), 0, 1'000'000);
    return FileUse{*path, static_cast<int>(writes), fields[2].integer() == 1, read_texts(fields[3])};
}

}  // namespace

WorkState work_from_note(std::string_view note) {
    WorkState state;
    const Json json = detail::parse_json(note);
    if (!json.is_array() || json.size() != 4) return state;
    const std::vector<Json> fields = json.values();
    if (fields[1].integer() == 1) state.plan = read_texts(fields[0]);
    for (const Json& item : fields[2].values()) {
        if (auto file = file_of(item)) state.files.push_back(*std::move(file));
    }
    for (const Json& item : fields[3].values()) {
        std::vector<std::string> texts = read_texts(item);
        if (texts.size() == 3)
            state.findings.push_back({std::move(texts[0]), std::move(texts[1]), std::move(texts[2])});
    }
    return state;
}

}  // namespace whittle::inline v0
