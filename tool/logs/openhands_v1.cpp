// Sources of the format of OpenHands V1: `openhands-sdk/openhands/sdk`
// (https://github.com/OpenHands/software-agent-sdk/tree/main/openhands-sdk/openhands/sdk): `event`, `context/view`,
// `conversation/event_store.py`, `llm/utils/metrics.py`, `llm/message.py` (`_maybe_truncate_tool_text`) and
// `utils/truncate.py`, at commit `611629e` (2026-08-22); where the command line keeps them:
// `openhands_cli/locations.py` (https://github.com/OpenHands/OpenHands-CLI). That prompts hold the cache's tokens is of
// LiteLLM (https://github.com/BerriAI/litellm/blob/main/litellm/llms/anthropic/chat/transformation.py), which both
// versions call models through.
#include "cut_middle.hpp"
#include "openai_form.hpp"
#include "openhands_view.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// Events that hold nothing that was sent to a model.
constexpr std::array<std::string_view, 11> v1_side_events{"ConversationStateUpdateEvent",
                                                          "ConversationErrorEvent",
                                                          "CondensationRequest",
                                                          "PauseEvent",
                                                          "InterruptEvent",
                                                          "TokenEvent",
                                                          "HookExecutionEvent",
                                                          "LLMCompletionLogEvent",
                                                          "StreamingDeltaEvent",
                                                          "ACPToolCallEvent",
                                                          "ServerErrorEvent"};

/// What is sent of a text in a result (`DEFAULT_TEXT_CONTENT_LIMIT`, `maybe_truncate`).
constexpr std::size_t v1_most = 50'000;
constexpr std::string_view v1_notice =
    "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to "
    "you.</NOTE>";
constexpr std::size_t v1_tail = (v1_most - v1_notice.size()) / 2;
constexpr MiddleCut v1_cut{
    .most = v1_most, .head = v1_most - v1_notice.size() - v1_tail, .tail = v1_tail, .notice = v1_notice};

/// Texts and images of {"type": "text", "text"} and {"type": "image", "image_urls"}, of several lists.
class V1Content {
public:
    explicit V1Content(LogNotes& notes) : notes_(notes) {}

    /// Texts of a result: longer ones are sent without their middle.
    void of_result() { is_result_ = true; }

    void add_text(std::string_view text) {
        const std::string sent = is_result_ ? v1_cut(text) : std::string(text);
        if (sent.size() != text.size()) ++notes_.left_out["middle of a long result"];
        parts_.push_back({{"type", "text"}, {"text", sent}});
    }

    void add(const ordered_json* list) {
        if (list == nullptr) return;
        if (list->is_string()) return add_text(list->get_ref<const std::string&>());
        for (const ordered_json& part : *list) {
            const std::string_view type = text_at(part, "type");
            if (type == "text") {
                add_text(text_at(part, "text"));
            } else if (type == "image") {
                add_images(part);
            } else {
                ++notes_.unknown["content/" + std::string(type.substr(0, 64))];
            }
        }
    }

    [[nodiscard]] ordered_json content() const { return to_openai_content(parts_, "content", notes_); }

private:
    void add_images(const ordered_json& part) {
        const ordered_json* urls = tree_at(part, "image_urls");
        if (urls == nullptr) return;
        for (const ordered_json& url : *urls) {
            if (url.is_string()) parts_.push_back({{"type", "input_image"}, {"image_url", url}});
        }
    }

    LogNotes& notes_;
    bool is_result_ = false;
    ordered_json parts_ = ordered_json::array();
};

/// What was billed, by the id of the response; and where only sums were kept, these.
struct V1Bills {
    std::unordered_map<std::string, Usage> by_response{};
    std::optional<Usage> in_all{};

