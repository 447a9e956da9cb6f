#include "call_costs.hpp"
#include "call_progress.hpp"
#include "chains_by_cache.hpp"
#include "commands.hpp"
#include "evaluation/recorded.hpp"
#include "evaluation/spending.hpp"
#include "figures_of.hpp"
#include "interrupt.hpp"
#include "masked.hpp"
#include "output.hpp"
#include "read_sessions.hpp"
#include "replay_page.hpp"
#include "same_file.hpp"
#include "session_chart.hpp"
#include "session_reporter.hpp"
#include "shape.hpp"
#include "shown.hpp"
#include "side_calls.hpp"
#include "terminal.hpp"
#include "totals_json.hpp"
#include "totals_text.hpp"
#include "write_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <set>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

/// The exact requests, one line each.
class RequestWriter {
public:
    RequestWriter(const std::string& path, bool delta) : out_(path), delta_(delta) {}

    template <AgentMessage M>
    void write(const ReplayRequest<M>& request, const WatchedCalls& side_calls) {
        ordered_json line{{"trajectory", request.trajectory}, {"call", request.call}};
        if (delta_) line["keep"] = request.keep;
        line["messages"] = to_array<M>(request.messages.subspan(delta_ ? request.keep : 0));
        line["tokens"] = request.tokens;
        line["tokens_raw"] = request.tokens_raw;
        line["first_changed"] = request.first_changed ? ordered_json(*request.first_changed) : ordered_json(nullptr);
        for (const WatchedCall& call : side_calls) line["side_calls"].push_back(describe(call, request));
        out_.write(line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
    }
    void commit() { out_.commit(); }

private:
    template <AgentMessage M>
    static ordered_json describe(const WatchedCall& call, const ReplayRequest<M>& request) {
        return {{"purpose", call.purpose},
                {"messages", call.messages},
                {"reply", call.reply},
                {"shares_prefix", shares_prefix(call, request.messages)}};
    }

    OutputFile out_;
    bool delta_;
};

/// The money figures follow the cache profile; cache prices that say otherwise are pointed out.
void warn_of_prices(const ModelProfile& profile) {
    if (!profile.prices) return;
    const auto differs = [&](double price, double factor) {
        const double expected = profile.prices->input * factor;
        return price > 0 && (price < 0.99 * expected || price > 1.01 * expected);
    };
    const bool is_read_odd = differs(profile.prices->cache_read, profile.cache.read);
    if (!is_read_odd && !differs(profile.prices->cache_write, profile.cache.write)) return;
    print_note(
        fmt::format("warning: money is the input price times the factors of cache profile \"{}\" ({} to read, "
                    "{} to write); "
                    "prices.cache_{} says something else and is not used",
                    profile.cache.name, profile.cache.read, profile.cache.write, is_read_odd ? "read" : "write"));
}

bool is_on_standard_output(const ReplayCommand& command) {
    return command.requests == "-" || command.html.file == "-" || command.svg == "-";
}

class ReplayRun {
public:
    ReplayRun(const ReplayCommand& command, const CommonOptions& common)
        : command_(command),
          common_(common),
          chains_(
              command.config, [this](ChainSettings settings) { return with_storage(std::move(settings)); },
              common.allow_remote),
          page_(std::filesystem::path(command.config.name()).filename().string(), !command.config.preset.empty(),
                profile().prices),
          text_(profile(), command.all) {
        if (!command.requests.empty()) requests_.emplace(command.requests, command.delta);
    }

    ExitCode run() {
        for (const std::string& file : command_.files) replay_file(file);
        if (requests_) requests_->commit();
        print_result();
        if (!command_.html.file.empty()) write_report(page(), command_.html);
        if (!command_.svg.empty()) write_chart();
        for (const std::string& error : sum_.totals.errors) print_note(shown(error));
        for (const std::string& problem : problems_) print_note(problem);
        const std::string reason = reason_of_failure(sum_.totals);
        if (reason.empty()) return done;
        print_note("failed: " + reason);
        return failed;
    }

private:
    [[nodiscard]] ReportPage page() {
        ConfigChoice choice = command_.config;
        const bool is_preset = !choice.preset.empty();
        const auto config = [&](const std::string& cache) {
            if (is_preset) choice.cache = cache;
            const ShownConfig shown = show_config(choice);
            return is_preset ? shown.written_out : shown.given;
        };
        return page_.take(
            sum_, {.name = page_.chain(), .cache = choice.cache, .window = choice.window, .is_preset = is_preset},
            config);
    }

