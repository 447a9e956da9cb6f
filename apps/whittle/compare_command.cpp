#include "call_progress.hpp"
#include "chain_replay.hpp"
#include "commands.hpp"
#include "compared_chain.hpp"
#include "comparison.hpp"
#include "memory_store.hpp"
#include "same_file.hpp"
#include "terminal.hpp"
#include "whittle/evaluation/recorded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace whittle::cli {
namespace {

std::vector<evaluation::CostProfile> profiles_named(const std::vector<std::string>& names) {
    std::vector<evaluation::CostProfile> profiles;
    std::vector<std::string> known;
    for (const evaluation::CostProfile& profile : evaluation::cost_profiles()) {
        known.push_back(profile.cache.name);
        if (names.empty()) profiles.push_back(profile);
    }
    for (const std::string& name : names) {
        const evaluation::CostProfile* profile = evaluation::find_cost_profile(name);
        if (profile == nullptr)
            throw UsageError{fmt::format("--profile {}: expected one of {}", name, fmt::join(known, ", "))};
        if (std::ranges::find(profiles, *profile) == profiles.end()) profiles.push_back(*profile);
    }
    return profiles;
}

std::vector<const evaluation::Control*> controls_named(const std::vector<std::string>& names) {
    std::vector<const evaluation::Control*> controls;
    std::vector<std::string_view> known;
    for (const evaluation::Control& control : evaluation::controls()) {
        known.push_back(control.name);
        if (names.empty()) controls.push_back(&control);
    }
    for (const std::string& name : names) {
        const evaluation::Control* control = evaluation::find_control(name);
        if (control == nullptr)
            throw UsageError{fmt::format("--strategy {}: expected one of {}", name, fmt::join(known, ", "))};
        if (std::ranges::find(controls, control) == controls.end()) controls.push_back(control);
    }
    return controls;
}

/// The presets, for the first of the prices and the window, and the configurations.
std::vector<ConfigChoice> configs_of(const CompareCommand& command,
                                     const std::vector<evaluation::CostProfile>& profiles) {
    std::vector<std::string> names = command.presets;
    if (names.empty() && command.strategies.empty()) names = {"recommended", "lossless", "cheap"};
    std::vector<ConfigChoice> configs;
    for (const std::string& name : names) {
        const std::string cache = name == "local" ? std::string() : profiles.front().cache.name;
        configs.push_back({.preset = name, .window = command.window, .cache = cache});
    }
    for (const std::string& file : command.configs) configs.push_back({.file = file});
    return configs;
}

/// The chart must not take the place of what is read.
void check_chart_path(const CompareCommand& command) {
    if (command.svg.empty()) return;
    for (const std::string& file : command.files) require_different_files({{"--svg", command.svg}, {"FILE", file}});
    for (const std::string& file : command.configs)
        require_different_files({{"--svg", command.svg}, {"--config", file}});
}

class CompareRun {
public:
    CompareRun(const CompareCommand& command, const CommonOptions& common)
        : command_(command), common_(common), controls_(controls_named(command.strategies)) {
        comparison_.profiles = profiles_named(command.profiles);
        comparison_.window = command.window;
        comparison_.files = command.files;
        comparison_.by_file = command.by_file;
        comparison_.sessions = command.sessions;
        for (const ConfigChoice& config : configs_of(command, comparison_.profiles))
            chains_.push_back(std::make_unique<ComparedChain>(config, common.allow_remote));
    }

    ExitCode run() {
        for (std::size_t file = 0; file < command_.files.size(); ++file) read(file);
        begin_strategies();
        for (std::size_t i = 0; i < inputs_.size(); ++i) evaluate(i);
        if (command_.svg != "-") print(result());
        if (!command_.svg.empty()) write_chart();
        ReplayTotals sum;
        for (const auto& chain : chains_) sum += chain->totals();
        for (const std::string& error : sum.errors) complain(shown(error));
        const std::string reason = reason_of_failure(sum);
        if (reason.empty()) return done;
        complain("failed: " + reason);
        return failed;
    }

private:
    /// What all sessions have in common is known only at the end, so they are evaluated later.
    void read(std::size_t file) {
        const std::string& path = command_.files[file];
        for_each_session(path, common_, progress_, [&](const auto& trajectory) {
            for (const auto& chain : chains_) {
                CallProgress calls(trajectory, chain->name());
                chain->take(trajectory, [&] { calls.pass(); });
            }
            inputs_.push_back(evaluation::to_session(trajectory, path));
            common_words_.add(inputs_.back());
            comparison_.file_of.push_back(file);
        });
    }

    void begin_strategies() {
        for (const evaluation::Control* control : controls_)
            comparison_.strategies.push_back(
                {std::string(control->name), "control", std::string(control->description)});
        for (const auto& chain : chains_)
            comparison_.strategies.push_back({chain->name(), "chain", chain->description()});
    }

    void evaluate(std::size_t i) {
        if (i == 0) progress_.begin();
        progress_.show("comparing: ", {static_cast<double>(i), static_cast<double>(inputs_.size()), "sessions"});
        const evaluation::Session session(std::exchange(inputs_[i], {}), &common_words_);
        const evaluation::RunOptions options{.profiles = comparison_.profiles, .window = command_.window};
        std::size_t strategy = 0;
        for (const evaluation::Control* control : controls_) {
            evaluation::Run run(session, options);
            control->requests(session, [&](std::size_t call, const evaluation::Request& request) {
                throw_if_interrupted();
                run.send(call, request);
            });
            comparison_.strategies[strategy++].figures.push_back(run.finish());
        }
        for (const auto& chain : chains_)
            comparison_.strategies[strategy++].figures.push_back(chain->evaluate(i, session, options));
    }

    void write_chart() const {
        OutputFile out(command_.svg);
        out.write(comparison_svg(comparison_));
        out.commit();
    }

    [[nodiscard]] std::string result() const {
        if (common_.json) return comparison_json(comparison_);
        if (command_.csv) return comparison_csv(comparison_);
        return comparison_text(comparison_, may_colour(common_.no_color), table_columns());
    }

    const CompareCommand& command_;
    const CommonOptions& common_;
    std::vector<const evaluation::Control*> controls_;
    std::vector<std::unique_ptr<ComparedChain>> chains_{};
    std::vector<evaluation::SessionInput> inputs_{};
    evaluation::CommonIdentifiers common_words_{};
    Comparison comparison_{};
    Progress progress_{};
};

}  // namespace

ExitCode run_compare(const CompareCommand& command, const CommonOptions& common) {
    if (command.csv && common.json) throw UsageError{"--csv and --json: expected one of them"};
    if (command.sessions && !common.json) throw UsageError{"--sessions needs --json"};
    if (command.svg == "-" && (common.json || command.csv))
        throw UsageError{"--svg -: expected a file beside --json and --csv"};
    check_chart_path(command);
    (void)to_shape(common.shape);  // a mistake there comes before any work
    return CompareRun(command, common).run();
}

}  // namespace whittle::cli
