#include "scan_input.hpp"

#include "agent_log.hpp"
#include "masked.hpp"
#include "opencode_database.hpp"
#include "options.hpp"
#include "read_sessions.hpp"
#include "scan_session.hpp"
#include "unknown_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <istream>
#include <string_view>
#include <utility>

namespace whittle::cli {
namespace {

SkippedFile of_no_known_form(const std::string& file, const logs::Recognition& recognised) {
    return {file, "JSON of no known form",
            recognised.keys.empty() ? "" : fmt::format("keys {}", fmt::join(recognised.keys, ", "))};
}

/// What is known before anything is read. What was only found in a folder may be anything.
std::optional<SkippedFile> why_without_session(const std::string& file, InputBuffer& buffer,
                                               const logs::Recognition& recognised, bool is_found) {
    const std::string_view start = buffer.start();
    const std::size_t first = start.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    const bool is_empty = first == std::string_view::npos;
    if (is_empty && !recognised.format) return SkippedFile{file, "empty", ""};
    if (is_database(start)) {
        if (recognised.format == logs::Format::pi) return std::nullopt;
        const auto tables = tables_of_other_program(file);
        if (!tables) return std::nullopt;
        return SkippedFile{file, "database of another program", fmt::format("tables {}", fmt::join(*tables, ", "))};
    }
    if (recognised.format || !is_found) return std::nullopt;
    if (start[first] != '{' && start[first] != '[') return SkippedFile{file, "no JSON", ""};
    const bool may_be_own = file.find(".jsonl") != std::string::npos;
    return may_be_own ? std::nullopt : std::optional(of_no_known_form(file, recognised));
}

/// Sessions in the library's own form. Returns how many.
std::int64_t read_own_sessions(InputBuffer& buffer, const logs::Recognition& recognised,
                               const TrajectoryOptions& options, bool is_found,
                               FunctionRef<void(logs::Session&&)> visit) {
    const UnknownFile unknown(recognised, buffer.start());
    std::istream in(&buffer);
    std::int64_t sessions = 0;
    try {
        (void)read_trajectories(in, options, [&](Trajectory<>&& session) {
            ++sessions;
            visit(as_logged(std::move(session)));
        });
    } catch (const Error& error) {
        if (sessions > 0 || error.errc() != Errc::parse_failed) throw;
        if (!is_found) throw unknown.explained(buffer.name(), error);
    }
    return sessions;
}

}  // namespace

FileNotes read_sessions_of(const std::string& path, InputBuffer& buffer, bool is_found, const ScanInput& input,
                           FunctionRef<void(FoundSession&&)> visit) {
    FileNotes read;
    TrajectoryOptions options = options_for(buffer.name(), input.limits);
    if (input.is_again) options.on_note = {};
    const logs::Recognition recognised = recognise_log(path, buffer);
    read.format = recognised.format;
    read.skipped = why_without_session(path, buffer, recognised, is_found);
    if (read.skipped) return read;
    const std::string agent(read.format ? logs::to_string(*read.format) : "recorded");
    const std::optional<Shape> shape = read.format ? shape_of(*read.format, input.shape) : input.shape;
    const auto take = [&](logs::Session&& session) {
        session.recording.id = printed(session.recording.id);  // tables cut names
        session.parent = printed(session.parent);
        note_model(session);
        const Shape its = shape ? *shape : detect_shape(session.recording, path);
        visit({std::move(session), agent, its == Shape::anthropic});
    };
    if (!read.format) {
        if (read_own_sessions(buffer, recognised, options, is_found, take) == 0)
            read.skipped = of_no_known_form(path, recognised);
        return read;
    }
    read.notes = read_log_at(path, buffer, *read.format, options, input.bills_only, take);
    if (read.notes.sessions == 0) read.skipped = SkippedFile{path, "log without a session", agent};
    return read;
}

}  // namespace whittle::cli
