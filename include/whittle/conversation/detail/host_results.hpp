#pragma once

// How the results in a host's own message are shown: by setting texts of that message, so that its other members, their
// order and what stands beside the results stay as the host made them.

#include "whittle/conversation/journal.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/detail/result_numbers.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// A result in a host's message.
struct HostResult {
    ToolResult result{};            ///< its parts as a tool gives them
    std::vector<std::size_t> at{};  ///< where each of these parts stands in the message
};

/// The results in `m`, in order.
template <AgentMessage M>
[[nodiscard]] std::vector<HostResult> host_results(const M& m) {
    std::vector<HostResult> results;
    ResultNumbers numbers;
    std::size_t at = 0;
    message_traits<M>::for_each_part(m, [&](const PartView& view) {
        const std::size_t place = at++;
        const auto number = numbers.next(view.kind, view.call_id, view.starts_new_result);
        if (!number) return;
        if (*number == results.size())
            results.push_back({.result = {.call_id = std::string(view.call_id), .tool = std::string(view.tool)}});
        HostResult& result = results[*number];
        Part part = to_part(view);
        result.at.push_back(place);
        result.result.is_error = result.result.is_error || part.is_error;
        result.result.parts.push_back(view.kind == PartKind::media
                                          ? Part{.kind = PartKind::media, .media = std::move(part.media)}
                                          : Part{.text = std::move(part.text)});
    });
    return results;
}

/// Whether `m` holds a result and is no reply of the model.
template <AgentMessage M>
[[nodiscard]] bool holds_results(const M& m) {
    if (message_traits<M>::role(m) == Role::assistant) return false;
    bool holds = false;
    message_traits<M>::for_each_part(m, [&](const PartView& view) {
        holds = holds || view.kind == PartKind::tool_result || (view.kind == PartKind::media && !view.call_id.empty());
    });
    return holds;
}

/// What waits for the results of calls, oldest first for each call id. Views of these.
template <typename T>
class ByCallId {
public:
    void add(std::string_view call_id, const T& item) { by_id_[call_id].items.push_back(&item); }
    /// The oldest that waits for a result of that call; null if none does.
    [[nodiscard]] const T* take(std::string_view call_id) {
        const auto found = by_id_.find(call_id);
        if (found == by_id_.end() || found->second.next == found->second.items.size()) return nullptr;
        return found->second.items[found->second.next++];
    }

private:
    struct Waiting {
        std::vector<const T*> items{};
        std::size_t next = 0;
    };
    std::unordered_map<std::string_view, Waiting> by_id_{};
};

/// Returns that wait for the message with their result. Views of the returns.
class ReturnQueue {
public:
    enum class Missing { refused, passed_over };  ///< a return whose message does not come

    ReturnQueue(std::span<const ToolReturn> returns, Missing missing);
    ~ReturnQueue();

    /// As `ByCallId::take`.
    [[nodiscard]] const ToolReturn* take(std::string_view call_id);
    /// The same for each of several results.
    [[nodiscard]] std::vector<const ToolReturn*> take(std::span<const HostResult> results);
    [[nodiscard]] std::span<const ToolReturn* const> taken() const noexcept { return taken_; }
    /// No more messages come. Throws Error(invalid_argument) if a return was not taken that may not be missing.
    void finish() const;

private:
    ByCallId<ToolReturn> waiting_{};
    std::vector<const ToolReturn*> taken_{};
    std::size_t count_ = 0;
    Missing missing_;
};

/// An edit of one part; without a text the part goes.
struct HostEdit {
    std::size_t part = 0;
    std::optional<std::string> text{};
};

/// What becomes of a host's message. Part numbers are those of the message as it came.
struct HostPlan {
    std::vector<HostEdit> show{};            ///< make the message that is shown
    std::vector<HostEdit> back{};            ///< make the original, where the message came as it is shown
    std::vector<StoredText> only_stored{};   ///< texts of the original that are in a store and not in the message
    std::vector<StoredText> also_stored{};   ///< texts of the message that a store has, too
    std::vector<std::vector<Mark>> marks{};  ///< by result, of each of its texts that are shown

    [[nodiscard]] bool has_original() const noexcept { return !show.empty() || !back.empty() || !only_stored.empty(); }
};

/// Who made a message with results.
enum class MadeBy {
    host,
    adapter,  ///< of the returns, which it shows: no part is edited
};
/// `returns`: for each result what the chain made of it, or null. A result stays as it is where its message has no
/// place for what is to be shown: for media that it does not have.
[[nodiscard]] HostPlan plan_message(std::span<const HostResult> results, std::span<const ToolReturn* const> returns,
                                    MadeBy made_by);

/// Sorts edits from the last part to the first.
void sort_backwards(std::vector<HostEdit>& edits);
/// The parts that go by the edits from `first` on, up to the next one that sets a text; ascending.
[[nodiscard]] std::vector<std::size_t> gone_from(const std::vector<HostEdit>& edits, std::size_t first);

/// Gives the texts of results their marks.
void mark_results(MessageInfo& info, const std::vector<std::vector<Mark>>& marks);
/// Gives the results of `info` the tools and object names that they have in `shown`.
void take_names_of_results(MessageInfo& info, const MessageInfo& shown);

/// A copy with the edits, which are carried out from the last part to the first: a text for media may hide a part, and
/// an erase shows one, behind the place of the edit only.
template <AgentMessage M>
[[nodiscard]] M edited(const M& m, std::vector<HostEdit> edits) {
    M copy = m;
    sort_backwards(edits);
    PartFinder<M> parts;
    for (std::size_t i = 0; i < edits.size();) {
        if (edits[i].text) {
            parts.set_text(copy, edits[i].part, *edits[i].text);
            ++i;
            continue;
        }
        const std::vector<std::size_t> gone = gone_from(edits, i);
        i += gone.size();
        erase_parts_of(copy, gone);
        parts.forget();
    }
    return copy;
}

/// Hands the parts of a finished result to a sink, a plain text as a stream.
void push_parts(std::span<const Part> parts, PartSink& out);

}  // namespace whittle::inline v0::detail
