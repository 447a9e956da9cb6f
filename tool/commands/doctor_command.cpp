#include "diagnosis.hpp"
#include "documentation.hpp"
#include "explain_commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "shown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace whittle::cli {
namespace {

/// Nothing else can be looked at where the configuration is wrong.
Symptoms diagnose(const DoctorCommand& command, const CommonOptions& common) {
    Symptoms findings;
    const CheckedConfig checked = read_checked(command.config);
    for (const std::string& problem : checked.problems)
        findings.push_back(
            {Health::failed, "configuration", problem, documentation("extensions/config/README.md") + " has the keys"});
    for (const std::string& warning : checked.warnings)
        findings.push_back({Health::warning, "configuration", warning, {}});
    if (!checked.settings) return findings;
    findings.push_back(
        {Health::ok,
         "configuration",
         fmt::format(
             "{}: {}", checked.name,
             checked.middlewares.empty() ? "no middleware" : fmt::format("{}", fmt::join(checked.middlewares, ", "))),
         {}});
    const ChainSettings& settings = *checked.settings;
    diagnose_profile(settings, findings);
    diagnose_stores(settings, findings);
    diagnose_vocabularies(settings, findings);
    diagnose_cache(settings, findings);
    diagnose_models(settings, common.allow_remote, findings);
    return findings;
}

}  // namespace

CLI::App* add_doctor(CLI::App& app, DoctorCommand& command) {
    CLI::App* sub = app.add_subcommand("doctor", "Say whether a configuration can do its work here, and what to do");
    CLI::Option* file = sub->add_option("file,--config", command.config.file, "The configuration; - is standard input");
    add_preset(*sub, command.config, file->type_name("CHAIN.json"));
    sub->footer(
        "Examples:\n"
        "  whittle doctor chain.json\n"
        "  whittle doctor chain.json --allow-remote --json\n\n"
        "A store that is there gets an object of 64 KiB, which is removed again. Servers on this machine are asked "
        "what\n"
        "they are. Exit code 1 if something failed; warnings are none.");
    return sub;
}

ExitCode run_doctor(const DoctorCommand& command, const CommonOptions& common) {
    if (command.config.name().empty())
        throw UsageError{"doctor: expected a configuration, or --preset NAME, such as --preset recommended"};
    const Symptoms findings = diagnose(command, common);
    if (common.json) {
        print_json(shown_json(symptoms_json(findings)) + "\n");
    } else {
        print(symptoms_text(findings));
    }
    std::vector<std::string> topics;
    for (const Symptom& finding : findings) {
        if (finding.health == Health::failed && std::ranges::find(topics, finding.topic) == topics.end())
            topics.push_back(finding.topic);
    }
    if (topics.empty()) return done;
    print_note(fmt::format("failed: {}", fmt::join(topics, ", ")));
    return failed;
}

}  // namespace whittle::cli
