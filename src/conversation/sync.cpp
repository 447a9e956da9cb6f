#include "whittle/conversation/detail/sync.hpp"

namespace whittle::inline v0::detail {

int describe_stretch(SideTable& side, MessageRange stretch, std::size_t fresh, std::vector<MessageInfo>& infos,
                     FunctionRef<MessageInfo(std::size_t)> describe) {
    const std::size_t size = fresh + side.count_cut_off(stretch.begin, stretch.end);
    infos.reserve(size);
    std::vector<const MessageInfo*> before;  // what stands in front of each of them
    before.reserve(stretch.begin + size);
    for (const MessageInfo& info : std::span(side.infos).first(stretch.begin)) before.push_back(&info);
    int turn = stretch.begin > 0 ? before.back()->turn : 0;
    GroupFinder groups;
    for (std::size_t i = 0; i < size; ++i) {
        const bool is_fresh = i < fresh;
        MessageInfo info = is_fresh ? describe(i) : side.infos[stretch.end + i - fresh];
        if (is_fresh) {
            info.serial = side.counters.next_serial++;
            info.turn = side.counters.explicit_turns ? side.counters.turn : turn += starts_turn(info) ? 1 : 0;
            if (info.role == Role::assistant) ++side.counters.model_calls;
        }
        groups.join(info, Outline(std::span<const MessageInfo* const>(before)));
        if (is_fresh) side.names.assign_to(info);
        before.push_back(&infos.emplace_back(std::move(info)));
    }
    return std::max(side.counters.turn, turn);
}

}  // namespace whittle::inline v0::detail
