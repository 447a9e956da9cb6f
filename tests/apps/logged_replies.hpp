#pragma once

#include <string>
#include <vector>

namespace whittle::testing {

struct LoggedReply {
    std::string id{};
    std::string time{};
    int input = 0;
    int output = 0;
    std::string model = "claude-x";
};

/// A session of Claude Code; each reply has a prompt in front.
inline std::string log_of_replies(const std::string& session, const std::vector<LoggedReply>& replies,
                                  const std::string& folder = "/home/ann/shop") {
    std::string log;
    std::string parent = "null";
    int number = 0;
    const auto add = [&](const std::string& time, const std::string& rest) {
        const std::string uuid = "\"" + session + std::to_string(number++) + "\"";
        log += R"({"isSidechain":false,"sessionId":")" + session + R"(","cwd":")" + folder +
               R"(","version":"2.1.50","uuid":)" + uuid + R"(,"parentUuid":)" + parent + R"(,"timestamp":")" + time +
               "\"," + rest + "}\n";
        parent = uuid;
    };
    for (const LoggedReply& reply : replies) {
        add(reply.time, R"("type":"user","message":{"role":"user","content":"go on"})");
        add(reply.time,
            R"("type":"assistant","requestId":"r)" + reply.id + R"(","message":{"id":"m)" + reply.id +
                R"(","role":"assistant","model":")" + reply.model +
                R"(","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":)" +
                std::to_string(reply.input) + R"(,"output_tokens":)" + std::to_string(reply.output) + "}}");
    }
    return log;
}

}  // namespace whittle::testing
