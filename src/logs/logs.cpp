#include "whittle/logs/logs.hpp"

#include "entries.hpp"
#include "readers.hpp"

#include <algorithm>

namespace whittle::inline v0::logs {

std::vector<nlohmann::ordered_json> Session::request_of(const Call& call) const {
    std::vector<nlohmann::ordered_json> request;
    std::size_t first = 0;
    for (const Compaction& compaction : compactions) {
        if (compaction.before > call.reply) break;
        first = compaction.before;
        request = compaction.kept;
    }
    for (std::size_t i = first; i < call.reply; ++i) request.push_back(recording.messages[i].json());
    return request;
}

Usage billed(const Session& session) noexcept {
    if (session.billed_in_all) return *session.billed_in_all;
    Usage sum = session.billed_elsewhere;
    for (const Call& call : session.calls) add_usage(sum, call.usage.value_or(Usage{}));
    return sum;
}

LogNotes read_log(std::istream& in, Format format, const LogOptions& options, FunctionRef<void(Session&&)> visit) {
    LogNotes notes;
    switch (format) {
        case Format::claude_code: read_claude_code(in, options, notes, visit); break;
        case Format::codex: read_codex(in, options, notes, visit); break;
        case Format::gemini_cli: read_gemini_cli(in, options, notes, visit); break;
        case Format::swe_agent: read_swe_agent(in, options, notes, visit); break;
        case Format::exchanges: read_exchanges(in, options, notes, visit); break;
        case Format::har: read_har(in, options, notes, visit); break;
    }
    return notes;
}

}  // namespace whittle::inline v0::logs
