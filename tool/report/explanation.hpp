#pragma once

#include "masked.hpp"
#include "replay/replay.hpp"
#include "whittle/base/detail/saturating.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::cli {

/// What became of a message between the recording and the request.
enum class MessageState {
    kept,     ///< as it was recorded
    cut,      ///< shortened
    cleared,  ///< something short stands in its place
    folded,   ///< a summary stands for it
    removed,  ///< it went without one
    added,    ///< the chain wrote it
};

/// One edit of a message, from the journal and the report of the hook that made it.
struct ExplainedEdit {
    std::int64_t call = 0;  ///< the first request that shows it
    std::string by{};       ///< middleware
    std::string reason{};   ///< of the provenance, such as "clear"
    std::string rule{};     ///< of the plan, such as "old_round"; empty: the plan lists none
    std::int64_t count = 0;
    std::int64_t threshold = 0;  ///< tokens; 0: no trigger was passed
    bool is_return = false;      ///< a result that came in shortened
};

/// Why a middleware that looked at a message in this call left it.
struct ExplainedKeep {
    std::string by{};
    std::string rule{};

    friend bool operator==(const ExplainedKeep&, const ExplainedKeep&) = default;
};

struct ExplainedMessage {
    std::optional<std::size_t> recorded{};  ///< index in the recording
    std::optional<std::size_t> sent{};      ///< index in the request
    std::string role{};
    std::string tool{};  ///< of a result
    MessageState state = MessageState::kept;
    std::int64_t tokens_recorded = 0;
    std::int64_t tokens_sent = 0;
    std::vector<ExplainedEdit> edits{};  ///< oldest first
    std::vector<ExplainedKeep> keeps{};
    std::optional<std::size_t> folded_into{};  ///< index in the request
    std::string text{};                        ///< what stands there instead, or was added
    std::vector<std::string> stored{};         ///< keys of the originals; empty: the journal alone has them
};

/// What a middleware came to in front of the call.
struct ExplainedStage {
    std::string middleware{};
    std::string hook{};
    std::string outcome{};
    std::string outcome_text{};  ///< the same for a person, and why nothing was done
    std::string reason{};        ///< as `StageReport::not_due_reason`
    std::int64_t count = 0;      ///< tokens
    std::int64_t threshold = 0;
    std::string error{};  ///< empty: it did not fail
};

struct Explanation {
    std::string trajectory{};
    std::int64_t call = 0;
    std::int64_t tokens_recorded = 0;  ///< of the request, with system text and tools
    std::int64_t tokens_sent = 0;
    std::int64_t overhead = 0;  ///< of system text and tools alone
    std::string counter{};
    std::vector<ExplainedStage> stages{};
    std::vector<ExplainedMessage> messages{};
};

[[nodiscard]] std::string_view to_string(MessageState state) noexcept;
[[nodiscard]] nlohmann::ordered_json message_json(const ExplainedMessage& message);
[[nodiscard]] nlohmann::ordered_json explanation_json(const Explanation& explanation);
/// Without secrets, in front of any cut.
void hide_secrets(Explanation& explanation, const KnownSecrets& secrets);
void hide_secrets(ExplainedMessage& message, const KnownSecrets& secrets);
/// Lines of at most `columns`, as far as ids and names allow.
[[nodiscard]] std::string explanation_text(const Explanation& explanation, std::size_t columns);

/// How a plan and the journal name one edit.
class EditLog {
public:
    /// A hook's report: its rules belong to the commits that follow in the journal.
    void note(const Report& report);
    /// Of one commit, whose messages are replaced in `call`.
    void note(std::int64_t call, const JournalRecord& record, std::span<const MessageInfo> replaced);
    /// `call` has been sent: what comes belongs to the next one.
    void next_call();

    [[nodiscard]] std::vector<ExplainedEdit> edits_of(Serial serial) const;
    [[nodiscard]] std::vector<ExplainedKeep> keeps_of(Serial serial) const;
    [[nodiscard]] const std::vector<ExplainedStage>& stages() const noexcept { return stages_; }

private:
    struct Cut {
        std::string rule{};
        std::int64_t count = 0;
        std::int64_t threshold = 0;
    };
    std::map<std::pair<std::string, Serial>, Cut> cuts_{};  // since the last call, by middleware
    std::unordered_map<Serial, std::vector<ExplainedEdit>> edits_{};
    std::unordered_map<Serial, std::vector<ExplainedKeep>> keeps_{};  // since the last call
    std::vector<ExplainedStage> stages_{};                            // since the last call
};

/// Of parts that are no longer original: cleared if nothing is left of one of them, else cut.
[[nodiscard]] MessageState state_of_edited(const MessageInfo& sent) noexcept;
/// Keys that the marks of a message and of its parts name, each once.
[[nodiscard]] std::vector<std::string> stored_of(const MessageInfo& sent);
/// The journal says "tool" of a result that came in shortened; the marks of the message know which middleware did it.
void name_wraps(std::span<ExplainedEdit> edits, const MessageInfo& sent);
/// The tool of the first result in a message; empty without one.
[[nodiscard]] std::string tool_of(const MessageInfo& info);

/// Watches a replay and explains one of its requests.
template <AgentMessage M>
class Explainer {
public:
    Explainer(const Recording<M>& recording, const TokenCounter& counter) : recording_(recording), counter_(counter) {}

