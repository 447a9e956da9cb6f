#include "scan_command.hpp"

#include "agent_log.hpp"
#include "masked.hpp"
#include "memory_reserve.hpp"
#include "opencode_database.hpp"
#include "options.hpp"
#include "passed_over.hpp"
#include "same_file.hpp"
#include "scan_report.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "write_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

class ScanRun {
public:
    ScanRun(const ScanCommand& command, const CommonOptions& common)
        : command_(command), common_(common), given_(to_shape(common.shape)) {
        settings_.window = command.window;
        settings_.is_masked = !are_secrets_shown();
        settings_.story_bytes = static_cast<std::size_t>(command.html.text_bytes);
        settings_.on_progress = [this](double share) {
            throw_if_memory_is_short();
            show_progress(share);
        };
        if (command.html.file.empty()) return;
        settings_.wants_story = [this](const ScannedSession& session) {
            return report_.would_be_dear(dear_cost_of(session));
        };
    }

    ExitCode run() {
        std::vector<ScannedPlace> places = places_of_agents_or_paths();
        for (const ScannedPlace& place : places) {
            report_.add_place(place);
            for (const std::string& problem : place.problems) complain(problem);
            if (place.links > 0)
                complain(fmt::format("note: {}: {} {} not followed", place.path, grouped(place.links),
                                     place.links == 1 ? "link was" : "links were"));
            for (const std::string& file : place.files) bytes_ += size_of(file);
        }
        for (const ScannedPlace& place : places) {
            for (const std::string& file : place.files) scan_or_complain(file, !is_given(file));
        }
        if (const std::string text = newer_.text(); !text.empty()) complain("note: " + text);
        if (command_.html.file != "-") print_result();
        if (!command_.html.file.empty() && report_.sessions() > 0) write_report(report_.take_page(), command_.html);
        const bool has_failed = !failed_.empty() || report_.sessions() == 0;
        const std::string left_out = left_out_text();
        // At the agents' own places there always is something else.
        if (!left_out.empty() && (has_failed || !command_.paths.empty()))
            complain(has_failed ? "failed: " + left_out : left_out);
        return has_failed ? failed : done;
    }

private:
    [[nodiscard]] std::vector<ScannedPlace> places_of_agents_or_paths() const {
        if (command_.paths.empty()) return places_of_agents();
        std::vector<ScannedPlace> places;
        for (const std::string& path : command_.paths) {
            places.push_back(place_at(path));
            if (!places.back().is_there) throw Error(Errc::not_found, fmt::format("read {}: it is not there", path));
        }
        return places;
    }

    /// Named on the command line, rather than found in a folder.
    [[nodiscard]] bool is_given(const std::string& file) const {
        return std::ranges::find(command_.paths, file) != command_.paths.end();
    }

    static std::uint64_t size_of(const std::string& file) {
        std::error_code error;
        const auto size = std::filesystem::file_size(file, error);
        return error ? 0 : size;
    }

    /// One file that cannot be read, for whatever reason, does not end the scan.
    void scan_or_complain(const std::string& file, bool is_found) {
        throw_if_interrupted();
        try {
            MemoryReserve::refill();
            scan(file, is_found);
        } catch (const Interrupted&) {
            throw;
        } catch (const Error& error) {
            if (error.errc() == Errc::cancelled) throw;
            fail(file, error.what());
        } catch (const std::bad_alloc&) {
            fail(file, fmt::format("{}: out of memory", file));
        } catch (const std::exception& error) {
            fail(file, fmt::format("{}: {}", file, error.what()));
        }
        done_bytes_ += size_of(file);
        in_ = nullptr;
    }

    void fail(const std::string& file, const std::string& reason) {
        failed_.push_back(shown(file));
        complain(reason);
    }

    /// What is not in the sums, in one line: files that could not be read, which were told before, and those without a
    /// session.
    [[nodiscard]] std::string left_out_text() const {
        std::vector<std::string> parts;
        if (report_.sessions() == 0) parts.emplace_back("no sessions found");
        if (!failed_.empty()) {
            const std::string count = numbered(static_cast<std::int64_t>(failed_.size()), "file");
            parts.push_back(fmt::format("{} could not be read ({})", count, some_of(failed_)));
        }
        if (!report_.passed_over().empty()) parts.push_back("files without a session: " + report_.passed_over().text());
        return fmt::format("{}", fmt::join(parts, "; "));
    }

    void scan(const std::string& file, bool is_found) {
        InputBuffer buffer(file, common_.limits);
        in_ = &buffer;
        begin_ = 0;
        std::istream in(&buffer);
        const TrajectoryOptions options = options_for(buffer.name(), common_.limits);
        const logs::Recognition recognised = recognise_log(buffer);
        if (const auto why = why_without_session(file, buffer, recognised, is_found)) return report_.pass_over(*why);
        if (!recognised.format) return scan_sessions(in, options, file, recognised, is_found);
        const logs::Format format = *recognised.format;
        const logs::LogNotes notes = read_log_at(file, buffer, format, options, [&](logs::Session&& session) {
            take(std::move(session), std::string(logs::name_of(format)), file, shape_of(format, given_));
        });
        report_.add_notes(notes);
        newer_.add(format, notes);
        if (notes.sessions == 0) report_.pass_over({file, "log without a session", std::string(logs::name_of(format))});
        if (const std::string text = text_of_notes(notes); !text.empty())
            complain(fmt::format("note: {}: {}", file, text));
    }

