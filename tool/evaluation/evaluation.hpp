#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/message/part.hpp"
#include "whittle/storage/storage.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a strategy costs and what it forgets, on recorded sessions: tokens, money, money with refetches, and whether
/// what the recorded future needed was still in the request. tool/docs/evaluation.md has each figure. No model is asked
/// anything.
namespace whittle::inline v0::evaluation {

struct ToolCall {
    std::string id{};
    std::string tool{};
    std::string arguments{};  ///< JSON
};

/// A message as the figures see it, whatever its provider calls it. A message with several tool results, as Anthropic
/// has them, is one of these for each result, and one for what stands beside them.
struct Message {
    Role role = Role::user;
    std::string content{};
    std::vector<ToolCall> calls{};
    std::string result_of{};  ///< tool: the id of the call
    std::string name{};       ///< tool: of the tool, where the message says it
    int media = 0;            ///< images, sounds, documents
    int blocks = 1;  ///< content parts and calls: what a provider counts when it looks back for a cache breakpoint

    friend bool operator==(const Message&, const Message&) = default;
};
[[nodiscard]] bool operator==(const ToolCall& a, const ToolCall& b) noexcept;

/// Content, then a line for each call with its tool and its arguments.
[[nodiscard]] std::string text_of(const Message& message);
/// Tokens of a text in all figures: Unicode characters / 4, rounded up.
[[nodiscard]] std::int64_t estimated_tokens(std::string_view text) noexcept;

/// What kind of work a session is: strata of a summary. In service sessions values in arguments are probes too.
enum class AgentKind : std::uint8_t { coding, service, other };
/// By the estimated size of the whole session: below 20,000 tokens, up to 100,000, above.
enum class SizeClass : std::uint8_t { small, medium, large };
[[nodiscard]] std::string_view to_string(AgentKind kind) noexcept;
[[nodiscard]] std::string_view to_string(SizeClass size) noexcept;
/// From the words "coding", "swe", "service" and "tau" in a file's name and in what a recording says of its source.
[[nodiscard]] AgentKind guess_kind(std::string_view file_name, std::string_view source);

/// A recorded session, before anything is looked for in it.
struct SessionInput {
    std::string id{};
    std::string source{};
    AgentKind kind = AgentKind::other;
    std::int64_t estimated_tokens = 0;  ///< 0: characters / 4
    std::string system{};               ///< beside the messages
    std::string tools{};                ///< their JSON, beside the messages
    std::vector<Message> messages{};
    std::vector<std::optional<double>> seconds{};  ///< of each message; a call without a time comes 20 s after the last
};

/// Identifiers that more than half of all sessions have, of four sessions or more, tell nothing of what one of them
/// needed. Add every session once, then give it to each of them.
class CommonIdentifiers {
public:
    CommonIdentifiers();
    ~CommonIdentifiers();
    CommonIdentifiers(CommonIdentifiers&&) noexcept;
    CommonIdentifiers& operator=(CommonIdentifiers&&) noexcept;

    void add(const SessionInput& session);
    [[nodiscard]] bool contains(std::string_view identifier) const;

private:
    struct Counts;
    std::unique_ptr<Counts> counts_;
};

struct SessionData;

/// A recorded session and what its own future asks of each request. Immutable: several strategies, in several threads,
/// can be run on one.
class Session {
public:
    /// Linear in the text of the session.
    explicit Session(SessionInput input, const CommonIdentifiers* common = nullptr);
    ~Session();
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;

    [[nodiscard]] const std::string& id() const noexcept;
    [[nodiscard]] const std::string& source() const noexcept;
    [[nodiscard]] AgentKind kind() const noexcept;
    [[nodiscard]] SizeClass size() const noexcept;
    [[nodiscard]] std::span<const Message> messages() const noexcept;
    /// Index of the recorded reply of each model call.
    [[nodiscard]] std::span<const std::size_t> calls() const noexcept;
    /// Model calls up to and with message `message`.
    [[nodiscard]] std::size_t turn_of(std::size_t message) const noexcept;
    /// Unicode characters of its text, calls included.
    [[nodiscard]] std::int64_t characters_of(std::size_t message) const noexcept;

private:
    friend class Run;
    std::unique_ptr<const SessionData> data_;
};

/// One message of a request.
struct SentMessage {
    static constexpr std::size_t unknown = SIZE_MAX;

