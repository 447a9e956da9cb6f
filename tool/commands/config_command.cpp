#include "config_commands.hpp"
#include "config_origins.hpp"
#include "configuration/config_types.hpp"
#include "options.hpp"
#include "output.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

void require_choice(const ConfigCommand& command, std::string_view name) {
    if (command.config.name().empty())
        throw UsageError{
            fmt::format("config {}: expected a file, or --preset NAME, such as --preset recommended", name)};
}

// -- show

/// Who gave a value that is neither a preset's nor a default.
std::string_view name_of_giver(const ConfigCommand& command) {
    return command.config.preset.empty() ? "file" : "command line";
}

std::string_view name_of(const ConfigCommand& command, ValueOrigin origin) {
    switch (origin) {
        case ValueOrigin::preset: return "preset";
        case ValueOrigin::given: return name_of_giver(command);
        case ValueOrigin::fallback: break;
    }
    return "default";
}

std::string origins_text(const ConfigCommand& command, const std::vector<OriginatedValue>& values,
                         std::size_t columns) {
    std::size_t widest = 0;
    for (const OriginatedValue& value : values) widest = std::max(widest, width_of(shown(value.path)));
    std::string text;
    for (const OriginatedValue& value : values) {
        const std::string path = shown(value.path);
        const std::string line = fmt::format("{:<12}  {}{}  {}", name_of(command, value.origin), path,
                                             std::string(widest - width_of(path), ' '), shown(value.value));
        text += clipped_to_width(line, columns) + "\n";
    }
    return text;
}

ordered_json origins_json(const ConfigCommand& command, const std::vector<OriginatedValue>& values) {
    ordered_json list = ordered_json::array();
    for (const OriginatedValue& value : values) {
        ordered_json entry{{"key", value.path}, {"origin", name_of(command, value.origin)}};
        if (value.origin == ValueOrigin::fallback) {
            entry["default"] = value.value;  // as the documentation writes it
        } else {
            entry["value"] = ordered_json::parse(value.value);
        }
        list.push_back(std::move(entry));
    }
    return list;
}

ExitCode show(const ConfigCommand& command, const CommonOptions& common) {
    require_choice(command, "show");
    if (common.json && !command.origins)
        throw UsageError{"config show: --json needs --origins; without it, it is JSON"};
    const ShownConfig config = show_config(command.config);
    if (!command.origins) {
        print_raw(shown_lines(config.written_out) + "\n");
        return done;
    }
    const std::vector<OriginatedValue> values = origins_of(config.given, config.written_out);
    print_raw(common.json ? shown_json(origins_json(command, values)) + "\n"
                          : origins_text(command, values, text_columns()));
    return done;
}

// -- check

/// "chain.json:9:52: middlewares[0].name: found ..." as JSON.
ordered_json problem_json(std::string_view line, std::string_view name) {
    ordered_json json{{"line", nullptr}, {"column", nullptr}, {"text", line}};
    const std::string prefix = std::string(name) + ":";
    if (!line.starts_with(prefix)) return json;
    std::size_t row = 0;
    std::size_t column = 0;
    const char* const end = line.data() + line.size();
    const auto first = std::from_chars(line.data() + prefix.size(), end, row);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return json;
    const auto second = std::from_chars(first.ptr + 1, end, column);
    if (second.ec != std::errc() || end - second.ptr < 2) return json;
    return {{"line", row}, {"column", column}, {"text", std::string(second.ptr + 2, end)}};
}

ordered_json check_json(const CheckedConfig& config) {
    ordered_json json{{"file", config.name}, {"good", config.problems.empty()}};
    json["problems"] = ordered_json::array();
    for (const std::string& line : config.problems) json["problems"].push_back(problem_json(line, config.name));
    json["warnings"] = ordered_json::array();
    for (const std::string& line : config.warnings) json["warnings"].push_back(problem_json(line, config.name));
    json["middlewares"] = config.middlewares;
    return json;
}

std::string check_text(const CheckedConfig& config) {
    std::string text;
    for (const std::string& line : config.problems) text += shown(line) + "\n";
    for (const std::string& line : config.warnings) text += "warning: " + shown(line) + "\n";
    if (!config.problems.empty()) return text;
    const std::string stages =
        config.middlewares.empty() ? "no middleware" : fmt::format("{}", fmt::join(config.middlewares, ", "));
    return text + fmt::format("{}: no problem: {}\n", shown(config.name), shown(stages));
}

ExitCode check_config(const ConfigCommand& command, const CommonOptions& common) {
    require_choice(command, "check");
    const CheckedConfig config = read_checked(command.config);
    if (common.json) {
        print_json(shown_json(check_json(config)) + "\n");
    } else {
        print(check_text(config));
    }
    if (config.problems.empty()) return done;
    print_note(fmt::format("failed: {}: {} {}", config.name, config.problems.size(),
                           config.problems.size() == 1 ? "problem" : "problems"));
    return failed;
}

CLI::App* add_action(CLI::App& config, ConfigCommand& command, ConfigCommand::Action action, const char* name,
                     const char* meaning) {
    CLI::App* sub = config.add_subcommand(name, meaning);
    sub->callback([&command, action] { command.action = action; });
    return sub;
}

void add_file(CLI::App& sub, ConfigCommand& command) {
    CLI::Option* file = sub.add_option("file", command.config.file, "The configuration; - is standard input");
    add_preset(sub, command.config, file->type_name("CHAIN.json"));
}

}  // namespace

CLI::App* add_config_commands(CLI::App& app, ConfigCommand& command, CommonOptions& common) {
    using Action = ConfigCommand::Action;
    CLI::App* config = app.add_subcommand("config", "Show and check a chain's configuration");
    config->require_subcommand(1);
    CLI::App* show =
        add_action(*config, command, Action::show, "show", "Print a configuration with its preset written out");
    add_file(*show, command);
    show->add_flag("--origins", command.origins, "Print every value, and whether a default, the preset or you said it");
    add_common(*show, common);
    show->footer(
        "Examples:\n"
        "  whittle config show chain.json\n"
        "  whittle config show chain.json --origins\n"
        "  whittle config show --preset recommended --window 200000 > chain.json");
    CLI::App* check =
        add_action(*config, command, Action::check, "check", "Say everything that is wrong with a configuration");
    add_file(*check, command);
    add_common(*check, common);
    check->footer(
        "Examples:\n"
        "  whittle config check chain.json\n"
        "  whittle config check - --json < chain.json\n\n"
        "No store is opened, nothing is written. Exit code 1 if there is a problem; warnings are none.");
    CLI::App* schema =
        add_action(*config, command, Action::schema, "schema", "Print the JSON Schema of configurations");
    schema->footer(
        "Examples:\n"
        "  whittle config schema > whittle.schema.json\n\n"
        "Draft 2020-12, for editors: it says what one key may be. `whittle config check` sees more.");
    return config;
}

ExitCode run_config(const ConfigCommand& command, const CommonOptions& common) {
    switch (command.action) {
        case ConfigCommand::Action::check: return check_config(command, common);
        case ConfigCommand::Action::schema:
            print_raw(config_schema(config_types(environment_value)) + "\n");
            return done;
        case ConfigCommand::Action::show: break;
    }
    return show(command, common);
}

}  // namespace whittle::cli
