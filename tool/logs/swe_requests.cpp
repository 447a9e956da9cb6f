#include "swe_requests.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;
using RequestMarks = std::vector<std::size_t>;

/// A text, or the texts of blocks.
std::string text_of_content(const ordered_json& message) {
    const ordered_json* content = find_member(message, "content");
    if (content == nullptr) return {};
    if (content->is_string()) return content->get<std::string>();
    std::string text;
    for (const ordered_json& block : *content) {
        const ordered_json* of_block = find_member(block, "text");
        text += of_block == nullptr ? to_json_text(block) : std::string(text_at(block, "text"));
    }
    return text;
}

/// The same for messages that say the same: marks of the provider's cache move, and a text becomes a block for them.
std::size_t mark_of_message(const ordered_json& message) {
    std::string canonical(text_at(message, "role"));
    canonical.append("\n").append(text_of_content(message));
    if (const ordered_json* calls = tree_at(message, "tool_calls")) canonical.append("\n").append(to_json_text(*calls));
    return std::hash<std::string>{}(canonical);
}

RequestMarks marks_of_list(const ordered_json& list) {
    RequestMarks marks;
    for (const ordered_json& message : list) marks.push_back(mark_of_message(message));
    return marks;
}

ordered_json* list_in(ordered_json& step, const char* key) {
    if (!step.is_object()) return nullptr;
    const auto found = step.find(key);
    return found != step.end() && found->is_array() && !found->empty() ? &*found : nullptr;
}

/// Whether "messages" of a step end with its reply and what came of it, so that they are what the next one sends.
bool ends_with_reply(const ordered_json& list, const ordered_json& step) {
    if (list.size() < 2) return false;
    const ordered_json& reply = list[list.size() - 2];
    return text_at(reply, "role") == "assistant" && text_of_content(reply) == text_at(step, "response");
}

/// Versions before "query" wrote "messages" behind each step. Not one list tells, since an agent may repeat itself.
bool messages_are_of_next(ordered_json& steps) {
    std::size_t lists = 0;
    std::size_t of_next = 0;
    for (ordered_json& step : steps) {
        const ordered_json* messages = list_in(step, "messages");
        if (messages == nullptr) continue;
        ++lists;
        if (ends_with_reply(*messages, step)) ++of_next;
    }
    return 2 * of_next > lists;
}

/// The steps of a trajectory with what each of them sent.
class SweSteps {
public:
    explicit SweSteps(ordered_json& steps) {
        const bool is_of_next = messages_are_of_next(steps);
        ordered_json* from_before = nullptr;  // "messages" of the step in front
        for (ordered_json& step : steps) {
            const bool has_query = find_member(step, "query") != nullptr;
            ordered_json* request = list_in(step, "query");
            if (ordered_json* messages = has_query ? nullptr : list_in(step, "messages")) {
                request = is_of_next ? std::exchange(from_before, messages) : messages;
            }
            has_requests_ = has_requests_ || request != nullptr;
            steps_.push_back({.request = request,
                              .response = std::string(text_at(step, "response")),
                              .has_no_request = has_query && request == nullptr});
        }
    }

    struct Step {
        ordered_json* request = nullptr;  ///< null: not told
        std::string response{};
        bool has_no_request = false;
    };

    /// Whether any of them tells what was sent.
    [[nodiscard]] bool has_requests() const noexcept { return has_requests_; }

    /// The next step that gave this reply; null if there is none. Those in front were asked again.
    [[nodiscard]] const Step* next_with(const std::string& reply, LogNotes& notes) {
        for (std::size_t i = next_; i < steps_.size(); ++i) {
            if (steps_[i].response != reply) continue;
            if (i > next_) notes.left_out["reply that was asked for again"] += static_cast<std::int64_t>(i - next_);
            next_ = i + 1;
            return &steps_[i];
        }
        return nullptr;
    }

private:
    std::vector<Step> steps_{};
    std::size_t next_ = 0;
    bool has_requests_ = false;
};

}  // namespace

ordered_json swe_message_as_sent(const ordered_json& recorded) {
    ordered_json message{{"role", text_at(recorded, "role")}};
    for (const char* key : {"content", "tool_calls", "tool_call_id", "name"}) {
        const ordered_json* value = find_member(recorded, key);
        if (value != nullptr && !(value->is_null() && std::string_view(key) != "content")) message[key] = *value;
    }
    const ordered_json* ids = tree_at(recorded, "tool_call_ids");
    if (text_at(message, "role") == "tool" && ids != nullptr && ids->is_array() && !ids->empty())
        message["tool_call_id"] = ids->front();
    return message;
}

void take_sent_requests(ordered_json& steps, Entries& entries, LogNotes& notes) {
    SweSteps sent(steps);
    if (!sent.has_requests()) return;
    RequestMarks request;  // that the next reply would have, as far as is known
    for (std::size_t i = 0; i < entries.size(); ++i) {
        Entry& entry = entries[i];
        const SweSteps::Step* step = entry.call ? sent.next_with(text_of_content(entry.message), notes) : nullptr;
        if (entry.call && step == nullptr) ++notes.unknown["reply without its step"];
        if (step != nullptr && step->has_no_request) entry.call.reset();
        if (step != nullptr && step->request != nullptr) {
            if (RequestMarks marks = marks_of_list(*step->request); marks != request) {
                Compaction& compaction = entries.compact_at(i);
                compaction.trigger = "history_processor";
                for (ordered_json& message : *step->request) {
                    compaction.kept.push_back(swe_message_as_sent(message));
                    message = nullptr;  // so that requests are held once
                }
                request = std::move(marks);
            }
        }
        request.push_back(mark_of_message(entry.message));
    }
}

}  // namespace whittle::inline v0::logs
