#pragma once

#include "logs/logs.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

struct ReadLog {
    std::vector<logs::Session> sessions{};
    logs::LogNotes notes{};
};

inline std::string fixture_text(const std::string& name) {
    std::ifstream in(std::string(WHITTLE_SOURCE_DIR) + "/tool/tests/logs/fixtures/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Their names.
inline const std::vector<std::string>& all_fixtures() {
    static const std::vector<std::string> names{"claude_code.jsonl",
                                                "claude_code_odd.jsonl",
                                                "codex.jsonl",
                                                "codex_old.jsonl",
                                                "codex_ahead.jsonl",
                                                "gemini_cli.jsonl",
                                                "gemini_cli.json",
                                                "copilot_cli.jsonl",
                                                "copilot_cli_old.jsonl",
                                                "copilot_history.json",
                                                "swe_agent.traj",
                                                "mini_swe_agent.traj.json",
                                                "exchanges.jsonl",
                                                "responses.jsonl",
                                                "streamed.jsonl",
                                                "session.har",
                                                "opencode.json",
                                                "opencode_v2.json",
                                                "openhands.json",
                                                "otel.jsonl",
                                                "langsmith.jsonl",
                                                "langsmith.json",
                                                "langchain_messages.json",
                                                "langfuse.json",
                                                "langfuse.jsonl",
                                                "openhands_v1.jsonl",
                                                "openhands_v1.json",
                                                "base64.har",
                                                "langfuse.csv",
                                                "qwen_code.jsonl",
                                                "qwen_code_agent.jsonl",
                                                "pi.jsonl",
                                                "pi_old.jsonl",
                                                "openclaw.jsonl",
                                                "cline.jsonl",
                                                "roo_code.jsonl",
                                                "cline_session.json"};
    return names;
}

inline ReadLog read_text_as(const std::string& text, logs::Format format, logs::LogOptions options = {}) {
    std::istringstream in(text);
    ReadLog read;
    read.notes = logs::read_log(in, format, options,
                                [&](logs::Session&& session) { read.sessions.push_back(std::move(session)); });
    return read;
}

/// A fixture in the format that it is recognised as, which has to be one.
inline ReadLog read_fixture(const std::string& name) {
    const std::string text = fixture_text(name);
    return read_text_as(text, logs::recognise(text).value(), {.name = name});
}

/// Roles of the messages, a letter each: s, d, u, a, t.
inline std::string roles_of(const logs::Session& session) {
    std::string roles;
    for (const openai::Message& message : session.recording.messages)
        roles += message.json()["role"].get<std::string>().front();
    return roles;
}

inline std::vector<Usage> usage_of(const logs::Session& session) {
    std::vector<Usage> list;
    for (const logs::Call& call : session.calls) list.push_back(call.usage.value_or(Usage{}));
    return list;
}

inline std::vector<std::size_t> replies_of(const logs::Session& session) {
    std::vector<std::size_t> list;
    for (const logs::Call& call : session.calls) list.push_back(call.reply);
    return list;
}

}  // namespace whittle::testing