    std::size_t recorded = unknown;            ///< the recorded message that it is or stands for; unknown: found out
    std::shared_ptr<const Message> message{};  ///< null: the recorded one as it is
};

/// A call of a model that a strategy made to prepare a request.
struct SideCall {
    std::vector<Message> messages{};
    std::string reply{};
    bool shares_prefix = false;  ///< it starts with the conversation's own messages, so that their cache serves it
};

/// What is sent before a model call, without system text and tools, which stay beside it.
struct Request {
    std::size_t keep = 0;  ///< messages at the front that are those of the previous request
    std::vector<SentMessage> rest{};
    std::vector<SideCall> side_calls{};
};

using TakeRequest = FunctionRef<void(std::size_t call, const Request& request)>;

/// Where a client that marks only its system text and the end of each request can read a cached prefix. `best` figures
/// let every prefix be read; `strict` ones go by this.
enum class CacheReach : std::uint8_t {
    messages,      ///< at every border of messages
    request_ends,  ///< where an earlier request ended, or the system text does
};

/// A provider's prices, relative to one input token that is not cached.
struct CostProfile {
    CacheProfile cache{};
    double output = 5.0;  ///< of an output token
    CacheReach reach = CacheReach::request_ends;
    int look_back = 20;  ///< blocks from the end of a request in which an end of an earlier one is found

    friend bool operator==(const CostProfile&, const CostProfile&) = default;
};

/// `anthropic_5m`, `openai`, `openai_2026`, `no_cache`: tool/docs/evaluation.md has the numbers.
[[nodiscard]] std::span<const CostProfile> cost_profiles() noexcept;
/// The profile of that name, or null.
[[nodiscard]] const CostProfile* find_cost_profile(std::string_view name) noexcept;

/// Money in units of one uncached input token. `strict` as in `CacheReach`.
struct Money {
    double raw = 0;             ///< C0: everything sent
    double sent = 0;            ///< C
    double with_refetches = 0;  ///< C*: what calls needed and missed is fetched again; an edit needs its whole old text
    double with_line_refetches = 0;  ///< the same where an edit needs single lines of it: C* up to November 2026
    double raw_strict = 0;
    double sent_strict = 0;
    double with_refetches_strict = 0;
    double with_line_refetches_strict = 0;
    std::int64_t cached_raw = 0;  ///< tokens read from the cache
    std::int64_t cached_sent = 0;
    std::int64_t cached_sent_strict = 0;
    std::optional<double> exponent_raw{};  ///< b in: money up to call i ~ i^b; absent for short sessions
    std::optional<double> exponent_sent{};
};

enum class ProbeKind : std::uint8_t { action_id, action_line, service_value, constraint, artifact, error };
inline constexpr std::size_t probe_kinds = 6;
[[nodiscard]] std::string_view to_string(ProbeKind kind) noexcept;
/// Model calls since the probe's text last stood in the recording: up to 10, up to 50, more.
enum class Age : std::uint8_t { recent, middle, old };
inline constexpr std::size_t ages = 3;
[[nodiscard]] std::string_view to_string(Age age) noexcept;

struct ProbeCount {
    std::int64_t needed = 0;
    std::int64_t visible = 0;      ///< in the request
    std::int64_t recoverable = 0;  ///< in a stored object that the request names, or that such an object names
    std::int64_t lost = 0;

    ProbeCount& operator+=(const ProbeCount& other) noexcept;
};
using ProbeTable = std::array<std::array<ProbeCount, ages>, probe_kinds>;

/// Edits whose old text had stood in one piece in the conversation: could the agent still copy it?
struct EditCount {
    std::int64_t needed = 0;
    std::int64_t possible = 0;        ///< the old text stands in one piece in the request
    std::int64_t recoverable = 0;     ///< else: in one piece in such an object
    std::int64_t cut_on_arrival = 0;  ///< else: no request ever had it

