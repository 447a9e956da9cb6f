#pragma once

#include "support/temp_dir.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::testing {

struct CliResult {
    int exit_code = -1;  ///< 128 + signal if a signal ended it
    std::string out{};
    std::string err{};
};

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

[[nodiscard]] inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// Names of all files in `dir`, with the folders they are in, and these folders; sorted.
[[nodiscard]] inline std::vector<std::string> files_in(const TempDir& dir) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path()))
        names.push_back(std::filesystem::relative(entry.path(), dir.path()).string());
    std::ranges::sort(names);
    return names;
}

/// Runs the program in `dir` through a shell. `arguments` may hold redirections and pipes.
inline CliResult run_cli(const TempDir& dir, const std::string& arguments) {
    const TempDir streams;
    const std::string command = "cd '" + dir.path().string() + "' && '" WHITTLE_CLI "' " + arguments + " > '" +
                                (streams / "out") + "' 2> '" + (streams / "err") + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(streams / "out"),
            read_text(streams / "err")};
}

/// One session as a JSON line: a user message, rounds of a call with a result of `bytes`, an answer.
inline std::string session_line(const std::string& id, int rounds, int bytes) {
    std::string line = R"({"id":")" + id + R"(","system":"be brief","messages":[{"role":"user","content":"go"})";
    for (int i = 0; i < rounds; ++i) {
        const std::string call = "c" + std::to_string(i);
        line +=
            R"(,{"role":"assistant","content":null,"tool_calls":[{"id":")" + call +
            R"(","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":")" +
            call + R"(","content":")" + std::string(static_cast<std::size_t>(bytes), static_cast<char>('a' + i % 26)) +
            R"("})";
    }
    return line + R"(,{"role":"assistant","content":"done"}],"meta":{"mine":[1,2]}})" + "\n";
}

inline const std::string clearing_chain = R"({
  "profile": {"context_window": 9000, "prices": {"input": 2.0, "cache_read": 0.2, "cache_write": 2.5, "output": 10.0}, "cache": "anthropic_5m"},
  "storage": {"type": "file", "root": "store"},
  "middlewares": [{"type": "reduction", "skip_truncation": true, "max_tokens_for_clear": 3000}]
})";

/// The same without files.
inline const std::string memory_chain = R"({"storage": {"type": "memory"}, "middlewares": [
  {"type": "reduction", "skip_truncation": true, "max_tokens_for_clear": 3000}]})";

}  // namespace whittle::testing
