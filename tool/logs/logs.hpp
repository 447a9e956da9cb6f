#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/message/part.hpp"
#include "whittle/saved/trajectory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Reads what agents leave of their sessions on disk: tool/docs/logs.md says what is read of each format, the head of
/// its reader has the sources. Nothing is guessed: what a reader does not know is counted under its name, and a line
/// that is no record under its number.
namespace whittle::inline v0::logs {

enum class Format : std::uint8_t {
    claude_code,   ///< projects/*/*.jsonl of Claude Code
    codex,         ///< rollout-*.jsonl of Codex, with and without an envelope around each line
    gemini_cli,    ///< session-*.json and session-*.jsonl of Gemini CLI
    opencode,      ///< a session as `opencode export` writes it: {"info", "messages": [{"info", "parts"}]}
    openhands,     ///< the events of a session of OpenHands V0, an array
    swe_agent,     ///< .traj of SWE-agent, and .traj.json of mini-swe-agent
    exchanges,     ///< requests to OpenAI's and Anthropic's interfaces with their responses, an object a line
    har,           ///< HTTP archives that hold such requests
    otel,          ///< OTLP spans as JSON, with the messages of the GenAI conventions
    langsmith,     ///< runs of LangSmith, and messages that LangChain wrote
    langfuse,      ///< traces and observations of Langfuse
    openhands_v1,  ///< events of OpenHands since its SDK, an object each
    langfuse_csv,  ///< observations of Langfuse, as its interface exports them to CSV
    qwen_code,     ///< projects/*/chats/*.jsonl of Qwen Code
    pi,            ///< sessions/*/*.jsonl of pi, and of OpenClaw
    copilot_cli,   ///< session-state/*/events.jsonl of GitHub Copilot CLI
    cline,         ///< tasks/*/api_conversation_history.json of Cline, Roo Code and Kilo Code, with ui_messages.json
                   ///< behind it; sessions/*/*.messages.json of Cline
};

/// `claude_code`, `codex`, ...
[[nodiscard]] std::string_view to_string(Format format) noexcept;
/// All of them, in the order above.
[[nodiscard]] std::span<const Format> formats() noexcept;
/// Whose messages the sessions of this format hold; nullopt: each session shows it.
[[nodiscard]] std::optional<bool> holds_anthropic_messages(Format format) noexcept;

/// What the start of a file tells.
struct Recognition {
    std::optional<Format> format{};   ///< nullopt: none that is known, as far as `start` goes
    bool wants_more = false;          ///< more of the file may tell otherwise: a record that began early is not over
    std::vector<std::string> keys{};  ///< of the first record, for messages: at most 8 of 64 bytes
};

/// By the first records of a file, not by its name; `start`: the first bytes of it, unpacked. Lines that are damaged
/// are passed over. Begin with 64 KiB and come with more while it is wanted: the members that tell may stand behind one
/// of megabytes.
[[nodiscard]] Recognition recognise_start(std::string_view start);
/// The format alone. nullopt for anything else, such as the sessions of tool/docs/cli.md.
[[nodiscard]] std::optional<Format> recognise(std::string_view start);

/// A model call of a session.
struct Call {
    std::string id{};  ///< of the provider's response; empty: not recorded
    /// Where `id` is empty: the same for each copy of this call, such as in the file of a session that was forked from
    /// this one, and for no other call. Empty: there is nothing to tell copies by.
    std::string bill_id{};
    std::string model{};           ///< empty: not recorded
    std::optional<double> time{};  ///< of the reply, or of its record; seconds since 1970, UTC
    std::size_t reply = 0;         ///< index of the message that it gave
    std::optional<Usage> usage{};  ///< what was billed, where it was recorded
    /// Tokens of output that `usage` lacks, since it was recorded before the end of the reply: an estimate, by
    /// characters / 4 of what the reply holds. Without `usage`, where nothing but its output was recorded: that.
    /// 0: none that is known of.
    std::int64_t unrecorded_output = 0;
    std::int64_t requests = 1;  ///< calls of the model that it stands for: more where only their sum was recorded
};

/// The agent took messages out of its requests by itself.
struct Compaction {
    std::size_t before = 0;                       ///< the first message that came after it
    std::vector<nlohmann::ordered_json> kept{};   ///< what requests began with from then on, in place of those in front
    std::string trigger{};                        ///< "auto", "manual" or what was recorded; may be empty
    std::optional<std::int64_t> tokens_before{};  ///< as the agent counted
};

/// A session as it was recorded. A sub-agent is a session of its own.
struct Session {
    Format format{};
    std::string parent{};   ///< id of the session that started it; empty: a person did
    std::string version{};  ///< of the agent, the last one that was recorded
    std::string folder{};   ///< the working directory
    /// All messages in order: also those that a compaction took out of later requests, but not what it put in their
    /// place. Billed usage, where it was recorded, is here as well.
    Trajectory<> recording{};
    std::vector<Call> calls{};              ///< by `reply`
    std::vector<Compaction> compactions{};  ///< by `before`
    /// Billed for calls whose replies are not among the messages: taken back by the person, or made for a compaction.
    Usage billed_elsewhere{};
    std::int64_t calls_elsewhere = 0;
    std::vector<Call> elsewhere{};         ///< these calls; their `reply` means nothing
    std::optional<Usage> billed_in_all{};  ///< where only the sum of a session was recorded

