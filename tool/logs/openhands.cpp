// Sources of the format of OpenHands: OpenHands (https://github.com/All-Hands-AI/OpenHands),
// `openhands/events/serialization` and `frontend/src/types/core` (2026-11-25);
// `openhands/memory/conversation_memory.py` (`_process_observation`), `truncate_content` of
// `openhands/events/serialization/event.py`, `openhands/server/routes/trajectory.py` and `evaluation/utils/shared.py`
// at commit `156d068` (2025-11-28).
#include "cut_middle.hpp"
#include "openai_form.hpp"
#include "openhands_order.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// Events that hold nothing that was sent to a model.
bool is_side_event(std::string_view kind) {
    constexpr std::array<std::string_view, 8> kinds{"agent_state_changed",  "change_agent_state", "recall", "null",
                                                    "condensation_request", "loop_detection",     "pause",  "resume"};
    return std::ranges::find(kinds, kind) != kinds.end();
}

/// How the agent cuts what tools gave: `max_message_chars` of its configuration, in which a negative number and null
/// stand for no limit. The agent's own default where the record has no configuration.
std::optional<MiddleCut> openhands_cut(const ordered_json& record) {
    constexpr std::int64_t usual = 30'000;
    const ordered_json* metadata = tree_at(record, "metadata");
    const ordered_json* llm = metadata == nullptr ? nullptr : tree_at(*metadata, "llm_config");
    const ordered_json* given = llm == nullptr ? nullptr : find_member(*llm, "max_message_chars");
    if (given != nullptr && (!given->is_number_integer() || given->get<std::int64_t>() < 2)) return std::nullopt;
    const auto most = static_cast<std::size_t>(given == nullptr ? usual : count_in(*given));
    return MiddleCut{.most = most,
                     .head = most / 2,
                     .tail = most / 2,
                     .notice = "\n[... Observation truncated due to length ...]\n"};
}

/// Kinds of observations that the agent sends whole.
bool is_sent_whole(std::string_view kind) { return kind == "read" || kind == "browse"; }

/// The events of a session. Those of one reply of the model share a response.
class OpenHandsLog {
public:
    OpenHandsLog(std::string id, std::optional<MiddleCut> cut, LogNotes& notes) : cut_(cut), notes_(notes) {
        session_.recording.id = std::move(id);
    }

    void add(const ordered_json& event, std::size_t line) {
        const auto time = to_seconds(text_at(event, "timestamp"));
        const std::string_view action = text_at(event, "action");
        const std::string_view observation = text_at(event, "observation");
        const ordered_json* call = tree_at(event, "tool_call_metadata");
        if (!observation.empty()) return add_observation(event, observation, call, time, line);
        if (action.empty()) return note_damage(notes_, line, "an event without action and observation");
        if (is_side_event(action)) {
            ++notes_.left_out["action/" + std::string(action.substr(0, 64))];
        } else if (action == "system") {
            session_.recording.system = text_in_args(event, "content");
        } else if (action == "condensation") {
            compact(event);
        } else if (text_at(event, "source") == "user") {
            add_text_message(event, "user", time, line);
        } else if (call != nullptr && action == "finish") {
            add_finish(event, *call, time, line);
        } else if (call != nullptr) {
            add_call(event, *call, time, line);
        } else {
            add_text_message(event, "assistant", time, line);
        }
    }

