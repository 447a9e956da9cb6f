#include "scan_command.hpp"

#include "agent_log.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "masked.hpp"
#include "memory_reserve.hpp"
#include "options.hpp"
#include "output.hpp"
#include "same_file.hpp"
#include "scan_input.hpp"
#include "scan_report.hpp"
#include "shape.hpp"
#include "shown.hpp"
#include "skipped_files.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "unknown_file.hpp"
#include "write_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <new>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

class ScanRun {
public:
    ScanRun(const ScanCommand& command, const CommonOptions& common)
        : command_(command),
          common_(common),
          input_{.limits = common.limits, .shape = to_shape(common.shape), .bills_only = command.bill} {
        settings_.window = command.window;
        settings_.is_masked = !are_secrets_shown();
        settings_.report_bytes = static_cast<std::size_t>(command.html.text_bytes);
        settings_.on_progress = [this](double share) {
            throw_if_memory_is_short();
            show_progress(share);
        };
        if (command.html.file.empty()) return;
        settings_.wants_report = [this](const ScannedSession& session) {
            return report_.would_be_listed(ranking_cost_of(session));
        };
    }

    ExitCode run() {
        find_files();
        Bills bills = read_bills();
        const PriceList prices = price_list();
        bills.settle(command_.since, prices);
        for (const std::string& model : prices.unused(bills.models()))
            print_note(fmt::format("note: --price {}: no call is of that model", shown(model)));
        report_.set_bills(std::move(bills));
        if (!command_.bill) compare_sessions();
        if (const std::string text = newer_.text(); !text.empty()) print_note("note: " + text);
        if (command_.html.file != "-") print_result();
        const bool has_failed = !has_written_report() || !failed_.empty() || !has_sessions_;
        const std::string left_out = left_out_text();
        // At the agents' own places there always is something else.
        if (!left_out.empty() && (has_failed || !command_.paths.empty()))
            print_note(has_failed ? "failed: " + left_out : left_out);
        return has_failed ? failed : done;
    }

private:
    [[nodiscard]] PriceList price_list() const {
        PriceList prices;
        for (const std::string& price : command_.prices) (void)prices.add(price);  // it was checked
        return prices;
    }

    struct File {
        std::string path{};
        bool is_found = false;             // in a folder, rather than named on the command line
        bool has_failed = false;           // when its bills were read: what came in front of that counts
        std::uint64_t bytes = 0;           // 0: not known
        std::size_t first_bill = 0;        // of its sessions in the bills
        std::size_t bills = 0;             // how many
        std::vector<FoundSession> kept{};  // of a file that cannot be read again
    };

    void find_files() {
        std::set<std::string> known;
        for (const LogLocation& location : scanned_locations()) {
            report_.add_location(location);
            for (const std::string& problem : location.problems) print_note(problem);
            if (location.links > 0)
                print_note(fmt::format("note: {}: {} {} not followed", location.path, grouped(location.links),
                                       location.links == 1 ? "link was" : "links were"));
            for (const std::string& file : location.files) {
                if (can_be_read_again(file) && !known.insert(canonical(file)).second)
                    continue;  // named twice, or beside a folder that it is in
                files_.push_back({.path = file, .is_found = !is_given(file), .bytes = size_of(file)});
                bytes_ += files_.back().bytes;
            }
        }
    }

    [[nodiscard]] ScanAdvice advice() const {
        const auto config = [this](const std::string& cache) {
            const std::string preset = scanned_strategies()[1];
            return show_config({.preset = preset, .window = command_.window, .cache = cache}).written_out;
        };
        return {.window = command_.window, .config = config};
    }

    /// True also where none is wanted.
    bool has_written_report() {
        if (command_.html.file.empty()) return true;
        if (report_.sessions() > 0) {
            write_report(report_.take_page(advice()), command_.html);
        } else if (has_sessions_) {
            print_note("no report was written: no model call is on or after --since");
            return false;
        }
        return true;
    }

