#include "part_facts.hpp"
#include "whittle/message/detail/group_finder.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t near_parts = 64;  // looked at before an index is made

/// A call in the message `caller`.
struct CallRef {
    Serial caller = 0;
    const PartInfo* part = nullptr;
};

bool is_call_of(const PartInfo& part, std::string_view id) noexcept {
    return part.kind == PartKind::tool_call && part.call_id == id;
}

std::ptrdiff_t count_calls(const MessageInfo& info, std::string_view id) noexcept {
    return std::ranges::count_if(info.parts, [&](const PartInfo& p) { return is_call_of(p, id); });
}

/// The call with that id that `skip` other results answer already.
const PartInfo* nth_call(const MessageInfo& info, std::string_view id, std::ptrdiff_t skip) noexcept {
    for (const PartInfo& p : info.parts) {
        if (is_call_of(p, id) && skip-- == 0) return &p;
    }
    return nullptr;
}

bool answers(const MessageInfo& info, std::string_view id) noexcept {
    return std::ranges::any_of(info.parts, [&](const PartInfo& p) { return is_result_part(p) && p.call_id == id; });
}

/// The newest call with that id that no message answers, if it stands among the newest `near_parts` parts.
std::optional<CallRef> find_near(const Outline& before, std::string_view id) {
    SmallVector<Serial> answered;
    std::size_t looked_at = 0;
    for (std::size_t i = before.size(); i-- > 0;) {
        const MessageInfo& info = before[i];
        looked_at += info.parts.size() + 1;
        if (looked_at > near_parts) return std::nullopt;
        if (answers(info, id)) answered.push_back(info.round_serial);
        const std::ptrdiff_t calls = count_calls(info, id);
        if (calls == 0) continue;
        const std::ptrdiff_t answers_to_it = std::ranges::count(answered, info.serial);
        if (answers_to_it < calls) return CallRef{info.serial, nth_call(info, id, answers_to_it)};
    }
    return std::nullopt;
}

/// The first call of each id in one message: a result that stands beside its own call. Made when first asked.
class OwnCalls {
public:
    explicit OwnCalls(const MessageInfo& info) noexcept : info_(info), has_calls_(info.has(PartKind::tool_call)) {}

    [[nodiscard]] bool has_calls() const noexcept { return has_calls_; }
    [[nodiscard]] const PartInfo* find(std::string_view id) {
        if (!has_calls_) return nullptr;
        if (first_.empty()) {
            for (const PartInfo& part : info_.parts) {
                if (part.kind == PartKind::tool_call) first_.try_emplace(part.call_id, &part);
            }
        }
        const auto found = first_.find(id);
        return found == first_.end() ? nullptr : found->second;
    }

private:
    const MessageInfo& info_;
    bool has_calls_;
    std::unordered_map<std::string_view, const PartInfo*> first_{};
};

template <typename Search>
void join_round(MessageInfo& info, const MessageInfo* previous, Search&& search) {
    OwnCalls own(info);
    info.round_serial = own.has_calls() ? info.serial : 0;
    for (PartInfo& part : info.parts) {
        if (!is_result_part(part)) continue;
        const PartInfo* const beside = own.find(part.call_id);
        const CallRef call = beside != nullptr ? CallRef{info.serial, beside} : search(part.call_id);
        if (call.part == nullptr) continue;
        part.call_id = call.part->call_id;  // the same text, held once
        if (part.tool.empty() || part.tool == call.part->tool) part.tool = call.part->tool;
        if (part.key_safe_call_id.empty()) part.key_safe_call_id = call.part->key_safe_call_id;
        if (info.round_serial == 0) info.round_serial = call.caller;
    }
    if (info.round_serial == 0 && previous && origin_of(info.mark) == Origin::repair)
        info.round_serial = previous->round_serial;
}

}  // namespace

/// The calls of a list by their ids, each message's in order, and how many of them are answered.
class GroupFinder::Index {
public:
    /// Takes in what came to the list since.
    void update(const Outline& list) {
        for (; known_ < list.size(); ++known_) add(list[known_]);
    }

