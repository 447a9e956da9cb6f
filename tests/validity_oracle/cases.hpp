// The Python side of these tests: generate.py writes histories with a verdict, judge.py gives verdicts on others.
#pragma once

#include "support/temp_dir.hpp"
#include "whittle/message/validity.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Rule ids with the index of their message, each pair once.
using Verdict = std::set<std::pair<std::string, std::size_t>>;

[[nodiscard]] inline bool has_python() { return std::system("python3 -c 'import sys' > /dev/null 2>&1") == 0; }

/// The lines that a script of this folder prints, as JSON; empty if it fails.
[[nodiscard]] inline std::vector<nlohmann::ordered_json> lines_of(const std::string& script,
                                                                  const std::string& arguments) {
    const TempDir dir;
    const std::string file = dir / "lines.jsonl";
    const std::string command =
        "python3 -B '" WHITTLE_SOURCE_DIR "/tests/validity_oracle/" + script + "' " + arguments + " > '" + file + "'";
    std::vector<nlohmann::ordered_json> lines;
    if (std::system(command.c_str()) != 0) return lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::ordered_json::parse(line));
    return lines;
}

[[nodiscard]] inline Verdict verdict_from(const nlohmann::ordered_json& pairs) {
    Verdict verdict;
    for (const auto& pair : pairs) verdict.emplace(pair[0].get<std::string>(), pair[1].get<std::size_t>());
    return verdict;
}

[[nodiscard]] inline Verdict verdict_from(const std::vector<Violation>& violations) {
    Verdict verdict;
    for (const Violation& v : violations) verdict.emplace(std::string(to_string(v.rule)), v.message_index);
    return verdict;
}

[[nodiscard]] inline std::string shown(const Verdict& verdict) {
    std::string text;
    for (const auto& [rule, message] : verdict) text += rule + "@" + std::to_string(message) + " ";
    return text;
}

template <typename M>
[[nodiscard]] std::vector<M> messages_of(const nlohmann::ordered_json& list) {
    std::vector<M> messages;
    for (const auto& m : list) messages.push_back(message_traits<M>::from_bytes(m.dump()));
    return messages;
}

}  // namespace whittle::testing