    /// What the model was sent for this call, as far as the log tells, without the system text and the tools.
    [[nodiscard]] std::vector<nlohmann::ordered_json> request_of(const Call& call) const;
};

/// All that was billed: `billed_in_all`, or else the calls and what is `billed_elsewhere`.
[[nodiscard]] Usage billed(const Session& session) noexcept;

struct DamagedLine {
    std::size_t line = 0;  ///< from 1; in a document over several lines, 1
    std::string reason{};
};

/// What is to be said about a file beside its sessions.
struct LogNotes {
    std::int64_t sessions = 0;
    std::int64_t records = 0;                        ///< that were read; damaged ones are not
    std::map<std::string, std::int64_t> left_out{};  ///< records of known kinds that are in no conversation, by kind
    std::map<std::string, std::int64_t> unknown{};   ///< records and parts of kinds that the reader does not know
    std::int64_t damaged = 0;                        ///< lines
    std::vector<DamagedLine> damaged_lines{};        ///< the first 20
    /// Records with half of a surrogate pair, or bytes that are no UTF-8: read as U+FFFD. Where such a record gave a
    /// message, `Trajectory::mended` names that.
    std::int64_t repaired = 0;
    std::set<std::size_t> repaired_lines{};  ///< where they stand, of the first 100,000; 0: not known
    std::set<std::string> versions{};        ///< of the agent, as recorded
    std::set<std::string> newer{};           ///< of these, newer than what the reader was written for

    LogNotes& operator+=(const LogNotes& other);
};

struct LogOptions {
    std::string name = "log";  ///< of the file: its stem is used for missing ids
    JsonLimits limits{};       ///< of one line, or of a document; a larger line counts as damaged
    /// Only what was billed is wanted, which takes half of the time: of agents whose bills no text tells, long texts
    /// are cut, and what is wrong within them is not seen. Messages are none to replay then.
    bool bills_only = false;
    std::function<void()> check_cancelled{};  ///< called for each 64 KiB that are parsed; what it throws gets out
};

/// Reads the sessions of one file. Lines are read one by one; the sessions of one file are held until they are
/// complete. Damaged lines never end the reading. What `visit` throws gets out.
[[nodiscard]] LogNotes read_log(std::istream& in, Format format, const LogOptions& options,
                                FunctionRef<void(Session&&)> visit);

}  // namespace whittle::inline v0::logs
