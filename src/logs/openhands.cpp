#include "openai_form.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <algorithm>
#include <array>
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

/// The events of a session. Those of one reply of the model share a response.
class OpenHandsLog {
public:
    OpenHandsLog(const LogOptions& options, LogNotes& notes) : notes_(notes) {
        session_.recording.id = stem_of(options);
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
            add_said(event, "user", time, line);
        } else if (call != nullptr) {
            add_call(event, *call, time, line);
        } else {
            add_said(event, "assistant", time, line);
        }
    }

    void finish(VisitSession visit) {
        entries_.finish(session_, false, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    static std::string text_in_args(const ordered_json& event, const char* key) {
        const ordered_json* args = tree_at(event, "args");
        return args == nullptr ? "" : std::string(text_at(*args, key));
    }

    void add_said(const ordered_json& event, const char* role, std::optional<double> time, std::size_t line) {
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
                        .call = Call{.id = response_id, .usage = usage_in(response, event)}});
        if (response != nullptr) entries_[reply].call->model = text_at(*response, "model");
        entries_[reply].message["tool_calls"] = ordered_json::array({std::move(call)});
        if (!response_id.empty()) replies_.emplace(response_id, reply);
    }

    /// As the model wrote them, where the response was recorded.
    static std::string arguments_of(const ordered_json* response, std::string_view call_id, const ordered_json* args) {
        const ordered_json* choices = response == nullptr ? nullptr : tree_at(*response, "choices");
        const ordered_json* message = choices == nullptr || choices->empty() || !choices->is_array()
                                          ? nullptr
                                          : tree_at(choices->front(), "message");
        const ordered_json* calls = message == nullptr ? nullptr : tree_at(*message, "tool_calls");
        if (calls != nullptr && calls->is_array()) {
            for (const ordered_json& call : *calls) {
                const ordered_json* function = tree_at(call, "function");
                if (text_at(call, "id") == call_id && function != nullptr)
                    return std::string(text_at(*function, "arguments"));
            }
        }
        return args == nullptr ? "{}" : args->dump(-1, ' ', false, ordered_json::error_handler_t::replace);
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
        return Usage{.input = grown(before.input, now.input),
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
        const std::string content(text_at(event, "content"));
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
                if (id.is_number_integer()) forgotten_.insert(id.get<std::int64_t>());
            }
        }
        const bool has_range = args.contains("forgotten_events_start_id") && args.contains("forgotten_events_end_id");
        const std::int64_t first = count_at(args, "forgotten_events_start_id");
        const std::int64_t last = count_at(args, "forgotten_events_end_id");
        Compaction& compaction = entries_.compact();
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const std::int64_t id = event_of_[i];
            if (has_range && id >= first && id <= last) forgotten_.insert(id);
            if (!forgotten_.contains(id)) compaction.kept.push_back(entries_[i].message);
        }
        const std::string_view summary = text_at(args, "summary");
        if (summary.empty()) return;
        const auto place = std::min<std::int64_t>(count_at(args, "summary_offset"), std::ssize(compaction.kept));
        compaction.kept.insert(compaction.kept.begin() + place, ordered_json{{"role", "user"}, {"content", summary}});
    }

    std::size_t put(const ordered_json& event, Entry entry) {
        event_of_.push_back(count_at(event, "id"));
        return entries_.add(std::move(entry));
    }

    LogNotes& notes_;
    Session session_{.format = Format::openhands};
    Entries entries_{};
    std::unordered_map<std::string, std::size_t> replies_{};  // by id of the response
    Usage sums_{};
    std::vector<std::int64_t> event_of_{};  // of each message, the first one
    std::unordered_set<std::int64_t> forgotten_{};
};

}  // namespace

void read_openhands(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    OpenHandsLog log(options, notes);
    const auto document = read_document(in, options, notes);
    const ordered_json* events = document && document->is_object() ? tree_at(*document, "history") : nullptr;
    if (document && document->is_array()) events = &*document;
    if (events == nullptr || !events->is_array()) return;
    for (const ordered_json& event : *events) {
        if (event.is_object()) log.add(event, 1);
    }
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
