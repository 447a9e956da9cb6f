#pragma once

#include "log_file.hpp"

#include <string>

namespace whittle::testing {

/// A record of Claude Code; `parent` "" stands for null.
inline std::string claude_record(const std::string& id, const std::string& parent, const std::string& rest) {
    return R"({"isSidechain":false,"sessionId":"s","version":"2.1.100","uuid":")" + id + R"(","parentUuid":)" +
           (parent.empty() ? "null" : '"' + parent + '"') + "," + rest + "}\n";
}

inline std::string claude_prompt(const std::string& id, const std::string& parent, const std::string& text,
                                 const std::string& more = "") {
    return claude_record(id, parent,
                         R"("type":"user",)" + more + R"("message":{"role":"user","content":")" + text + R"("})");
}

/// `blocks`: without the brackets; `usage`: as well as `more`, members in front of the others.
inline std::string claude_reply(const std::string& id, const std::string& parent, const std::string& message,
                                const std::string& blocks,
                                const std::string& usage = R"("input_tokens":10,"output_tokens":5)",
                                const std::string& more = R"("requestId":"r",)") {
    return claude_record(id, parent,
                         more + R"("type":"assistant","message":{"id":")" + message +
                             R"(","model":"large","role":"assistant","content":[)" + blocks + R"(],"usage":{)" + usage +
                             "}}");
}

inline std::string claude_text(const std::string& text) { return R"({"type":"text","text":")" + text + R"("})"; }

inline std::string claude_call(const std::string& id) {
    return R"({"type":"tool_use","id":")" + id + R"(","name":"Read","input":{}})";
}

inline std::string claude_result(const std::string& id, const std::string& parent, const std::string& call) {
    return claude_record(id, parent,
                         R"("type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":")" +
                             call + R"(","content":"read"}]})");
}

inline ReadLog read_claude(const std::string& text) { return read_text_as(text, logs::Format::claude_code); }

/// The texts of the request that a call of the only session was given with, a line each; results as their calls.
inline std::string request_text(const logs::Session& session, std::size_t call) {
    std::string texts;
    for (const auto& message : session.request_of(session.calls.at(call))) {
        const auto& content = message["content"];
        if (content.is_string()) texts += content.get<std::string>() + "\n";
        for (const auto& block : content.is_array() ? content : nlohmann::ordered_json::array()) {
            const std::string type = block["type"];
            texts += (type == "text"          ? block["text"].get<std::string>()
                      : type == "tool_use"    ? "call " + block["id"].get<std::string>()
                      : type == "tool_result" ? "result " + block["tool_use_id"].get<std::string>()
                                              : type) +
                     "\n";
        }
    }
    return texts;
}

}  // namespace whittle::testing
