#include "options.hpp"

#include <whittle/base/error.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace agent {
namespace {

using whittle::Errc;
using whittle::Error;

[[noreturn]] void refuse(const std::string& reason) {
    throw Error(Errc::invalid_argument, "read the options: " + reason + " (--help lists them)");
}

int positive(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1)
        refuse("--max-steps: expected a whole number from 1, found \"" + std::string(text) + "\"");
    return number;
}

double cost(std::string_view text) {
    char* end = nullptr;
    const std::string owned(text);
    const double number = std::strtod(owned.c_str(), &end);
    if (owned.empty() || *end != '\0' || !(number > 0.0) || !std::isfinite(number))
        refuse("--max-cost: expected a number above 0, found \"" + owned + "\"");
    return number;
}

void set(Options& options, std::string_view name, const std::string& value) {
    if (name == "--workspace") options.workspace = value;
    if (name == "--config") options.config = value;
    if (name == "--store") options.store = value;
    if (name == "--session") options.session = value;
    if (name == "--id") options.id = value;
    if (name == "--enum") options.enumeration = value;
    if (name == "--max-steps") options.max_steps = positive(value);
    if (name == "--model") options.model = value;
    if (name == "--base-url") options.base_url = value;
    if (name == "--api") options.api = value;
    if (name == "--api-key-env") options.api_key_env = value;
    if (name == "--task") options.task = value;
    if (name == "--max-cost") options.max_cost = cost(value);
}

/// Options that only mean something together.
void check(const Options& options) {
    if (options.workspace.empty()) refuse("--workspace is missing");
    if (options.config.empty()) refuse("--config is missing");
    if (options.resume && options.session.empty()) refuse("--resume needs --session");
    if (options.model.empty() && (options.resume || !options.task.empty()))
        refuse("--resume and --task need --model: the scripted model knows one task");
    if (options.model.empty() && !(options.base_url + options.api + options.api_key_env).empty())
        refuse("--base-url, --api and --api-key-env need --model");
    if (!options.model.empty() && options.task.empty() && !options.resume) refuse("--model needs --task");
}

bool takes_value(std::string_view name) {
    constexpr std::array<std::string_view, 13> names{"--workspace",   "--config",    "--store",   "--session",  "--id",
                                                     "--enum",        "--max-steps", "--model",   "--base-url", "--api",
                                                     "--api-key-env", "--task",      "--max-cost"};
    for (const std::string_view known : names) {
        if (name == known) return true;
    }
    return false;
}

}  // namespace

const char* help_text() noexcept {
    return R"(A coding agent with real tools, whose history whittle keeps small.

  whittle_agent --workspace DIR --config FILE [options]

Without --model, the model is a script (no key, no network) that knows one task: it reads through the workspace, adds a
list of all values behind an enumeration, and checks that it compiles. What it knows it has from the requests that it
gets: what was cleared from them, it reads back from the store. It changes files in the workspace: give it a copy.

  --workspace DIR   the folder that the tools may read and edit, and in which commands run
  --config FILE     the chain's configuration (extensions/config/README.md)
  --store DIR       takes what is cleared, in the file objects.db of SQLite where the build has it, else as files
                    (default: "store" beside the configuration, unless that names files, SQLite or Redis)
  --session FILE    records the session here, uncleared, for `whittle replay`
  --id NAME         of the session                                         (default: session)
  --enum NAME       the enumeration to work on                             (default: Errc)
  --max-steps N     model calls at most                                    (default: 200)

  --model NAME      a real model, with the task of --task
  --base-url URL    its server, such as http://localhost:8080/v1             (default: the provider's)
  --api NAME        anthropic, or a kind of chat-completions server: openai, azure, vllm, llama_cpp, ollama, lm_studio,
                    openrouter, litellm, deepseek, compatible                (default: openai)
  --api-key-env V   the environment variable with the key; without it and without --base-url, OPENAI_API_KEY or
                    ANTHROPIC_API_KEY; with --base-url, no key is sent
  --task TEXT       what to do
  --resume          go on with the session in --session; with --task, with a new task
  --max-cost X      end before the call that comes after X was spent, by profile.prices of the configuration

  --check           fail unless the run shows what scripts/demo promises
  --help            this text

Ctrl-C ends the run after killing the running command; the session is kept. A second Ctrl-C ends the program at once.
Exit codes: 0 done, 1 the run or the check failed, 2 bad options or configuration, 130 stopped.
)";
}

Options parse_options(std::span<char* const> arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view name = arguments[i];
        if (name == "--help")
            options.help = true;
        else if (name == "--check")
            options.check = true;
        else if (name == "--resume")
            options.resume = true;
        else if (!takes_value(name))
            refuse("there is no option \"" + std::string(name) + "\"");
        else if (i + 1 == arguments.size())
            refuse(std::string(name) + " needs a value");
        else
            set(options, name, arguments[++i]);
    }
    if (!options.help) check(options);
    return options;
}

}  // namespace agent