    EditCount& operator+=(const EditCount& other) noexcept;
};
/// Model calls since the old text was last shown in the recording: up to 5, up to 10, up to 30, more.
inline constexpr std::size_t edit_ages = 4;
inline constexpr std::array<std::string_view, edit_ages> edit_age_names{"1-5", "6-10", "11-30", "over 30"};
using EditTable = std::array<EditCount, edit_ages>;

/// Calls with something that no strategy should do.
struct Faults {
    std::int64_t newest_result_dropped = 0;  ///< of a result of the newest round hardly anything is shown or stored
    std::int64_t newest_result_hidden = 0;   ///< the same, but it can be read back
    std::int64_t newest_user_changed = 0;
    std::int64_t newest_call_changed = 0;
    std::int64_t larger_than_raw = 0;
    std::int64_t over_window = 0;
    std::int64_t messages_not_restorable = 0;  ///< messages that went and are not in the store; 0 without one
};

/// What a call cost, in units of one uncached input token, output included.
struct CallCost {
    double raw = 0;        ///< everything sent
    double sent = 0;       ///< calls of models that a strategy made for it included
    double refetches = 0;  ///< what it needed and missed, fetched again, and what was fetched before and still stands
};

/// One call of a session. Tokens with what stands in front of the messages.
struct CallFigures {
    std::size_t call = 0;    ///< index in `Session::calls`
    bool is_counted = true;  ///< false: one of `RunOptions::uncounted`, and its costs are 0
    std::int64_t raw = 0;    ///< input, everything sent
    std::int64_t sent = 0;
    std::int64_t cached_raw = 0;    ///< of `raw`, read from the cache
    std::int64_t cached_sent = 0;   ///< of `sent`
    std::vector<CallCost> costs{};  ///< one for each profile of the run
};

/// What one strategy made of one session. All counts are tokens unless they say otherwise.
struct Figures {
    std::string session{};
    std::string source{};
    AgentKind kind = AgentKind::other;
    SizeClass size = SizeClass::small;
    std::int64_t calls = 0;  ///< of the model
    std::int64_t raw = 0;    ///< input of all calls, everything sent
    std::int64_t sent = 0;
    std::int64_t peak_raw = 0;
    std::int64_t peak_sent = 0;
    std::int64_t over_window_raw = 0;       ///< calls
    std::int64_t steps = 0;                 ///< calls after the first
    std::int64_t resets = 0;                ///< calls
    std::int64_t deep_resets = 0;           ///< calls that invalidate more than half of the request before
    std::int64_t invalidated = 0;           ///< by resets
    std::int64_t commits = 0;               ///< calls before which a message of the request before was changed
    std::int64_t arrived = 0;               ///< characters of results in their first request, as recorded
    std::int64_t arrived_shown = 0;         ///< characters of these that were sent
    std::int64_t removed_messages = 0;      ///< messages that were changed or left out at some time
    std::int64_t refetches_from_store = 0;  ///< calls
    std::int64_t refetches_by_rerun = 0;
    std::int64_t refetches_from_user = 0;  ///< of the user
    std::int64_t side_calls = 0;
    std::int64_t side_tokens = 0;
    std::vector<Money> money{};  ///< one for each profile of the run
    ProbeTable probes{};
    EditTable edits{};
    Faults faults{};
    /// Call by call, if `RunOptions::lists_calls`. Their costs add up to `raw`, `sent` and, with refetches,
    /// `with_refetches` of each profile.
    std::vector<CallFigures> by_call{};
};

/// C* / C0; 1 where nothing was paid.
[[nodiscard]] double refetched_ratio(const Money& money) noexcept;
/// C / C0; 1 where nothing was paid.
[[nodiscard]] double money_ratio(const Money& money) noexcept;
/// A session with a larger C* / C0 is harmed.
inline constexpr double harm_above = 1.02;
/// Deep resets in more than a fifth of five calls or more.
[[nodiscard]] bool thrashes_cache(const Figures& figures) noexcept;

struct RunOptions {
    std::vector<CostProfile> profiles{};  ///< empty: all of `cost_profiles()`
    std::shared_ptr<Storage> storage{};   ///< where the strategy keeps what it takes out; null: nothing is recoverable
    std::int64_t window = 200'000;        ///< tokens
    /// Calls, ascending, that are not sent, paid and asked, such as copies of those of another session. Their requests
    /// still fill the cache; calls of models to prepare them do not.
    std::vector<std::size_t> uncounted{};
    bool lists_calls = false;  ///< for `Figures::by_call`
};

/// One strategy on one session, call by call.
class Run {
public:
    /// `session` has to outlive it.
    explicit Run(const Session& session, const RunOptions& options = {});
    ~Run();
    Run(Run&&) noexcept;
    Run& operator=(Run&&) noexcept;

