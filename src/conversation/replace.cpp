#include "whittle/conversation/detail/replace.hpp"

namespace whittle::inline v0::detail {

bool edits_prefix(const SideTable& side, std::span<const InfoSplice> splices, Serial since, PrintsOf prints) {
    const auto thinks = [](const MessageInfo& info) { return info.has(PartKind::thinking); };
    const auto brings_thinking = [&](const InfoSplice& s) { return std::ranges::any_of(s.infos, thinks); };
    if (!side.has_thinking() && std::ranges::none_of(splices, brings_thinking)) return false;
    PrefixWalk walk(since);
    std::size_t old = 0;
    const auto keep_until = [&](std::size_t end) {
        for (; old < end; ++old) walk.keep(side.infos[old]);
    };
    const auto remove_until = [&](std::size_t end) {
        for (; old < end; ++old) walk.remove(side.infos[old]);
    };
    for (std::size_t n = 0; n < splices.size(); ++n) {
        const InfoSplice& s = splices[n];
        keep_until(s.first);
        Positions places(Outline(std::span(side.infos).subspan(s.first, s.count)));
        for (std::size_t i = 0; i < s.infos.size(); ++i) {
            const auto same = places.find(s.infos[i].serial, i);
            if (!same || s.first + *same < old) {
                walk.insert(s.infos[i]);
                continue;
            }
            remove_until(s.first + *same);
            const auto [before, after] = prints(old++, n, i);
            walk.change(before, after, s.infos[i].serial);
        }
        remove_until(s.first + s.count);
    }
    keep_until(side.infos.size());
    return walk.first_void().has_value();
}

}  // namespace whittle::inline v0::detail
