// Any bytes as a log of any agent: reading ends, calls belong to replies, and what was read can be written.
#include "logs/logs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace {

using whittle::logs::Session;

void require(bool condition) {
    if (!condition) __builtin_trap();
}

void look_at(const Session& session) {
    const auto& messages = session.recording.messages;
    // Without messages where all was taken back: then it has a bill.
    const bool is_billed =
        std::ranges::any_of(session.elsewhere, [](const auto& call) { return call.usage.has_value(); });
    require(!messages.empty() || is_billed);
    for (const auto& call : session.calls) {
        require(call.reply < messages.size() && messages[call.reply].json()["role"] == "assistant");
        static_cast<void>(session.request_of(call));
    }
    for (const auto& compaction : session.compactions) require(compaction.before <= messages.size());
    require(!whittle::to_json_line(session.recording).empty());
}

void read_as(std::string_view text, whittle::logs::Format format) {
    std::istringstream in{std::string(text)};
    std::int64_t sessions = 0;
    const auto notes = whittle::logs::read_log(in, format, {.limits = {.max_bytes = 100'000}}, [&](Session&& session) {
        ++sessions;
        look_at(session);
    });
    require(notes.sessions == sessions);
}

}  // namespace

/// The first byte chooses the format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto formats = whittle::logs::formats();
    read_as(text, formats[data[0] % formats.size()]);
    static_cast<void>(whittle::logs::recognise(text));
    return 0;
}