    /// What is known before anything is read. What was only found in a folder may be anything.
    static std::optional<PassedOver> why_without_session(const std::string& file, InputBuffer& buffer,
                                                         const logs::Recognition& recognised, bool is_found) {
        const std::string_view start = buffer.start();
        const std::size_t first = start.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
        if (first == std::string_view::npos) return PassedOver{file, "empty", ""};
        if (is_database(start)) {
            const auto tables = tables_of_other_program(file);
            if (!tables) return std::nullopt;
            return PassedOver{file, "database of another program", fmt::format("tables {}", fmt::join(*tables, ", "))};
        }
        if (recognised.format || !is_found) return std::nullopt;
        if (start[first] != '{' && start[first] != '[') return PassedOver{file, "no JSON", ""};
        const bool may_be_own = file.find(".jsonl") != std::string::npos;
        return may_be_own ? std::nullopt : std::optional(of_no_known_form(file, recognised));
    }

    static PassedOver of_no_known_form(const std::string& file, const logs::Recognition& recognised) {
        return {file, "JSON of no known form",
                recognised.keys.empty() ? "" : fmt::format("keys {}", fmt::join(recognised.keys, ", "))};
    }

    /// Sessions in the library's own form.
    void scan_sessions(std::istream& in, const TrajectoryOptions& options, const std::string& file,
                       const logs::Recognition& recognised, bool is_found) {
        const std::int64_t before = report_.sessions();
        try {
            (void)read_trajectories(in, options, [&](Trajectory<>&& session) {
                take(as_logged(std::move(session)), "recorded", file, given_);
            });
        } catch (const Error& error) {
            if (!is_found || report_.sessions() > before || error.errc() != Errc::parse_failed) throw;
        }
        if (report_.sessions() == before) report_.pass_over(of_no_known_form(file, recognised));
    }

    void take(logs::Session&& session, const std::string& agent, const std::string& file, std::optional<Shape> shape) {
        throw_if_interrupted();
        throw_if_memory_is_short();
        session.recording.id = printed(session.recording.id);  // tables cut names
        session.parent = printed(session.parent);
        const Shape its = shape ? *shape : detect_shape(session.recording, file);
        const ScanSource source{.agent = agent, .file = file, .is_anthropic = its == Shape::anthropic};
        report_.add(scan_session(std::move(session), source, settings_, seen_));
        show_progress(1.0);
        begin_ = in_->bytes_read();
    }

    /// `share` of the session that was read last.
    void show_progress(double share) {
        const auto read = static_cast<double>(in_->bytes_read() - begin_);
        // Some files are read as a whole before the first of their sessions is known: how many there are is not.
        if (begin_ > 0 && begin_ == in_->file_bytes())
            return progress_.show(fmt::format("{} sessions", report_.sessions()));
        progress_.show(fmt::format("{} sessions, ", report_.sessions()),
                       Share::of_bytes(done_bytes_ + begin_ + static_cast<std::uint64_t>(share * read), bytes_));
    }

    void print_result() const {
        if (common_.json) return print_json(report_.json());
        print(command_.csv ? report_.csv() : report_.text(may_colour(common_.no_color)));
    }

    const ScanCommand& command_;
    const CommonOptions& common_;
    std::optional<Shape> given_;
    ScanSettings settings_{};
    ScanReport report_{};
    SeenCalls seen_{};
    NewerVersions newer_{};
    Progress progress_{};
    std::uint64_t bytes_ = 0;
    std::uint64_t done_bytes_ = 0;       // of files that are done
    const InputBuffer* in_ = nullptr;    // the file that is read
    std::uint64_t begin_ = 0;            // of the session in it, about: it is read in blocks
    std::vector<std::string> failed_{};  // files that could not be read
};

}  // namespace

CLI::App* add_scan(CLI::App& app, ScanCommand& command) {
    CLI::App* scan = app.add_subcommand(
        "scan",
        "Find the sessions that agents left on this machine and show what they cost and what would have been saved");
    scan->add_option(
            "paths", command.paths,
            "Files and folders instead of the places where Claude Code, Codex, Gemini CLI, opencode, OpenHands, Cline, "
            "Roo Code and Kilo Code keep their sessions")
        ->type_name("PATH");
    scan->add_option("--window", command.window, "The model's window, for the presets (default 200000)")
        ->check(whole_number_check(1, "tokens, such as 200000"))
        ->type_name("TOKENS");
    scan->add_flag("--csv", command.csv, "Print a line for each session");
    add_html(*scan, command.html);
    scan->footer(
        "Examples:\n"
        "  whittle scan\n"
        "  whittle scan ~/.claude/projects --json > scan.json\n"
        "  whittle scan old-logs/ rollout.jsonl --csv\n"
        "  whittle scan ~/.claude/projects --html report.html\n\n"
        "Nothing leaves the machine, and nothing is written but the report. Files without a session are named, with "
        "why. Exit code 1 if no session is found or a log cannot be read.");
    return scan;
}

ExitCode run_scan(const ScanCommand& command, const CommonOptions& common) {
    if (command.csv && common.json) throw UsageError{"--csv and --json: expected one of them"};
    if (command.html.file == "-" && (common.json || command.csv))
        throw UsageError{"--html -: expected a file beside --json and --csv"};
    for (const std::string& path : command.paths)
        require_different_files({{"--html", command.html.file}, {"PATH", path}});
    const MemoryReserve reserve;
    return ScanRun(command, common).run();
}

}  // namespace whittle::cli
