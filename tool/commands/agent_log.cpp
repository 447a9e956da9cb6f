#include "agent_log.hpp"

#include "joined_files.hpp"
#include "logs/detail/opencode_session.hpp"
#include "openclaw_database.hpp"
#include "opencode_database.hpp"
#include "output.hpp"
#include "shown.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

std::string damage_of(const logs::LogNotes& notes) {
    std::vector<std::string> lines;
    for (const logs::DamagedLine& line : notes.damaged_lines) lines.push_back(std::to_string(line.line));
    const bool are_all = static_cast<std::int64_t>(lines.size()) == notes.damaged;
    return fmt::format("{} damaged {} left out ({}{}; the first: {})", grouped(notes.damaged),
                       notes.damaged == 1 ? "line" : "lines", fmt::join(lines, ", "), are_all ? "" : ", ...",
                       shown(notes.damaged_lines.front().reason));
}

/// " (line 3, 7, ...)"; empty where they are not known.
std::string places_of_lines(const std::set<std::size_t>& lines) {
    constexpr std::size_t most = 5;
    std::vector<std::string> shown_lines;
    for (const std::size_t line : lines) {
        if (line != 0 && shown_lines.size() < most) shown_lines.push_back(std::to_string(line));
    }
    if (shown_lines.empty()) return "";
    return fmt::format(" (line {}{})", fmt::join(shown_lines, ", "), lines.size() > most ? ", ..." : "");
}

logs::Recognition recognise_text(InputBuffer& buffer) {
    constexpr std::size_t most = 64U << 20U;  // bytes; what tells may stand behind a member of megabytes
    constexpr std::size_t growth = 4;
    std::string_view start = buffer.start();
    for (std::size_t asked = InputBuffer::block_size;; asked *= growth) {
        if (asked > InputBuffer::block_size) start = buffer.start(asked);
        logs::Recognition recognised = logs::recognise_start(start);
        if (!recognised.wants_more || start.size() < asked || asked >= most) return recognised;
    }
}

/// The messages of a task may be empty or damaged, and what was billed whole.
bool is_task_by_next_file(const std::string& path) {
    const auto log = files_of_log(path);
    if (!log || log->paths.size() < 2) return false;
    try {
        InputBuffer next(log->paths[1]);
        return recognise_text(next).format == logs::Format::cline;
    } catch (const Error& error) {
        if (error.errc() == Errc::cancelled) throw;
        return false;
    }
}

}  // namespace

std::string list_of_kinds(const std::map<std::string, std::int64_t>& counts) {
    constexpr std::size_t most = 12;
    std::vector<std::pair<std::string, std::int64_t>> often(counts.begin(), counts.end());
    std::ranges::stable_sort(often, std::ranges::greater(), [](const auto& kind) { return kind.second; });
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min(most, often.size()); ++i)
        parts.push_back(fmt::format("{} {}", grouped(often[i].second), shown(often[i].first)));
    const std::string list = fmt::format("{}", fmt::join(parts, ", "));
    if (often.size() <= most) return list;
    return fmt::format("{} and {} more kinds", list, grouped(static_cast<std::int64_t>(often.size() - most)));
}

