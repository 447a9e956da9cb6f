#include "call_progress.hpp"
#include "chain_replay.hpp"
#include "commands.hpp"
#include "compared_chain.hpp"
#include "comparison.hpp"
#include "cost_basis.hpp"
#include "evaluation/recorded.hpp"
#include "interrupt.hpp"
#include "memory_store.hpp"
#include "output.hpp"
#include "read_sessions.hpp"
#include "same_file.hpp"
#include "shape.hpp"
#include "shown.hpp"
#include "terminal.hpp"

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

/// Takes the place of the profile that each session is paid by.
const evaluation::CostProfile as_billed{.cache = {.name = "billed"}};

std::vector<evaluation::CostProfile> profiles_named(const std::vector<std::string>& names) {
    std::vector<evaluation::CostProfile> profiles;
    if (names.empty()) profiles.push_back(as_billed);
    std::vector<std::string> known;
    for (const evaluation::CostProfile& profile : evaluation::cost_profiles()) {
        known.push_back(profile.cache.name);
        if (names.empty()) profiles.push_back(profile);
    }
    for (const std::string& name : names) {
        const evaluation::CostProfile* profile = evaluation::find_cost_profile(name);
        if (name == as_billed.cache.name) profile = &as_billed;
        if (profile == nullptr)
            throw UsageError{fmt::format("--profile {}: expected {} or one of {}", name, as_billed.cache.name,
                                         fmt::join(known, ", "))};
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

/// What stands in front of the messages of a session, as `--front` has it.
class Front {
public:
    explicit Front(const std::string& choice) : is_recorded_(choice == "recorded") {
        if (is_recorded_) return;
        const bool is_share = choice.ends_with('%');
        const std::string digits = is_share ? choice.substr(0, choice.size() - 1) : choice;
        constexpr std::size_t most_digits = 6;
        const bool is_number = !digits.empty() && digits.size() <= most_digits &&
                               std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
        if (!is_number || (is_share && std::stoll(digits) > 90))
            throw UsageError{fmt::format(
                "--front {}: expected recorded, tokens such as 15000 (below 1000000), or up to 90% of a request",
                choice)};
        (is_share ? percent_ : tokens_) = std::stoll(digits);
    }

    [[nodiscard]] std::int64_t tokens_of(const CostBasis& basis, const evaluation::SessionInput& input) const {
        if (is_recorded_) return basis.front.value_or(0);
        if (!percent_) return tokens_.value_or(0);
        return *percent_ * mean_request(input) / (100 - *percent_);
    }

private:
    static std::int64_t mean_request(const evaluation::SessionInput& input) {
        std::int64_t sent = evaluation::estimated_tokens(input.system) + evaluation::estimated_tokens(input.tools);
        std::int64_t sum = 0;
        std::int64_t calls = 0;
        for (const evaluation::Message& message : input.messages) {
            if (message.role == Role::assistant) {
                ++calls;
                sum += sent;
            }
            sent += evaluation::estimated_tokens(evaluation::text_of(message));
        }
        return calls > 0 ? sum / calls : 0;
    }

    bool is_recorded_;
    std::optional<std::int64_t> tokens_{};
    std::optional<std::int64_t> percent_{};
};

/// The presets, for the first of the prices and the window, and the configurations.
std::vector<ConfigChoice> configs_of(const CompareCommand& command,
                                     const std::vector<evaluation::CostProfile>& profiles) {
    std::vector<std::string> names = command.presets;
    if (names.empty() && command.strategies.empty()) names = {"recommended", "lossless", "cheap"};
    std::vector<ConfigChoice> configs;
    for (const std::string& name : names) {
        const bool has_own = name == "local" || profiles.front() == as_billed;
        const std::string cache = has_own ? std::string() : profiles.front().cache.name;
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
        : command_(command), common_(common), controls_(controls_named(command.strategies)), front_(command.front) {
        comparison_.profiles = profiles_named(command.profiles);
        comparison_.window = command.window;
        comparison_.files = command.files;
        comparison_.by_file = command.by_file;
        comparison_.sessions = command.sessions;
        comparison_.all = command.all;
        for (const ConfigChoice& config : configs_of(command, comparison_.profiles))
            chains_.push_back(std::make_unique<ComparedChain>(config, common.allow_remote));
    }

    ExitCode run() {
        for (std::size_t file = 0; file < command_.files.size(); ++file) read(file);
        if (command_.svg != "-") print_result();
        if (!command_.svg.empty()) write_chart();
        ReplayTotals sum;
        for (const auto& chain : chains_) sum += chain->totals();
        for (const std::string& error : sum.errors) print_note(shown(error));
        const std::string reason = reason_of_failure(sum);
        if (reason.empty()) return done;
        print_note("failed: " + reason);
        return failed;
    }

private:
    void read(std::size_t file) {
        const std::string& path = command_.files[file];
        for_each_session(path, common_, progress_, [&](const auto& trajectory) {
            evaluation::SessionInput input = evaluation::to_session(trajectory, path);
            CostBasis basis = cost_basis_of(trajectory, input);
            if (comparison_.profiles.front() != as_billed) {
                basis.profile = comparison_.profiles.front();
                basis.source = CacheSource::choice;
            }
            for (const auto& chain : chains_) {
                CallProgress calls(trajectory, chain->name());
                chain->take(trajectory, basis, [&] { calls.pass(); });
            }
            const std::int64_t front = front_.tokens_of(basis, input);
            if (command_.front != "recorded") {
                basis.front = front;
                basis.is_front_chosen = true;
            }
            comparison_.bases.add(basis);
            comparison_.file_of.push_back(file);
            begin_strategies();
            add_front(input, front);
            evaluate(evaluation::Session(std::move(input)), basis);
        });
    }

    void begin_strategies() {
        if (!comparison_.strategies.empty()) return;
        for (const evaluation::Control* control : controls_)
            comparison_.strategies.push_back(
                {std::string(control->name), "control", std::string(control->description)});
        for (const auto& chain : chains_)
            comparison_.strategies.push_back({chain->name(), "chain", chain->description()});
    }

    void evaluate(const evaluation::Session& session, const CostBasis& basis) {
        evaluation::RunOptions options{.profiles = comparison_.profiles, .window = command_.window};
        std::ranges::replace(options.profiles, as_billed, basis.profile);
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
            comparison_.strategies[strategy++].figures.push_back(chain->evaluate_last(session, options));
    }

    void write_chart() const {
        OutputFile out(command_.svg);
        out.write(comparison_svg(comparison_));
        out.commit();
    }

    void print_result() const {
        if (common_.json) return print_json(comparison_json(comparison_));
        if (command_.csv) return print(comparison_csv(comparison_));
        print(comparison_text(comparison_, may_colour(common_.no_color), table_columns()));
    }

    const CompareCommand& command_;
    const CommonOptions& common_;
    std::vector<const evaluation::Control*> controls_;
    std::vector<std::unique_ptr<ComparedChain>> chains_{};
    Front front_;
    Comparison comparison_{};
    Progress progress_{};
};

}  // namespace

ExitCode run_compare(const CompareCommand& command, const CommonOptions& common) {
    if (command.csv && common.json) throw UsageError{"--csv and --json: expected one of them"};
    if (command.sessions && !common.json) throw UsageError{"--sessions needs --json"};
    if (command.svg == "-" && (common.json || command.csv))
        throw UsageError{"--svg -: expected a file together with --json and --csv"};
    check_chart_path(command);
    (void)to_shape(common.shape);  // a mistake there comes before any work
    return CompareRun(command, common).run();
}

}  // namespace whittle::cli