    /// All chains share one store.
    [[nodiscard]] ChainSettings with_storage(ChainSettings settings) {
        if (!is_open_) storage_ = open_storage(settings.storage_settings);
        is_open_ = true;
        settings.config.storage = storage_;
        settings.config.explain = settings.config.explain || is_reported();
        return settings;
    }

    [[nodiscard]] const ModelProfile& profile() const noexcept { return chains_.configured().config().profile; }

    void replay_file(const std::string& file) {
        ReplayedSessions in_file;
        for_each_session(file, common_, progress_, [&](const auto& trajectory) {
            const ReplayedSessions session = replay_one(trajectory, file);
            if (common_.json && !command_.totals_only) {
                ordered_json entry{{"trajectory", trajectory.id}, {"file", file}};
                entry.update(to_json(session));
                list_.push_back(std::move(entry));
            }
            if (!command_.totals_only) text_.add(printed(trajectory.id), session.totals, session.cost);
            note_problems(file, trajectory.id, session.totals);
            in_file += session;
        });
        sum_ += in_file;
        if (command_.files.size() == 1) return;
        if (common_.json) files_.push_back(with_name("file", file, in_file));
        const std::string name = std::filesystem::path(file).filename().string();
        text_.add("= " + printed(name), in_file.totals, in_file.cost);
    }

    /// Which session and where, as far as `ReplayTotals::errors` does not say it.
    void note_problems(const std::string& file, const std::string& id, const ReplayTotals& totals) {
        constexpr std::size_t most = 20;
        const auto note = [&](const std::string& what) {
            if (problems_.size() < most) problems_.push_back(fmt::format("{}: {}: {}", shown(file), shown(id), what));
        };
        for (const auto& [trajectory, call, violation] : totals.violations)
            note(fmt::format("call {}: message {}: {}: {}", call, violation.message_index, to_string(violation.rule),
                             shown(violation.text)));
        if (totals.not_undone > 0) note("undoing every commit does not give the recording back");
    }

    template <JsonMessage M>
    ReplayedSessions replay_one(const Trajectory<M>& trajectory, const std::string& file) {
        if (!chart_.empty()) throw UsageError{"--svg draws one session, and the input has several"};
        evaluation::SessionInput input = evaluation::to_session(trajectory, file);
        CostBasis basis = cost_basis_of(trajectory, input);
        WatchedChains& chains = chains_.for_session(basis);
        add_front(input, basis.front.value_or(0));
        const Chain<M>& chain = chains.of<M>();
        rules_.insert(chain.config().profile.validity.name);
        if (warned_of_.insert(chain.config().profile.cache.name).second) warn_of_prices(chain.config().profile);
        const Recording<M> recording{trajectory.id, trajectory.system, trajectory.tools, trajectory.messages,
                                     trajectory.seconds_since_first};
        std::optional<SessionReporter<M>> reporter;
        if (is_reported()) reporter.emplace(recording, chain, page_.chain(), !are_secrets_shown());
        CallProgress calls(trajectory);
        WatchedCalls side_calls;
        evaluation::ChainOptions<M> options{.stop = interrupt_token(), .clock = chains.clock()};
        options.side_calls = [&](std::span<const M> request) {
            side_calls = chains.take_calls();
            return side_calls_of(side_calls, request);
        };
        options.on_request = [&](const ReplayRequest<M>& request) {
            calls.pass();
            if (requests_) requests_->write(request, side_calls);
            if (reporter) reporter->on_request(request);
        };
        if (reporter) options.on_report = [&](const Report& report) { reporter->on_report(report); };
        evaluation::ChainRequests made = evaluation::requests_of_chain<M>(trajectory, chain, options);
        ReplayedSessions session{.totals = std::move(made.totals)};
        const evaluation::Session asked(std::move(input));
        const evaluation::Figures figures = figures_of(
            made.requests, asked,
            {.profiles = {basis.profile}, .storage = chain.config().storage, .lists_calls = reporter.has_value()});
        session.cost.add(basis, figures);
        session.bases.add(basis);
        if (!reporter) return session;
        ReplayedReport replayed{.id = trajectory.id, .file = file};
        replayed.billed_per_counted = basis.billed_per_counted;
        replayed.everything = {.tokens = figures.raw, .largest = figures.peak_raw};
        replayed.under_chain = {.tokens = figures.sent, .largest = figures.peak_sent, .resets = figures.resets};
        replayed.spending = evaluation::spending_of(asked, {});
        replayed.session_report = reporter->take(static_cast<std::size_t>(command_.html.text_bytes));
        add_call_costs(replayed.session_report, figures);
        if (!command_.svg.empty()) chart_ = session_chart(replayed.session_report);
        page_.add(std::move(replayed), session);
        return session;
    }

