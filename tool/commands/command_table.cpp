#include "command_table.hpp"

#include "whittle/chain/config.hpp"
#include "whittle/preset/presets.hpp"

#include <CLI/CLI.hpp>

namespace whittle::cli {
namespace {

OptionEntry argument_of(const CLI::Option& option) {
    return {.name = option.get_name(true),
            .value = option.get_type_name(),
            .meaning = option.get_description(),
            .is_argument = true,
            .is_required = option.get_required()};
}

OptionEntry named_of(const CLI::Option& option) {
    OptionEntry entry{.meaning = option.get_description(), .is_required = option.get_required()};
    entry.name = option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front();
    if (option.get_items_expected_max() > 0) entry.value = option.get_type_name();
    return entry;
}

/// One that may be given with and without its name is both.
void add_option_to(std::vector<OptionEntry>& options, const CLI::Option& option) {
    if (option.get_positional()) options.push_back(argument_of(option));
    if (!option.get_lnames().empty() || !option.get_snames().empty()) options.push_back(named_of(option));
}

void add_entries(const CLI::App& app, const std::string& path, std::vector<CommandEntry>& table) {
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    CommandEntry entry{.path = path,
                       .meaning = app.get_description(),
                       .options = {},
                       .footer = app.get_footer(),
                       .has_commands = !commands.empty()};
    for (const CLI::Option* option : app.get_options()) add_option_to(entry.options, *option);
    table.push_back(std::move(entry));
    for (const CLI::App* command : commands)
        add_entries(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), table);
}

}  // namespace

std::string_view CommandEntry::name() const noexcept {
    const std::string_view whole = path;
    return whole.substr(whole.rfind(' ') + 1);
}

std::string_view CommandEntry::parent() const noexcept {
    const std::size_t space = path.rfind(' ');
    return space == std::string::npos ? std::string_view() : std::string_view(path).substr(0, space);
}

std::vector<CommandEntry> command_table(const CLI::App& app) {
    std::vector<CommandEntry> table;
    add_entries(app, "", table);
    return table;
}

std::vector<std::string> words_for(const CommandEntry& command, const OptionEntry& option) {
    std::vector<std::string> words;
    if (option.name == "--preset") {
        for (const Preset preset : presets()) words.emplace_back(whittle::to_string(preset));
    } else if (option.name == "--cache") {
        for (const CacheProfile& cache : cache_profiles()) words.push_back(cache.name);
    } else if (option.name == "--shape") {
        words = {"openai", "anthropic"};
    } else if (option.name == "--profile" && command.path == "check") {
        for (const ValidityProfile* profile : validity_profiles()) words.emplace_back(profile->name);
    } else if (command.path == "completion" && option.is_argument) {
        words = {"bash", "zsh", "fish"};
    }
    return words;
}

}  // namespace whittle::cli