    /// The newest call with that id that no message answers, else the first of the newest message with one.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> find(std::string_view id) {
        const auto found = calls_of_.find(id);
        if (found == calls_of_.end()) return std::nullopt;
        SameId& same = found->second;
        while (!same.open.empty() && same.messages[same.open.back()].is_answered()) same.open.pop_back();
        if (same.open.empty()) return std::pair(same.messages.back().message, same.messages.back().parts.front());
        const Caller& caller = same.messages[same.open.back()];
        return std::pair(caller.message, caller.parts[caller.answers]);
    }

private:
    /// A message with calls of one id.
    struct Caller {
        std::size_t message = 0;
        std::vector<std::size_t> parts{};
        std::size_t answers = 0;

        [[nodiscard]] bool is_answered() const noexcept { return answers >= parts.size(); }
    };
    struct SameId {
        std::vector<Caller> messages{};
        std::vector<std::size_t> open{};  ///< and some that have been answered since
    };

    void add(const MessageInfo& info) {
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (info.parts[p].kind == PartKind::tool_call) add_call(info, p);
        }
        std::unordered_set<std::string_view> ids;  // the parts of one result answer once
        for (const PartInfo& part : info.parts) {
            if (is_result_part(part) && ids.insert(part.call_id).second) answer(part.call_id, info.round_serial);
        }
    }

    void add_call(const MessageInfo& info, std::size_t part) {
        place_of_[info.serial] = known_;
        SameId& same = calls_of_[info.parts[part].call_id];
        if (same.messages.empty() || same.messages.back().message != known_) {
            same.open.push_back(same.messages.size());
            same.messages.push_back({known_});
        }
        same.messages.back().parts.push_back(part);
    }

    void answer(std::string_view id, Serial group) {
        const auto found = calls_of_.find(id);
        const auto place = place_of_.find(group);
        if (found == calls_of_.end() || place == place_of_.end()) return;
        std::vector<Caller>& all = found->second.messages;
        const auto caller = std::ranges::lower_bound(all, place->second, {}, &Caller::message);
        if (caller != all.end() && caller->message == place->second) ++caller->answers;
    }

    std::size_t known_ = 0;  // messages that are in it
    std::unordered_map<std::string_view, SameId> calls_of_{};
    std::unordered_map<Serial, std::size_t> place_of_{};  // of the messages with calls
};

GroupFinder::GroupFinder() = default;
GroupFinder::~GroupFinder() = default;
GroupFinder::GroupFinder(GroupFinder&&) noexcept = default;
GroupFinder& GroupFinder::operator=(GroupFinder&&) noexcept = default;
GroupFinder::GroupFinder(const GroupFinder&) {}
GroupFinder& GroupFinder::operator=(const GroupFinder&) {
    forget();
    return *this;
}

void GroupFinder::forget() noexcept { index_.reset(); }

const PartInfo* GroupFinder::find_call(std::string_view id, const Outline& before, Serial& caller) {
    if (index_ == nullptr) {
        if (const auto nearest = find_near(before, id)) {
            caller = nearest->caller;
            return nearest->part;
        }
        index_ = std::make_unique<Index>();
    }
    try {
        index_->update(before);
    } catch (...) {  // it has half of a message
        forget();
        throw;
    }
    const auto place = index_->find(id);
    if (!place) return nullptr;
    caller = before[place->first].serial;
    return &before[place->first].parts[place->second];
}

void GroupFinder::join(MessageInfo& info, const Outline& before) {
    const MessageInfo* const previous = before.size() == 0 ? nullptr : &before[before.size() - 1];
    join_round(info, previous, [&](std::string_view id) {
        CallRef call;
        call.part = find_call(id, before, call.caller);
        return call;
    });
}

void link_to_round(MessageInfo& info, const Outline& before) { GroupFinder().join(info, before); }

void link_rounds(std::span<MessageInfo> infos) {
    GroupFinder finder;
    for (std::size_t i = 0; i < infos.size(); ++i)
        finder.join(infos[i], Outline(std::span<const MessageInfo>(infos).first(i)));
}

}  // namespace whittle::inline v0