    [[nodiscard]] std::vector<LogLocation> scanned_locations() const {
        if (command_.paths.empty()) return agent_log_locations();
        std::vector<LogLocation> locations;
        for (const std::string& path : command_.paths) {
            locations.push_back(location_at(path));
            if (!locations.back().exists) throw Error(Errc::not_found, fmt::format("read {}: it is not there", path));
        }
        return locations;
    }

    /// Named on the command line, rather than found in a folder.
    [[nodiscard]] bool is_given(const std::string& file) const {
        return std::ranges::find(command_.paths, file) != command_.paths.end();
    }

    static std::string canonical(const std::string& file) {
        std::error_code error;
        const std::filesystem::path path = std::filesystem::canonical(file, error);
        return error ? file : path.string();
    }

    static std::uint64_t size_of(const std::string& file) {
        std::error_code error;
        const auto size = std::filesystem::file_size(file, error);
        return error ? 0 : size;
    }

    /// A pipe cannot.
    static bool can_be_read_again(const std::string& file) {
        std::error_code error;
        return file != "-" && std::filesystem::is_regular_file(file, error);
    }

    /// Of all files, before anything is compared: which copy of a call is billed only all of them tell.
    [[nodiscard]] Bills read_bills() {
        Bills bills;
        for (File& file : files_) {
            file.first_bill = bills.sessions().size();
            const bool is_kept = !command_.bill && !can_be_read_again(file.path);
            read_or_complain(file, [&](FoundSession&& session) {
                bills.add(session.log, session.agent, file.path, session.is_anthropic);
                if (is_kept) file.kept.push_back(std::move(session));
            });
            file.bills = bills.sessions().size() - file.first_bill;
            has_sessions_ = has_sessions_ || file.bills > 0;
        }
        return bills;
    }

    void compare_sessions() {
        done_bytes_ = 0;
        input_.is_again = true;
        progress_.begin();
        for (File& file : files_) {
            if (!has_counted_session(file)) {
                done_bytes_ += file.bytes;
                continue;
            }
            std::size_t next = 0;
            const auto take = [&](FoundSession&& session) { compare(std::move(session), file, next); };
            if (file.kept.empty()) {
                read_or_complain(file, take);
            } else {
                for (FoundSession& session : file.kept) take(std::move(session));
                file.kept.clear();
            }
        }
        if (const std::int64_t rest = report_.sessions() - compared_; rest > 0)
            print_note(fmt::format("note: {} in the bills and not compared: {} file changed or failed meanwhile",
                                   rest == 1 ? "1 session is" : grouped(rest) + " sessions are",
                                   rest == 1 ? "its" : "their"));
    }

    [[nodiscard]] std::span<const SessionBill> bills_of(const File& file) const {
        return std::span(report_.bills().sessions()).subspan(file.first_bill, file.bills);
    }

    [[nodiscard]] bool has_counted_session(const File& file) const {
        const auto own = bills_of(file);
        return std::ranges::any_of(own, &SessionBill::is_counted);
    }

    /// `next`: where its bill is among those of the file. One that is written to while it is scanned may have another
    /// session in that place by now: then the bill is one of those behind.
    void compare(FoundSession&& session, const File& file, std::size_t& next) {
        const auto own = bills_of(file);
        const auto bill =
            std::ranges::find(own.subspan(std::min(next, own.size())), session.log.recording.id, &SessionBill::id);
        if (bill == own.end()) return;
        next = static_cast<std::size_t>(bill - own.begin()) + 1;
        if (!bill->is_counted) return;
        report_.add(scan_session(std::move(session.log), *bill, session.is_anthropic, settings_));
        ++compared_;
        show_progress(1.0);
        if (in_ != nullptr) begin_ = in_->bytes_read();
    }