    void on_report(const Report& report) { log_.note(report); }

    /// Takes over what the journal has that earlier requests did not show. Call it for each request. O(new entries).
    void on_request(const ReplayRequest<M>& request) {
        const auto& journal = request.conversation.journal();
        std::size_t first = journal.size();
        while (first > 0 && !known_.contains(journal[first - 1]->id)) --first;
        for (; first < journal.size(); ++first) {
            known_.insert(journal[first]->id);
            for (const Splice<M>& splice : journal[first]->undo) log_.note(request.call, *journal[first], splice.infos);
        }
    }
    void next_call() { log_.next_call(); }

    /// After `on_request`, for the same request.
    [[nodiscard]] Explanation explain(const ReplayRequest<M>& request) const {
        Explanation explanation{.trajectory = std::string(request.trajectory),
                                .call = request.call,
                                .tokens_recorded = request.tokens_raw,
                                .tokens_sent = request.tokens,
                                .overhead = count_overhead(recording_.system, recording_.tools, counter_),
                                .counter = std::string(counter_.id()),
                                .stages = log_.stages(),
                                .messages = {}};
        std::size_t next = 0;  // in the request
        std::unordered_map<Serial, std::size_t> places;
        const Outline outline = request.conversation.outline();
        for (std::size_t i = 0; i < outline.size(); ++i) places[outline[i].serial] = i;
        std::set<Serial> recorded;
        for (const MessageInfo& info : request.recorded) recorded.insert(info.serial);
        const auto add_until = [&](std::size_t end) {
            for (; next < end; ++next) {
                if (!recorded.contains(outline[next].serial)) explanation.messages.push_back(added(request, next));
            }
        };
        for (std::size_t i = 0; i < request.recorded.size(); ++i) {
            const auto place = places.find(request.recorded[i].serial);
            if (place != places.end()) add_until(place->second);
            explanation.messages.push_back(place == places.end() ? gone(request, i) : sent(request, i, place->second));
        }
        add_until(outline.size());
        return explanation;
    }

private:
    [[nodiscard]] ExplainedMessage recorded_one(const ReplayRequest<M>& request, std::size_t i) const {
        const MessageInfo& info = request.recorded[i];
        return {.recorded = i,
                .sent = {},
                .role = std::string(whittle::to_string(info.role)),
                .tool = tool_of(info),
                .tokens_recorded = count_message(recording_.messages[i], counter_),
                .edits = log_.edits_of(info.serial),
                .keeps = log_.keeps_of(info.serial),
                .folded_into = {}};
    }

    [[nodiscard]] ExplainedMessage sent(const ReplayRequest<M>& request, std::size_t i, std::size_t place) const {
        ExplainedMessage message = recorded_one(request, i);
        const MessageInfo& now = request.conversation.outline()[place];
        message.sent = place;
        message.tokens_sent = count_message(request.messages[place], counter_);
        if (now.fingerprint == request.recorded[i].fingerprint) return message;
        message.keeps.clear();
        message.state = state_of_edited(now);
        message.text = marked_text(request.messages[place], now);
        message.stored = stored_of(now);
        name_wraps(message.edits, now);
        return message;
    }

    /// A summary that covers it is named; a message that merely went is in the journal.
    [[nodiscard]] ExplainedMessage gone(const ReplayRequest<M>& request, std::size_t i) const {
        ExplainedMessage message = recorded_one(request, i);
        message.keeps.clear();
        message.state = MessageState::removed;
        const Outline outline = request.conversation.outline();
        for (std::size_t place = 0; place < outline.size(); ++place) {
            const Mark& mark = outline[place].mark;
            if (!mark || std::ranges::find(mark->covers, request.recorded[i].serial) == mark->covers.end()) continue;
            message.state = MessageState::folded;
            message.folded_into = place;
            message.stored = mark->stored_keys;
            break;
        }
        return message;
    }

    [[nodiscard]] ExplainedMessage added(const ReplayRequest<M>& request, std::size_t place) const {
        const MessageInfo& info = request.conversation.outline()[place];
        ExplainedMessage message{.recorded = {},
                                 .sent = place,
                                 .role = std::string(whittle::to_string(info.role)),
                                 .state = MessageState::added,
                                 .tokens_sent = count_message(request.messages[place], counter_),
                                 .folded_into = {},
                                 .text = text_of(request.messages[place]),
                                 .stored = stored_of(info)};
        if (info.mark)
            message.edits.push_back(
                {.call = info.model_calls_before, .by = info.mark->by, .reason = info.mark->reason});
        return message;
    }

    /// The texts that stand in place of others; all of them where none is marked, as of a result that was shortened
    /// without a store.
    [[nodiscard]] static std::string marked_text(const M& m, const MessageInfo& info) {
        const auto join = [&](const auto& is_wanted) {
            std::string text;
            for (std::size_t part = 0; part < info.parts.size(); ++part) {
                if (is_wanted(part)) text += (text.empty() ? "" : "\n") + text_of(m, part);
            }
            return text;
        };
        const std::string marked = join([&](std::size_t part) { return mark_of(info, part) != nullptr; });
        return marked.empty() ? join([](std::size_t) { return true; }) : marked;
    }

    const Recording<M>& recording_;
    const TokenCounter& counter_;
    EditLog log_{};
    std::set<std::uint64_t> known_{};  // ids of journal entries
};

}  // namespace whittle::cli
