#include "options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace whittle::cli {

void add_common(CLI::App& command, CommonOptions& common) {
    command.add_flag("--json", common.json, "Print the result as JSON");
    command.add_flag("--no-color", common.no_color, "Print without terminal colours (as NO_COLOR does)");
}

void add_session_file(CLI::App& command, std::string& file) {
    command
        .add_option("file", file,
                    "A session of OpenAI or Anthropic messages: JSON Lines or JSON, also as gzip; - is standard input")
        ->required()
        ->type_name("FILE");
}

void add_shape(CLI::App& command, CommonOptions& common) {
    command
        .add_option("--shape", common.shape,
                    "Whose messages the sessions hold, openai or anthropic; without it each session shows it")
        ->type_name("NAME");
    command
        .add_option("--max-input", common.limits.max_bytes,
                    "The largest session, unpacked, such as 64M or 2G (default 256M); 0 for any")
        ->transform(CLI::AsSizeValue(false))
        ->type_name("SIZE");
    command
        .add_option("--max-ratio", common.limits.max_ratio,
                    "How many times as large packed data may become, above 16M (default 200); 0 for any")
        ->type_name("N");
}

void add_no_mask(CLI::App& command, CommonOptions& common) {
    command.add_flag("--no-mask", common.no_mask, "Print what looks like a secret as it is");
}

void add_remote(CLI::App& command, CommonOptions& common) {
    command.add_flag("--allow-remote", common.allow_remote,
                     "Ask models of the configuration on other machines too, which may cost money");
}

void add_html(CLI::App& command, HtmlChoice& html) {
    command
        .add_option("--html", html.file,
                    "Write a report: one HTML file with the most expensive sessions call by call; - is standard output")
        ->type_name("OUT.html");
    command
        .add_option("--html-originals-bytes", html.text_bytes,
                    "With --html: what the texts of messages may take in it; longer ones lose their middle (default "
                    "2000000)")
        ->check(whole_number_check(0, "bytes"))
        ->type_name("BYTES");
}

CLI::Validator whole_number_check(std::int64_t lowest, const std::string& unit) {
    const auto check = [lowest, unit](std::string& text) -> std::string {
        constexpr std::size_t most_digits = 15;  // so that seconds of so many hours are a number still
        const bool is_number = !text.empty() && text.size() <= most_digits &&
                               std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }) &&
                               std::stoll(text) >= lowest;
        return is_number ? "" : fmt::format("found {}, expected {}: a whole number, {} or more", text, unit, lowest);
    };
    return CLI::Validator(check, "");
}

namespace {

void add_preset_with(CLI::App& command, ConfigChoice& config, CLI::Option* file, const char* without_window) {
    CLI::Option* preset =
        command
            .add_option("--preset", config.preset,
                        "Instead: recommended, lossless, local or cheap; `whittle config show` prints what they are")
            ->type_name("NAME")
            ->excludes(file);
    command
        .add_option("--window", config.window,
                    fmt::format("With --preset: tokens of the model's window ({})", without_window))
        ->check(whole_number_check(1, "tokens, such as 200000"))
        ->type_name("TOKENS")
        ->needs(preset);
    command
        .add_option("--cache", config.cache,
                    "With --preset: the provider's cache, such as anthropic_5m or openai_2026; left out: "
                    "anthropic_5m, in replay, explain and diff by each session's bill")
        ->type_name("NAME")
        ->needs(preset);
}

}  // namespace

void add_preset(CLI::App& command, ConfigChoice& config, CLI::Option* file) {
    add_preset_with(command, config, file, "left out: unknown");
}

void add_config(CLI::App& command, ConfigChoice& config) {
    config.window = default_window;
    CLI::Option* file = command.add_option("--config", config.file, "The chain, as extensions/config/README.md has it");
    add_preset_with(command, config, file->type_name("CHAIN.json"), "default 200000");
}

}  // namespace whittle::cli