    void finish(VisitSession visit) {
        sent_ones().finish(session_, false, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    static std::string text_in_args(const ordered_json& event, const char* key) {
        const ordered_json* args = tree_at(event, "args");
        return args == nullptr ? "" : std::string(text_at(*args, key));
    }

    void add_text_message(const ordered_json& event, const char* role, std::optional<double> time, std::size_t line) {
        std::string content = text_in_args(event, "content");
        if (content.empty()) content = text_in_args(event, "thought");
        if (content.empty()) content = text_at(event, "message");
        Entry entry{.message = {{"role", role}, {"content", std::move(content)}},
                    .time = time,
                    .line = line,
                    .call = std::nullopt};
        if (std::string_view(role) == "assistant") entry.call = Call{.usage = new_usage(event)};
        put(event, std::move(entry));
    }

    /// The tool that ends the work has no result: the agent sends what was said with it, without the call.
    void add_finish(const ordered_json& event, const ordered_json& metadata, std::optional<double> time,
                    std::size_t line) {
        const ordered_json* response = tree_at(metadata, "model_response");
        const ordered_json* message = message_in(response);
        const std::string extra(message == nullptr ? std::string_view() : text_at(*message, "content"));
        std::string content = text_in_args(event, "thought");
        if (content.empty()) {
            content = extra;
        } else if (content != extra) {
            content.append("\n").append(extra);
        }
        put(event, {.message = {{"role", "assistant"}, {"content", std::move(content)}},
                    .time = time,
                    .line = line,
                    .call = first_call(response, event)});
    }

    /// Several actions of one response are one reply.
    void add_call(const ordered_json& event, const ordered_json& metadata, std::optional<double> time,
                  std::size_t line) {
        const ordered_json* response = tree_at(metadata, "model_response");
        const std::string response_id(response == nullptr ? std::string_view() : text_at(*response, "id"));
        const std::string_view call_id = text_at(metadata, "tool_call_id");
        const ordered_json* args = tree_at(event, "args");
        ordered_json call =
            openai_call(call_id, text_at(metadata, "function_name"), arguments_of(response, call_id, args));
        const auto known = response_id.empty() ? replies_.end() : replies_.find(response_id);
        if (known != replies_.end()) {
            entries_[known->second].message["tool_calls"].push_back(std::move(call));
            return;
        }
        const std::size_t reply =
            put(event, {.message = {{"role", "assistant"}, {"content", text_in_args(event, "thought")}},
                        .time = time,
                        .line = line,
                        .call = first_call(response, event)});
        entries_[reply].message["tool_calls"] = ordered_json::array({std::move(call)});
        if (!response_id.empty()) replies_.emplace(response_id, reply);
    }

    static const ordered_json* message_in(const ordered_json* response) {
        const ordered_json* choices = response == nullptr ? nullptr : tree_at(*response, "choices");
        return choices == nullptr || choices->empty() || !choices->is_array() ? nullptr
                                                                              : tree_at(choices->front(), "message");
    }

    /// nullopt where another message of this response is its reply already.
    std::optional<Call> first_call(const ordered_json* response, const ordered_json& event) {
        Call call{.usage = usage_in(response, event)};
        if (response == nullptr) return call;
        call.id = text_at(*response, "id");
        call.model = text_at(*response, "model");
        if (!call.id.empty() && !billed_.insert(call.id).second) return std::nullopt;
        return call;
    }

    /// As the model wrote them, where the response was recorded.
    static std::string arguments_of(const ordered_json* response, std::string_view call_id, const ordered_json* args) {
        const ordered_json* message = message_in(response);
        const ordered_json* calls = message == nullptr ? nullptr : tree_at(*message, "tool_calls");
        if (calls != nullptr && calls->is_array()) {
            for (const ordered_json& call : *calls) {
                const ordered_json* function = tree_at(call, "function");
                if (text_at(call, "id") == call_id && function != nullptr)
                    return std::string(text_at(*function, "arguments"));
            }
        }
        return args == nullptr ? "{}" : to_json_text(*args);
    }

    std::optional<Usage> usage_in(const ordered_json* response, const ordered_json& event) {
        const ordered_json* usage = response == nullptr ? nullptr : tree_at(*response, "usage");
        const auto from_sums = new_usage(event);  // so that the sums go on
        return usage == nullptr ? from_sums : std::optional(provider_usage(*usage));
    }

    /// "llm_metrics" holds sums since the session began.
    std::optional<Usage> new_usage(const ordered_json& event) {
        const ordered_json* metrics = tree_at(event, "llm_metrics");
        const ordered_json* sums = metrics == nullptr ? nullptr : tree_at(*metrics, "accumulated_token_usage");
        if (sums == nullptr) return std::nullopt;
        const Usage now = usage_of_sums(count_at(*sums, "prompt_tokens"), count_at(*sums, "cache_read_tokens"),
                                        count_at(*sums, "cache_write_tokens"), count_at(*sums, "completion_tokens"));
        const Usage before = std::exchange(sums_, now);
        const auto grown = [](std::int64_t from, std::int64_t to) { return std::max<std::int64_t>(0, to - from); };
        return Usage{.uncached_input = grown(before.uncached_input, now.uncached_input),
                     .cache_read = grown(before.cache_read, now.cache_read),
                     .cache_write = grown(before.cache_write, now.cache_write),
                     .output = grown(before.output, now.output)};
    }

    void add_observation(const ordered_json& event, std::string_view kind, const ordered_json* call,
                         std::optional<double> time, std::size_t line) {
        if (is_side_event(kind)) {
            ++notes_.left_out["observation/" + std::string(kind.substr(0, 64))];
            return;
        }
        const std::string_view whole = text_at(event, "content");
        const std::string content = cut_ && !is_sent_whole(kind) ? (*cut_)(whole) : std::string(whole);
        if (content.size() != whole.size()) ++notes_.left_out["middle of a long result"];
        ordered_json message{{"role", "user"}, {"content", content}};
        if (call != nullptr) message = openai_result(text_at(*call, "tool_call_id"), content);
        put(event, {.message = std::move(message), .time = time, .line = line, .call = std::nullopt});
    }

    /// "args" of a condensation: which events requests leave out from then on, and a summary at a place among the rest.
    void compact(const ordered_json& event) {
        const ordered_json none = ordered_json::object();
        const ordered_json* found = tree_at(event, "args");
        const ordered_json& args = found == nullptr ? none : *found;
        if (const ordered_json* ids = tree_at(args, "forgotten_event_ids"); ids != nullptr && ids->is_array()) {
            for (const ordered_json& id : *ids) {
                if (id.is_number_integer()) forget(id.get<std::int64_t>());
            }
        }
        if (args.contains("forgotten_events_start_id") && args.contains("forgotten_events_end_id")) {
            const std::int64_t last = count_at(args, "forgotten_events_end_id");
            for (auto one = kept_of_.lower_bound(count_at(args, "forgotten_events_start_id"));
                 one != kept_of_.end() && one->first <= last;)
                forget((one++)->first);
        }
        Compaction& compaction = compactions_.emplace_back(Compaction{entries_.size(), {}, {}, std::nullopt});
        std::size_t bytes = 0;
        for (auto i = kept_.begin(); i != kept_.end() && !copies_.is_spent(); ++i)
            bytes += memory_of(entries_[*i].message);
        if (copies_.is_spent() || !copies_.take(bytes)) {
            ++notes_.unknown["compaction that keeps more than is copied"];
        } else {
            for (const std::size_t i : kept_) compaction.kept.push_back(entries_[i].message);
        }
        const std::string_view summary = text_at(args, "summary");
        if (summary.empty()) return;
        const auto place = std::min<std::int64_t>(count_at(args, "summary_offset"), std::ssize(compaction.kept));
        compaction.kept.insert(compaction.kept.begin() + place, ordered_json{{"role", "user"}, {"content", summary}});
    }

    /// Messages of this event, also those that are still to come.
    void forget(std::int64_t event) {
        forgotten_.insert(event);
        const auto known = kept_of_.find(event);
        if (known == kept_of_.end()) return;
        for (const std::size_t i : known->second) kept_.erase(i);
        kept_of_.erase(known);
    }

    std::size_t put(const ordered_json& event, Entry entry) {
        const std::int64_t id = count_at(event, "id");
        entries_.push_back(std::move(entry));
        if (!forgotten_.contains(id)) {
            kept_of_[id].push_back(entries_.size() - 1);
            kept_.insert(entries_.size() - 1);
        }
        return entries_.size() - 1;
    }

    /// The messages as the agent sends them.
    Entries sent_ones() {
        std::vector<const ordered_json*> messages;
        for (const Entry& entry : entries_) messages.push_back(&entry.message);
        std::vector<bool> is_sent(entries_.size());
        Entries sent;
        auto compaction = compactions_.begin();
        for (const SentMessage& one : order_sent(messages, true)) {
            for (; compaction != compactions_.end() && compaction->before <= one.with; ++compaction)
                sent.compact().kept = sent_of(std::move(compaction->kept));
            is_sent[one.message] = true;
            sent.add(std::move(entries_[one.message]));
        }
        for (; compaction != compactions_.end(); ++compaction)
            sent.compact().kept = sent_of(std::move(compaction->kept));
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (is_sent[i]) continue;
            const bool is_result = text_at(entries_[i].message, "role") == "tool";
            ++notes_.left_out[is_result ? "result without its reply" : "reply without all its results"];
            if (entries_[i].call) sent.bill_elsewhere(*std::move(entries_[i].call));
        }
        return sent;
    }

    static std::vector<ordered_json> sent_of(std::vector<ordered_json> kept) {
        std::vector<const ordered_json*> messages;
        for (const ordered_json& message : kept) messages.push_back(&message);
        std::vector<ordered_json> sent;
        for (const SentMessage& one : order_sent(messages, false)) sent.push_back(std::move(kept[one.message]));
        return sent;
    }

    std::optional<MiddleCut> cut_;  // nullopt: results are sent whole
    LogNotes& notes_;
    Session session_{.format = Format::openhands};
    std::vector<Entry> entries_{};
    std::vector<Compaction> compactions_{};
    CopyBudget copies_{};
    std::unordered_map<std::string, std::size_t> replies_{};  // by id of the response
    std::unordered_set<std::string> billed_{};                // ids of responses
    Usage sums_{};
    std::set<std::size_t> kept_{};                                // messages that requests have now
    std::map<std::int64_t, std::vector<std::size_t>> kept_of_{};  // the same by the event that gave them
    std::unordered_set<std::int64_t> forgotten_{};                // events
};

}  // namespace

/// Events, or records that hold those of a session each.
void read_openhands(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    OpenHandsLog log(stem_of(options), openhands_cut(nullptr), notes);
    std::int64_t held = 0;
    each_record(in, options, notes, [&](const ordered_json& record, std::size_t line) {
        const ordered_json* events = tree_at(record, "history");
        if (events == nullptr) events = tree_at(record, "trajectory");
        if (events == nullptr && (record.contains("history") || record.contains("trajectory"))) {
            ++notes.left_out["record without events"];
            return;
        }
        if (events == nullptr || !events->is_array()) return log.add(record, line);
        std::string id(text_at(record, "instance_id"));
        if (++held; id.empty()) id = stem_of(options) + (held == 1 ? "" : "#" + std::to_string(held));
        OpenHandsLog session(std::move(id), openhands_cut(record), notes);
        for (const ordered_json& event : *events) session.add(event, line);
        session.finish(visit);
    });
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