    /// One file that cannot be read, for whatever reason, does not end the scan.
    template <typename Take>
    void read_or_complain(File& file, const Take& take) {
        throw_if_interrupted();
        try {
            MemoryReserve::refill();
            read(file, take);
        } catch (const Interrupted&) {
            throw;
        } catch (const Error& error) {
            if (error.errc() == Errc::cancelled) throw;
            fail(file, error.what());
        } catch (const std::bad_alloc&) {
            fail(file, fmt::format("{}: out of memory", file.path));
        } catch (const std::exception& error) {
            fail(file, fmt::format("{}: {}", file.path, error.what()));
        }
        done_bytes_ += file.bytes;
        in_ = nullptr;
    }

    template <typename Take>
    void read(const File& file, const Take& take) {
        InputBuffer buffer(file.path, common_.limits);
        in_ = &buffer;
        begin_ = 0;
        FileNotes read = read_sessions_of(file.path, buffer, file.is_found, input_, [&](FoundSession&& session) {
            throw_if_interrupted();
            throw_if_memory_is_short();
            take(std::move(session));
            if (!input_.is_again) show_progress(1.0);
        });
        if (!input_.is_again) note(file.path, std::move(read));
    }

    void note(const std::string& file, FileNotes&& read) {
        if (read.format) {
            report_.add_notes(read.notes);
            newer_.add(*read.format, read.notes);
            if (const std::string text = text_of_notes(read.notes); !text.empty())
                print_note(fmt::format("note: {}: {}", file, text));
        }
        if (read.skipped) report_.skip(*std::move(read.skipped));
    }

    /// Once a file: its sessions may be read twice.
    void fail(File& file, const std::string& reason) {
        if (std::exchange(file.has_failed, true)) return;
        failed_.push_back(shown(file.path));
        print_note(reason);
    }

    /// What is not in the sums, in one line: files that could not be read, which were told before, and those without a
    /// session.
    [[nodiscard]] std::string left_out_text() const {
        std::vector<std::string> parts;
        if (!has_sessions_) parts.emplace_back("no sessions found");
        if (!failed_.empty()) {
            const std::string count = numbered(static_cast<std::int64_t>(failed_.size()), "file");
            parts.push_back(fmt::format("{} could not be read ({})", count, some_of(failed_)));
        }
        if (!report_.skipped_files().empty())
            parts.push_back("files without a session: " + report_.skipped_files().text());
        if (!has_sessions_ && failed_.empty()) parts.push_back(what_is_read());
        return fmt::format("{}", fmt::join(parts, "; "));
    }

    /// `share` of the session that was read last.
    void show_progress(double share) {
        const std::string what =
            input_.is_again ? fmt::format("{} of {}", grouped(compared_), numbered(report_.sessions(), "session"))
                            : "reading bills";
        if (in_ == nullptr) return progress_.show(what);
        const auto read = static_cast<double>(in_->bytes_read() - begin_);
        // Some files are read as a whole before the first of their sessions is known: how many there are is not.
        if (begin_ > 0 && begin_ == in_->file_bytes()) return progress_.show(what);
        progress_.show(what + ", ",
                       Share::of_bytes(done_bytes_ + begin_ + static_cast<std::uint64_t>(share * read), bytes_));
    }

    void print_result() const {
        if (common_.json) return print_json(command_.bill ? report_.bill_json() : report_.json());
        if (command_.csv) return print(command_.bill ? bill_csv(report_.bills()) : report_.csv());
        const bool colour = may_colour(common_.no_color);
        print(command_.bill ? report_.bill_text(colour) : report_.text(colour));
    }

    const ScanCommand& command_;
    const CommonOptions& common_;
    ScanInput input_;
    ScanSettings settings_{};
    ScanReport report_{};
    NewerVersions newer_{};
    Progress progress_{};
    std::vector<File> files_{};
    std::int64_t compared_ = 0;  // sessions
    bool has_sessions_ = false;
    std::uint64_t bytes_ = 0;
    std::uint64_t done_bytes_ = 0;       // of files that are done
    const InputBuffer* in_ = nullptr;    // the file that is read
    std::uint64_t begin_ = 0;            // of the session in it, about: it is read in blocks
    std::vector<std::string> failed_{};  // files that could not be read
};

