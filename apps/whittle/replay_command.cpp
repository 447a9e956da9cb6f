#include "call_progress.hpp"
#include "chain_replay.hpp"
#include "commands.hpp"
#include "replay_page.hpp"
#include "same_file.hpp"
#include "story_teller.hpp"
#include "terminal.hpp"
#include "totals_json.hpp"
#include "totals_text.hpp"
#include "whittle/replay/replay.hpp"
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

class ReplayRun {
public:
    ReplayRun(const ReplayCommand& command, const CommonOptions& common, ChainSettings settings)
        : command_(command),
          common_(common),
          chains_(with_storage(std::move(settings), !command.html.file.empty()), common.allow_remote),
          page_(std::filesystem::path(command.config.name()).filename().string()),
          text_(profile()) {
        if (!command.requests.empty()) requests_.emplace(command.requests, command.delta);
    }

    ExitCode run() {
        for (const std::string& file : command_.files) replay_file(file);
        if (requests_) requests_->commit();
        tell();
        if (!command_.html.file.empty()) write_report(page_.take(sum_), command_.html);
        for (const std::string& error : sum_.errors) complain(shown(error));
        for (const std::string& problem : problems_) complain(problem);
        const std::string reason = reason_of_failure(sum_);
        if (reason.empty()) return done;
        complain("failed: " + reason);
        return failed;
    }

private:
    /// The chains of both message types share one store.
    static ChainSettings with_storage(ChainSettings settings, bool explain) {
        settings.config.storage = open_storage(settings.storage);
        settings.config.explain = settings.config.explain || explain;
        return settings;
    }

    [[nodiscard]] const ModelProfile& profile() const noexcept { return chains_.config().profile; }

    void replay_file(const std::string& file) {
        ReplayTotals in_file;
        for_each_session(file, common_, progress_, [&](const auto& trajectory) {
            const ReplayTotals totals = replay_one(trajectory, file);
            if (common_.json && !command_.totals_only) {
                ordered_json entry{{"trajectory", trajectory.id}, {"file", file}};
                entry.update(totals_json(totals, profile()));
                list_.push_back(std::move(entry));
            }
            if (!command_.totals_only) text_.add(trajectory.id, totals);
            note_problems(file, trajectory.id, totals);
            in_file += totals;
        });
        sum_ += in_file;
        if (command_.files.size() == 1) return;
        if (common_.json) files_.push_back(with_name("file", file, in_file));
        text_.add(fmt::format("= {}", std::filesystem::path(file).filename().string()), in_file);
    }

    /// Which session and where, as far as `ReplayTotals::errors` does not say it.
    void note_problems(const std::string& file, const std::string& id, const ReplayTotals& totals) {
        constexpr std::size_t most = 20;
        const auto note = [&](const std::string& what) {
            if (problems_.size() < most) problems_.push_back(fmt::format("{}: {}: {}", shown(file), shown(id), what));
        };
        for (const auto& [trajectory, call, violation] : totals.violations)
            note(fmt::format("call {}: message {}: {}: {}", call, violation.message, id_of(violation.rule),
                             shown(violation.text)));
        if (totals.not_undone > 0) note("undoing every commit does not give the recording back");
    }

    template <AgentMessage M>
    ReplayTotals replay_one(const Trajectory<M>& trajectory, const std::string& file) {
        const Chain<M>& chain = chains_.of<M>();
        const Recording<M> recording{trajectory.id, trajectory.system, trajectory.tools, trajectory.messages,
                                     trajectory.seconds};
        std::optional<StoryTeller<M>> teller;
        if (!command_.html.file.empty()) teller.emplace(recording, chain, page_.chain(), !command_.html.no_mask);
        ReplayOptions<M> options{.stop = interrupt_token(), .clock = chains_.clock()};
        CallProgress calls(trajectory);
        options.on_request = [&](const ReplayRequest<M>& request) {
            calls.pass();
            const WatchedCalls side_calls = chains_.take_calls();
            if (requests_) requests_->write(request, side_calls);
            if (teller) teller->on_request(request);
        };
        if (teller) options.on_report = [&](const Report& report) { teller->on_report(report); };
        rules_.insert(chain.config().profile.validity.name);
        ReplayTotals totals = replay<M>(recording, chain, options);
        if (teller)
            page_.add(trajectory.id, file, totals, teller->take(static_cast<std::size_t>(command_.html.text_bytes)));
        return totals;
    }

    [[nodiscard]] ordered_json with_name(const char* key, const std::string& name, const ReplayTotals& totals) const {
        ordered_json entry{{key, name}, {"trajectories", totals.trajectories}};
        entry.update(totals_json(totals, profile()));
        return entry;
    }

    [[nodiscard]] std::string result() {
        if (!common_.json) {
            text_.add_line();
            text_.add(fmt::format("total of {}", grouped(sum_.trajectories)), sum_);
            return text_.text(sum_, {.rules = fmt::format("{}", fmt::join(rules_, ", ")),
                                     .counter = chains_.config().token_counter->id(),
                                     .colour = may_colour(common_.no_color)});
        }
        ordered_json json{{"cache", profile().cache.name}, {"counter", chains_.config().token_counter->id()}};
        json["total"] = with_name("name", "total", sum_);
        if (!files_.empty()) json["files"] = std::move(files_);
        if (!command_.totals_only) json["trajectories"] = std::move(list_);
        return shown_json(json) + "\n";
    }

    /// Requests or a report on standard output leave standard error for the totals.
    void tell() {
        if (command_.requests == "-" || command_.html.file == "-") {
            write_error_stream(result());
        } else {
            print(result());
        }
    }

    const ReplayCommand& command_;
    const CommonOptions& common_;
    WatchedChains chains_;
    std::optional<RequestWriter> requests_{};
    ReplayPage page_;
    TotalsText text_;
    ordered_json list_ = ordered_json::array();
    ordered_json files_ = ordered_json::array();
    std::vector<std::string> problems_{};  // the first ones, a line each
    std::set<std::string> rules_{};        ///< that requests were held to
    ReplayTotals sum_{};
    Progress progress_{};
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
    complain(
        fmt::format("warning: money is the input price times the factors of cache profile \"{}\" ({} to read, "
                    "{} to write); "
                    "prices.cache_{} says something else and is not used",
                    profile.cache.name, profile.cache.read, profile.cache.write, is_read_odd ? "read" : "write"));
}

}  // namespace

ExitCode run_replay(const ReplayCommand& command, const CommonOptions& common) {
    if (command.delta && command.requests.empty()) throw UsageError{"--delta needs --requests"};
    (void)to_shape(common.shape);  // a mistake there comes before any work
    if (command.html.file == "-" && command.requests == "-")
        throw UsageError{"--html - and --requests -: expected one of them on standard output"};
    require_different_files({{"--html", command.html.file}, {"--requests", command.requests}});
    require_different_files({{"--html", command.html.file}, {"--config", command.config.file}});
    for (const std::string& file : command.files) {
        if (command.html.file != "-") require_different_files({{"--html", command.html.file}, {"FILE", file}});
        if (command.requests != "-") require_different_files({{"--requests", command.requests}, {"FILE", file}});
    }
    if (command.requests != "-")
        require_different_files({{"--requests", command.requests}, {"--config", command.config.file}});
    ChainSettings settings = load_settings(command.config);
    warn_of_prices(settings.config.profile);
    return ReplayRun(command, common, std::move(settings)).run();
}

}  // namespace whittle::cli
