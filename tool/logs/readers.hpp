#pragma once

#include "logs.hpp"

#include <istream>

/// One reader for each format, called by `read_log`.
namespace whittle::inline v0::logs {

using VisitSession = FunctionRef<void(Session&&)>;

void read_claude_code(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_codex(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_gemini_cli(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_opencode(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_openhands(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_langfuse(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_langfuse_csv(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_langsmith(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_openhands_v1(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_otel(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_swe_agent(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_exchanges(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_har(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_qwen_code(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_pi(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_copilot_cli(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);
void read_cline(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit);

}  // namespace whittle::inline v0::logs