    /// The request before model call `call` (from 0). A call before which nothing was said is passed over. Throws
    /// Error(invalid_argument) for a call out of order, or a message that is recorded only later.
    void send(std::size_t call, const Request& request);
    /// Calls that were not sent are left out of both sides.
    [[nodiscard]] Figures finish();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

struct Spread {
    double median = 0;
    double mean = 0;
    double pooled = 0;  ///< of the sums
};

struct MoneySummary {
    Spread sent{};                   ///< C / C0
    Spread sent_strict{};            ///< C / C0, both strict
    Spread with_refetches{};         ///< C* / C0
    Spread with_refetches_strict{};  ///< C* / C0, both strict
    Spread with_line_refetches{};    ///< as `Money` has it
    Spread with_line_refetches_strict{};
    double harm = 0;       ///< share of sessions with C* / C0 above `harm_above`
    double line_harm = 0;  ///< the same with line refetches
    double hit_raw = 0;    ///< cached / input tokens
    double hit_sent = 0;
    std::optional<double> exponent_raw{};  ///< medians
    std::optional<double> exponent_sent{};
};

struct Summary {
    std::int64_t sessions = 0;
    std::int64_t calls = 0;
    Spread tokens{};  ///< sent / raw
    std::int64_t peak = 0;
    double peak_ratio = 0;
    double resets_per_call = 0;
    std::int64_t resets = 0;
    std::int64_t deep_resets = 0;
    std::int64_t invalidated = 0;
    std::int64_t over_window_raw = 0;
    double arrived_shown = 1;   ///< share of the characters of newest results
    std::int64_t thrashed = 0;  ///< sessions
    std::vector<MoneySummary> money{};
    ProbeTable probes{};  ///< pooled
    EditTable edits{};    ///< pooled
    Faults faults{};

    /// Pooled over the ages from `from` to `to`.
    [[nodiscard]] ProbeCount probes_of(ProbeKind kind, Age from = Age::recent, Age to = Age::old) const noexcept;
    /// Pooled over the ages from `from` to, without it, `to`: indices of `edit_age_names`.
    [[nodiscard]] EditCount edits_of(std::size_t from = 0, std::size_t to = edit_ages) const noexcept;
};

/// Medians and means of what each session came to, and sums. All of one strategy, with the same profiles.
[[nodiscard]] Summary summarize(std::span<const Figures* const> figures);

/// A group of sessions, such as "20k-100k coding".
struct Stratum {
    std::string_view name{};
    std::optional<SizeClass> size{};
    std::optional<AgentKind> kind{};

    [[nodiscard]] bool has(const Figures& figures) const noexcept;
};
/// All sessions, each size, each kind, then each size of each kind.
[[nodiscard]] std::span<const Stratum> strata() noexcept;

/// A simple strategy that others are measured against.
struct Control {
    std::string_view name{};
    std::string_view description{};
    void (*requests)(const Session& session, TakeRequest take) = nullptr;
};

/// `noop`, then those of tool/docs/evaluation.md.
[[nodiscard]] std::span<const Control> controls() noexcept;
/// The control of that name, or null.
[[nodiscard]] const Control* find_control(std::string_view name) noexcept;

}  // namespace whittle::inline v0::evaluation
