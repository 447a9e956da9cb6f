#include "logs.hpp"

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
    for (const Call& call : session.calls) sum += call.usage.value_or(Usage{});
    return sum;
}

LogNotes& LogNotes::operator+=(const LogNotes& other) {
    sessions += other.sessions;
    records += other.records;
    damaged += other.damaged;
    for (const auto& [kind, count] : other.left_out) left_out[kind] += count;
    for (const auto& [kind, count] : other.unknown) unknown[kind] += count;
    for (const DamagedLine& line : other.damaged_lines) {
        if (damaged_lines.size() < max_damaged_lines) damaged_lines.push_back(line);
    }
    repaired += other.repaired;
    repaired_lines.insert(other.repaired_lines.begin(), other.repaired_lines.end());
    versions.insert(other.versions.begin(), other.versions.end());
    newer.insert(other.newer.begin(), other.newer.end());
    return *this;
}

namespace {

/// Formats whose texts hold no JSON that tells of bills.
bool may_cut_texts(Format format) noexcept {
    switch (format) {
        case Format::claude_code:
        case Format::codex:
        case Format::gemini_cli:
        case Format::opencode:
        case Format::qwen_code:
        case Format::pi:
        case Format::copilot_cli: return true;
        default: return false;
    }
}

}  // namespace

LogNotes read_log(std::istream& in, Format format, const LogOptions& given, FunctionRef<void(Session&&)> visit) {
    LogNotes notes;
    LogOptions options = given;
    options.bills_only = given.bills_only && may_cut_texts(format);
    switch (format) {
        case Format::claude_code: read_claude_code(in, options, notes, visit); break;
        case Format::codex: read_codex(in, options, notes, visit); break;
        case Format::gemini_cli: read_gemini_cli(in, options, notes, visit); break;
        case Format::opencode: read_opencode(in, options, notes, visit); break;
        case Format::openhands: read_openhands(in, options, notes, visit); break;
        case Format::otel: read_otel(in, options, notes, visit); break;
        case Format::langsmith: read_langsmith(in, options, notes, visit); break;
        case Format::langfuse: read_langfuse(in, options, notes, visit); break;
        case Format::langfuse_csv: read_langfuse_csv(in, options, notes, visit); break;
        case Format::openhands_v1: read_openhands_v1(in, options, notes, visit); break;
        case Format::swe_agent: read_swe_agent(in, options, notes, visit); break;
        case Format::exchanges: read_exchanges(in, options, notes, visit); break;
        case Format::har: read_har(in, options, notes, visit); break;
        case Format::qwen_code: read_qwen_code(in, options, notes, visit); break;
        case Format::pi: read_pi(in, options, notes, visit); break;
        case Format::copilot_cli: read_copilot_cli(in, options, notes, visit); break;
        case Format::cline: read_cline(in, options, notes, visit); break;
    }
    return notes;
}

}  // namespace whittle::inline v0::logs
