// What an agent left of its sessions on disk: recognised by what the file holds, and read.
#include <logs/logs.hpp>

#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>

using namespace whittle;

int main() {
    // Three lines of a log of Claude Code: one reply of the model is two records.
    const std::string log =
        R"({"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"sessionId":"s","version":"2.1.48","message":{"role":"user","content":"Add the prices."}})"
        "\n"
        R"({"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":false,"sessionId":"s","timestamp":"2026-11-28T10:00:00Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":4,"cache_read_input_tokens":9000,"output_tokens":2}}})"
        "\n"
        R"({"type":"assistant","uuid":"3","parentUuid":"2","isSidechain":false,"sessionId":"s","timestamp":"2026-11-28T10:00:00Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}],"usage":{"input_tokens":4,"cache_read_input_tokens":9000,"output_tokens":31}}})"
        "\n{\"type\":\"assistant\",\"uu";  // the disk was full

    // [read]
    const auto format = logs::recognise(log);
    if (!format) return 1;
    std::istringstream in(log);
    const logs::LogNotes notes = logs::read_log(in, *format, {.name = "s.jsonl"}, [](const logs::Session& session) {
        const Usage bill = logs::billed(session);
        std::cout << session.recording.id << ": " << session.recording.messages.size() << " messages, "
                  << session.calls.size() << " call, " << bill.cache_read << " tokens read from the cache, "
                  << bill.output << " out\n";
    });
    for (const auto& line : notes.damaged_lines) std::cout << "line " << line.line << " is damaged\n";
    // [/read]

    // The bill alone, which takes half of the time: long texts that tell nothing of it are cut.
    std::istringstream again(log);
    (void)logs::read_log(again, *format, {.name = "s.jsonl", .bills_only = true}, [](const logs::Session& session) {
        for (const logs::Call& call : session.calls)
            std::cout << "billed " << static_cast<std::int64_t>(call.time.value_or(0))
                      << " s after 1970 began: " << call.usage.value_or(Usage{}).output << " out\n";
    });
}
