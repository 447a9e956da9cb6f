#include "whittle/message/outline.hpp"

#include "part_facts.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace whittle::inline v0 {
namespace {

/// A call in the message `serial`.
struct CallRef {
    Serial serial = 0;
    const PartInfo* part = nullptr;
};

std::ptrdiff_t count_calls(const MessageInfo& info, std::string_view id) noexcept {
    return std::ranges::count_if(info.parts,
                                 [&](const PartInfo& p) { return p.kind == PartKind::tool_call && p.call_id == id; });
}

/// The call with that id that `skip` other results answer already.
const PartInfo* nth_call(const MessageInfo& info, std::string_view id, std::ptrdiff_t skip) noexcept {
    for (const PartInfo& p : info.parts) {
        if (p.kind == PartKind::tool_call && p.call_id == id && skip-- == 0) return &p;
    }
    return nullptr;
}

const PartInfo* find_call(const MessageInfo& info, std::string_view id) noexcept {
    const auto found = std::ranges::find_if(
        info.parts, [&](const PartInfo& p) { return p.kind == PartKind::tool_call && p.call_id == id; });
    return found == info.parts.end() ? nullptr : &*found;
}

bool answers(const MessageInfo& info, std::string_view id) noexcept {
    return std::ranges::any_of(info.parts, [&](const PartInfo& p) { return is_result_part(p) && p.call_id == id; });
}

/// The newest call with that id in `before` that no message there answers, else the newest.
std::optional<CallRef> search_back(const Outline& before, std::string_view id) {
    std::optional<CallRef> newest;
    std::vector<Serial> answered;
    for (std::size_t i = before.size(); i-- > 0;) {
        const MessageInfo& info = before[i];
        if (answers(info, id)) answered.push_back(info.group);
        const PartInfo* call = find_call(info, id);
        if (call == nullptr) continue;
        if (!newest) newest = CallRef{info.serial, call};
        const std::ptrdiff_t answers_to_it = std::ranges::count(answered, info.serial);
        if (answers_to_it >= count_calls(info, id)) continue;
        return CallRef{info.serial, nth_call(info, id, answers_to_it)};
    }
    return newest;
}

/// The same as `search_back`, for a list that is walked from its start.
class CallIndex {
public:
    [[nodiscard]] std::optional<CallRef> operator()(std::string_view id) {
        const auto found = calls_of_.find(id);
        if (found == calls_of_.end()) return std::nullopt;
        SameId& same = found->second;
        while (!same.open.empty() && same.messages[same.open.back()].is_answered()) same.open.pop_back();
        if (same.open.empty()) return same.messages.back().calls.front();
        const Caller& caller = same.messages[same.open.back()];
        return caller.calls[caller.answers];
    }

    void add(const MessageInfo& info) {
        for (const PartInfo& part : info.parts) {
            if (part.kind == PartKind::tool_call) add_call(info.serial, part);
        }
        std::unordered_set<std::string_view> ids;  // the parts of one result answer once
        for (const PartInfo& part : info.parts) {
            if (is_result_part(part) && ids.insert(part.call_id).second) answer(part.call_id, info.group);
        }
    }

private:
    /// A message with calls of one id.
    struct Caller {
        Serial serial = 0;
        std::vector<CallRef> calls{};
        std::size_t answers = 0;

        [[nodiscard]] bool is_answered() const noexcept { return answers >= calls.size(); }
    };
    struct SameId {
        std::vector<Caller> messages{};
        std::vector<std::size_t> open{};  ///< and some that have been answered since
    };

    void add_call(Serial serial, const PartInfo& part) {
        SameId& same = calls_of_[part.call_id];
        if (same.messages.empty() || same.messages.back().serial != serial) {
            same.open.push_back(same.messages.size());
            same.messages.push_back({serial});
        }
        same.messages.back().calls.push_back({serial, &part});
    }

    void answer(std::string_view id, Serial group) {
        const auto found = calls_of_.find(id);
        if (found == calls_of_.end() || group == 0) return;
        std::vector<Caller>& all = found->second.messages;
        const auto last = std::find_if(all.rbegin(), all.rend(), [&](const Caller& c) { return c.serial == group; });
        if (last != all.rend()) ++last->answers;
    }

    std::unordered_map<std::string_view, SameId> calls_of_;
};

template <typename Search>
void join(MessageInfo& info, const MessageInfo* previous, Search&& search) {
    const bool has_calls = info.has(PartKind::tool_call);
    info.group = has_calls ? info.serial : 0;
    for (PartInfo& part : info.parts) {
        if (!is_result_part(part)) continue;
        const PartInfo* const own = find_call(info, part.call_id);
        const std::optional<CallRef> call = own ? CallRef{info.serial, own} : search(part.call_id);
        if (!call) continue;
        part.call_id = call->part->call_id;  // the same text, held once
        if (part.tool.empty() || part.tool == call->part->tool) part.tool = call->part->tool;
        if (part.object_name.empty()) part.object_name = call->part->object_name;
        if (info.group == 0) info.group = call->serial;
    }
    if (info.group == 0 && previous && origin_of(info.mark) == Origin::repair) info.group = previous->group;
}

}  // namespace

void join_group(MessageInfo& info, const Outline& before) {
    const MessageInfo* const previous = before.size() == 0 ? nullptr : &before[before.size() - 1];
    join(info, previous, [&](std::string_view id) { return search_back(before, id); });
}

void join_groups(std::span<MessageInfo> infos) {
    CallIndex index;
    const MessageInfo* previous = nullptr;
    for (MessageInfo& info : infos) {
        join(info, previous, index);
        index.add(info);
        previous = &info;
    }
}

}  // namespace whittle::inline v0