std::string text_of_notes(const logs::LogNotes& notes) {
    std::vector<std::string> parts;
    if (notes.damaged > 0) parts.push_back(damage_of(notes));
    if (notes.repaired > 0)
        parts.push_back(fmt::format("{} with half of a surrogate pair, or bytes that are no UTF-8, read as U+FFFD{}",
                                    numbered(notes.repaired, "record"), places_of_lines(notes.repaired_lines)));
    if (!notes.unknown.empty()) parts.push_back("unknown kinds of records: " + list_of_kinds(notes.unknown));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::optional<Shape> shape_of(logs::Format format, std::optional<Shape> given) {
    const auto is_anthropic = logs::holds_anthropic_messages(format);
    if (!is_anthropic) return given;
    return *is_anthropic ? Shape::anthropic : Shape::openai;
}

logs::Recognition recognise_log(const std::string& path, InputBuffer& buffer) {
    if (is_database(buffer.start())) {
        const bool is_openclaw = path != "-" && is_openclaw_database(path);
        return {.format = is_openclaw ? logs::Format::pi : logs::Format::opencode};
    }
    logs::Recognition recognised = recognise_text(buffer);
    if (!recognised.format && is_task_by_next_file(path)) recognised.format = logs::Format::cline;
    return recognised;
}

logs::LogNotes read_log_at(const std::string& path, InputBuffer& buffer, logs::Format format,
                           const TrajectoryOptions& options, bool bills_only,
                           FunctionRef<void(logs::Session&&)> visit) {
    logs::LogOptions log_options{.name = options.name,
                                 .limits = options.limits,
                                 .bills_only = bills_only,
                                 .check_cancelled = options.check_cancelled};
    const bool may_be_of_several = format == logs::Format::openhands_v1 || format == logs::Format::cline;
    if (auto log = may_be_of_several ? files_of_log(path) : std::nullopt) {
        JoinedFiles files(std::move(log->paths), {.max_bytes = options.limits.max_bytes});
        log_options.name = log->name;
        std::istream in(&files);
        logs::LogNotes notes = logs::read_log(in, format, log_options, visit);
        files.report_reasons(notes);
        return notes;
    }
    if (!is_database(buffer.start())) {
        std::istream in(&buffer);
        return logs::read_log(in, format, log_options, visit);
    }
    if (path == "-") throw Error(Errc::invalid_argument, "read stdin: expected a database as a file, found a stream");
    logs::LogNotes all;
    if (format == logs::Format::pi) {
        all += each_openclaw_session(path, options.limits, [&](OpenclawSession&& one) {
            std::istringstream in(std::move(one.records));
            log_options.name = one.id + ".jsonl";
            all += logs::read_log(in, format, log_options, [&](logs::Session&& session) {
                if (session.parent.empty()) session.parent = one.parent;
                visit(std::move(session));
            });
        });
        return all;
    }
    all += each_opencode_session(path, options.limits, bills_only, [&](const nlohmann::ordered_json& document) {
        all += logs::read_opencode_session(document, log_options, visit);
    });
    return all;
}

std::size_t read_agent_log(const std::string& path, InputBuffer& buffer, logs::Format format,
                           const TrajectoryOptions& options, FunctionRef<void(logs::Session&&)> visit) {
    const logs::LogNotes notes = read_log_at(path, buffer, format, options, false, visit);
    if (const std::string text = text_of_notes(notes); !text.empty())
        print_note(fmt::format("note: {}: {}: {}", options.name, logs::to_string(format), text));
    NewerVersions newer;
    newer.add(format, notes);
    if (const std::string text = newer.text(); !text.empty())
        print_note(fmt::format("note: {}: {}", options.name, text));
    return static_cast<std::size_t>(notes.sessions);
}

bool NewerVersions::ByNumbers::operator()(std::string_view a, std::string_view b) const noexcept {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto number_of = [&](std::string_view& text) {
        text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
        const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
        text.remove_prefix(digits.size());
        return std::pair(digits.size(), digits);
    };
    while (!a.empty() && !b.empty()) {
        if (is_digit(a[0]) && is_digit(b[0])) {
            const auto first = number_of(a);
            const auto second = number_of(b);
            if (first != second) return first < second;
        } else {
            if (a[0] != b[0]) return a[0] < b[0];
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    return a.size() < b.size();
}

void NewerVersions::add(logs::Format format, const logs::LogNotes& notes) {
    if (notes.newer.empty()) return;
    OfAgent& agent = agents_[logs::to_string(format)];
    ++agent.files;
    for (const std::string& version : notes.newer) agent.versions.insert(shown(version));
}

std::string NewerVersions::text() const {
    constexpr std::size_t most = 8;
    std::vector<std::string> parts;
    for (const auto& [name, agent] : agents_) {
        std::vector<std::string> named(agent.versions.begin(), agent.versions.end());
        if (named.size() > most) {
            named.erase(named.begin(), named.end() - static_cast<std::ptrdiff_t>(most));
            named.insert(named.begin(), "...");
        }
        parts.push_back(fmt::format("{} {} ({})", name, fmt::join(named, ", "),
                                    agent.files == 1 ? "1 file" : grouped(agent.files) + " files"));
    }
    return parts.empty() ? "" : fmt::format("written by versions newer than this reader: {}", fmt::join(parts, "; "));
}

void note_model(logs::Session& session) {
    const auto named = std::ranges::find_if(session.calls, [](const logs::Call& call) { return !call.model.empty(); });
    nlohmann::ordered_json& rest = session.recording.rest;
    if (named == session.calls.end() || !rest.is_object() || (rest.contains("meta") && !rest["meta"].is_object()))
        return;
    nlohmann::ordered_json& model = rest["meta"]["model"];
    if (model.is_null()) model = to_valid_utf8(named->model);
}

}  // namespace whittle::cli