    /// "stats" of a conversation's state. What comes later takes the place of what was there.
    void take(const ordered_json& stats) {
        const ordered_json* by_purpose = tree_at(stats, "usage_to_metrics");
        if (by_purpose == nullptr) return;
        Usage sum;
        for (const ordered_json& metrics : *by_purpose) {
            if (const ordered_json* usages = tree_at(metrics, "token_usages")) {
                for (const ordered_json& usage : *usages) {
                    std::string id(text_at(usage, "response_id"));
                    if (id.empty()) id = "\n" + std::to_string(by_response.size());  // no reply's
                    by_response.insert_or_assign(std::move(id), usage_in(usage));
                }
            }
            if (const ordered_json* all = tree_at(metrics, "accumulated_token_usage")) sum += usage_in(*all);
        }
        if (sum != Usage{}) in_all = sum;
    }

    /// Takes the bill of a response away, so that the rest are those of no reply.
    [[nodiscard]] std::optional<Usage> take_of(const std::string& response) {
        const auto known = by_response.find(response);
        if (response.empty() || known == by_response.end()) return std::nullopt;
        const Usage usage = known->second;
        by_response.erase(known);
        return usage;
    }

private:
    static Usage usage_in(const ordered_json& usage) {
        return usage_of_sums(count_at(usage, "prompt_tokens"), count_at(usage, "cache_read_tokens"),
                             count_at(usage, "cache_write_tokens"), count_at(usage, "completion_tokens"));
    }
};

/// The events and the state of a conversation.
class OpenHandsV1Log {
public:
    OpenHandsV1Log(const LogOptions& options, LogNotes& notes) : notes_(notes) {
        session_.recording.id = stem_of(options);
    }

    void add(const ordered_json& record, std::size_t line) {
        for (const char* key : {"events", "items"}) {
            const ordered_json* list = tree_at(record, key);
            if (list == nullptr || !list->is_array()) continue;
            for (const ordered_json& event : *list) add_event(event, line);
            return;
        }
        if (text_at(record, "kind").empty() && record.contains("stats")) return take_state(record);
        add_event(record, line);
    }