/// "2026-11-01".
bool is_day(std::string_view text) {
    constexpr std::string_view form = "0000-00-00";
    if (text.size() != form.size()) return false;
    int numbers[3]{};
    int* number = numbers;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (is_digit != (form[i] == '0') || (!is_digit && text[i] != '-')) return false;
        if (is_digit) *number = *number * 10 + (text[i] - '0');
        if (!is_digit) ++number;
    }
    return std::chrono::year_month_day(std::chrono::year(numbers[0]),
                                       std::chrono::month(static_cast<unsigned>(numbers[1])),
                                       std::chrono::day(static_cast<unsigned>(numbers[2])))
        .ok();
}

}  // namespace

CLI::App* add_scan(CLI::App& app, ScanCommand& command) {
    CLI::App* scan = app.add_subcommand(
        "scan",
        "Find the sessions that agents left on this machine and show what they cost and what would have been saved");
    scan->add_option(
            "paths", command.paths,
            "Files and folders instead of the places where Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, "
            "opencode, OpenHands, pi, OpenClaw, Cline, Roo Code and Kilo Code keep their sessions")
        ->type_name("PATH");
    scan->add_option("--window", command.window, "The model's window, for the presets (default 200000)")
        ->check(whole_number_check(1, "tokens, such as 200000"))
        ->type_name("TOKENS");
    scan->add_flag("--bill", command.bill, "Only what was billed, by agent, day, model and project: much faster");
    scan->add_option("--since", command.since, "Calls since that day, where this machine is")
        ->check(CLI::Validator(
            [](const std::string& day) { return is_day(day) ? "" : "expected a day, such as 2026-11-01"; },
            "YYYY-MM-DD"))
        ->type_name("DAY");
    scan->add_option("--price", command.prices,
                     "What a model costs, in dollars per million tokens of input and output, and of input read from "
                     "the cache and written to it (default: what Anthropic, OpenAI and Google list); without MODEL=, "
                     "what all others cost; may be given several times")
        ->check(CLI::Validator([](const std::string& price) { return PriceList().add(price); },
                               "MODEL=INPUT,OUTPUT[,READ[,WRITE]]"))
        ->type_name("PRICE")
        ->allow_extra_args(false);
    scan->add_flag("--csv", command.csv, "Print a line for each session");
    add_html(*scan, command.html);
    scan->footer(
        "Examples:\n"
        "  whittle scan\n"
        "  whittle scan --bill --since 2026-11-01\n"
        "  whittle scan --price my-model=0.5,2 --price other-model=3,15,0.3,3.75\n"
        "  whittle scan ~/.claude/projects --json > scan.json\n"
        "  whittle scan old-logs/ rollout.jsonl --csv\n"
        "  whittle scan ~/.claude/projects --html report.html\n\n"
        "Nothing leaves the machine, and nothing is written but the report. Files without a session are named, with "
        "why. Exit code 1 if no session is found or a log cannot be read.");
    return scan;
}

ExitCode run_scan(const ScanCommand& command, const CommonOptions& common) {
    if (command.csv && common.json) throw UsageError{"--csv and --json: expected one of them"};
    if (command.bill && !command.html.file.empty())
        throw UsageError{"--bill and --html: the report shows what would have been saved, which --bill leaves out"};
    if (command.html.file == "-" && (common.json || command.csv))
        throw UsageError{"--html -: expected a file together with --json and --csv"};
    for (const std::string& path : command.paths)
        require_different_files({{"--html", command.html.file}, {"PATH", path}});
    const MemoryReserve reserve;
    return ScanRun(command, common).run();
}

}  // namespace whittle::cli