    /// Whether sessions are looked at call by call.
    [[nodiscard]] bool is_reported() const noexcept { return !command_.html.file.empty() || !command_.svg.empty(); }

    void write_chart() const {
        OutputFile out(command_.svg);
        out.write(chart_);
        out.commit();
    }

    [[nodiscard]] ordered_json to_json(const ReplayedSessions& sessions) const {
        ordered_json json = totals_json(sessions.totals, sessions.cost, profile());
        json["cost"].update(sessions.bases.json());
        return json;
    }

    [[nodiscard]] ordered_json with_name(const char* key, const std::string& name,
                                         const ReplayedSessions& sessions) const {
        ordered_json entry{{key, name}, {"trajectories", sessions.totals.trajectories}};
        entry.update(to_json(sessions));
        return entry;
    }

    [[nodiscard]] std::string result() {
        if (!common_.json) {
            text_.add_line();
            text_.add(fmt::format("total of {}", grouped(sum_.totals.trajectories)), sum_.totals, sum_.cost);
            return text_.text(sum_.totals, {.rules = fmt::format("{}", fmt::join(rules_, ", ")),
                                            .counter = counter().id(),
                                            .basis = sum_.bases.text(),
                                            .colour = may_colour(common_.no_color)});
        }
        ordered_json json{{"counter", counter().id()}};
        json["total"] = with_name("name", "total", sum_);
        if (!files_.empty()) json["files"] = std::move(files_);
        if (!command_.totals_only) json["trajectories"] = std::move(list_);
        return shown_json(json) + "\n";
    }

    [[nodiscard]] const TokenCounter& counter() const { return *chains_.configured().config().token_counter; }

    /// Requests or a report on standard output leave standard error for the totals.
    void print_result() {
        const std::string text = output_text(result(), common_.json);
        if (is_on_standard_output(command_)) {
            write_error_stream(text);
        } else {
            print_raw(text);
        }
    }

    const ReplayCommand& command_;
    const CommonOptions& common_;
    std::shared_ptr<Storage> storage_{};
    bool is_open_ = false;
    ChainsByCache chains_;
    std::optional<RequestWriter> requests_{};
    ReplayPage page_;
    std::string chart_{};
    TotalsText text_;
    ordered_json list_ = ordered_json::array();
    ordered_json files_ = ordered_json::array();
    std::vector<std::string> problems_{};  // the first ones, a line each
    std::set<std::string> rules_{};        ///< that requests were held to
    std::set<std::string> warned_of_{};    ///< caches whose prices were looked at
    ReplayedSessions sum_{};
    Progress progress_{};
};

/// None takes the place of another or of what is read; one of them may be standard output.
void check_output_files(const ReplayCommand& command) {
    const std::vector<NamedPath> outputs{
        {"--html", command.html.file}, {"--svg", command.svg}, {"--requests", command.requests}};
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        for (auto other = std::next(output); other != outputs.end(); ++other) {
            if (output->path == "-" && other->path == "-")
                throw UsageError{fmt::format("{} - and {} -: expected one of them on standard output", output->option,
                                             other->option)};
            require_different_files({*output, *other});
        }
        if (output->path == "-") continue;
        require_different_files({*output, {"--config", command.config.file}});
        for (const std::string& file : command.files) require_different_files({*output, {"FILE", file}});
    }
}

}  // namespace

ExitCode run_replay(const ReplayCommand& command, const CommonOptions& common) {
    if (command.delta && command.requests.empty()) throw UsageError{"--delta needs --requests"};
    (void)to_shape(common.shape);  // a mistake there comes before any work
    check_output_files(command);
    return ReplayRun(command, common).run();
}

}  // namespace whittle::cli