    void finish(VisitSession visit) {
        const bool is_billed = !bills_.by_response.empty();
        Entries entries = view_.take_entries();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (!entries[i].call) continue;
            entries[i].call->usage = bills_.take_of(entries[i].call->id);
            if (entries[i].call->model.empty()) entries[i].call->model = model_;
        }
        for (const std::string& response : view_.taken_back())
            entries.bill_elsewhere(Call{.id = response, .model = model_, .usage = bills_.take_of(response)});
        if (is_billed) {
            for (const auto& [response, usage] : bills_.by_response)
                entries.bill_elsewhere(
                    Call{.id = response.starts_with('\n') ? std::string() : response, .usage = usage});
        } else {
            session_.billed_in_all = bills_.in_all;
        }
        entries.finish(session_, false, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    void add_event(const ordered_json& event, std::size_t line) {
        const std::string_view kind = text_at(event, "kind");
        if (!event.is_object() || kind.empty()) return note_damage(notes_, line, "an event without a kind");
        if (std::ranges::find(v1_side_events, kind) != v1_side_events.end()) {
            take_update(event);
            ++notes_.left_out[std::string(kind)];
            if (kind != "ConversationStateUpdateEvent") view_.pass(event, notes_);  // others stand in the tree
            return;
        }
        view_.move_to(event, notes_);
        const Stamp stamp{to_seconds(text_at(event, "timestamp")), line};
        if (kind == "SystemPromptEvent") return add_system(event);
        if (kind == "MessageEvent") return add_message(event, stamp);
        if (kind == "ActionEvent") return add_action(event, stamp);
        if (kind == "Condensation") return view_.condense(event, notes_);
        if (kind == "ObservationEvent") return add_result(event, result_of(event), stamp);
        if (kind == "AgentErrorEvent") return add_result(event, v1_cut(text_at(event, "error")), stamp);
        if (kind == "UserRejectObservation") {
            const std::string reason(text_at(event, "rejection_reason"));
            return add_result(event, v1_cut("Action rejected: " + reason), stamp);
        }
        ++notes_.unknown[std::string(kind.substr(0, 64))];
        view_.pass(event, notes_);
    }

    /// When and where an event was written.
    struct Stamp {
        std::optional<double> time{};
        std::size_t line = 0;
    };

    void take_state(const ordered_json& state) {
        if (const std::string_view id = text_at(state, "id"); !id.empty()) session_.recording.id = id;
        if (const ordered_json* stats = tree_at(state, "stats")) bills_.take(*stats);
        const ordered_json* agent = tree_at(state, "agent");
        const ordered_json* llm = agent == nullptr ? nullptr : tree_at(*agent, "llm");
        if (llm != nullptr) model_ = text_at(*llm, "model");
        const ordered_json* workspace = tree_at(state, "workspace");
        if (workspace != nullptr) session_.folder = text_at(*workspace, "working_dir");
    }

    /// An update of the state, or of one member of it.
    void take_update(const ordered_json& event) {
        const ordered_json* value = tree_at(event, "value");
        if (value == nullptr) return;
        if (text_at(event, "key") == "stats") bills_.take(*value);
        if (text_at(event, "key") == "full_state") take_state(*value);
    }

    void add_system(const ordered_json& event) {
        for (const char* key : {"system_prompt", "dynamic_context"}) {
            const ordered_json* part = tree_at(event, key);
            if (part == nullptr) continue;
            std::string& system = session_.recording.system;
            system.append(system.empty() ? "" : "\n\n").append(text_at(*part, "text"));
        }
        view_.add_system(event);
    }

    void add_message(const ordered_json& event, const Stamp& stamp) {
        const ordered_json* message = tree_at(event, "llm_message");
        if (message == nullptr) return note_damage(notes_, stamp.line, "a message event without its message");
        V1Content content(notes_);
        content.add(find_member(*message, "content"));
        content.add(tree_at(event, "extended_content"));
        const bool is_reply = text_at(*message, "role") == "assistant";
        Entry entry{.message = {{"role", text_at(*message, "role")}, {"content", content.content()}},
                    .time = stamp.time,
                    .line = stamp.line,
                    .call = std::nullopt};
        if (is_reply) entry.call = Call{.id = std::string(text_at(event, "llm_response_id"))};
        view_.add(event, std::move(entry));
    }

    /// Actions of one response, which follow each other, are one reply.
    void add_action(const ordered_json& event, const Stamp& stamp) {
        const ordered_json* recorded = tree_at(event, "tool_call");
        if (recorded == nullptr) return note_damage(notes_, stamp.line, "an action event without its call");
        ordered_json call = openai_call(text_at(*recorded, "id"), text_at(*recorded, "name"),
                                        std::string(text_at(*recorded, "arguments")));
        const std::string response(text_at(event, "llm_response_id"));
        if (Entry* open = view_.open_reply(response)) {
            open->message["tool_calls"].push_back(std::move(call));
            return view_.join(event);
        }
        V1Content thought(notes_);
        thought.add(find_member(event, "thought"));
        ordered_json content = thought.content();
        if (content == "") content = nullptr;
        view_.add(event, {.message = {{"role", "assistant"},
                                      {"content", std::move(content)},
                                      {"tool_calls", ordered_json::array({std::move(call)})}},
                          .time = stamp.time,
                          .line = stamp.line,
                          .call = Call{.id = response}});
    }

    ordered_json result_of(const ordered_json& event) {
        const ordered_json* observation = tree_at(event, "observation");
        V1Content content(notes_);
        content.of_result();
        if (observation != nullptr) {
            if (is_set(*observation, "is_error")) content.add_text("[An error occurred during execution.]\n");
            content.add(find_member(*observation, "content"));
        }
        content.add(tree_at(event, "extended_content"));
        return content.content();
    }

    void add_result(const ordered_json& event, ordered_json content, const Stamp& stamp) {
        view_.add(event, {.message = openai_result(text_at(event, "tool_call_id"), std::move(content)),
                          .time = stamp.time,
                          .line = stamp.line,
                          .call = std::nullopt});
    }

    LogNotes& notes_;
    Session session_{.format = Format::openhands_v1};
    OpenHandsView view_{};
    V1Bills bills_{};
    std::string model_{};
};

}  // namespace

void read_openhands_v1(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    OpenHandsV1Log log(options, notes);
    each_record(in, options, notes, [&](const ordered_json& record, std::size_t line) { log.add(record, line); });
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
