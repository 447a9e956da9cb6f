#include "whittle/summary/detail/fold.hpp"
#include "whittle/conversation/detail/repair_options.hpp"

#include <algorithm>
#include <string>

namespace whittle::inline v0 {

std::vector<std::pair<std::size_t, std::size_t>> stretches_of(std::span<const std::size_t> folded) {
    std::vector<std::pair<std::size_t, std::size_t>> stretches;
    for (const std::size_t i : folded) {
        if (stretches.empty() || stretches.back().second != i) stretches.emplace_back(i, i);
        stretches.back().second = i + 1;
    }
    return stretches;
}

std::vector<std::size_t> round_starts(const Outline& outline) {
    using Start = std::pair<Serial, std::size_t>;  // of a round, or of a later stretch of it
    std::vector<Start> known;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const Serial group = outline[i].round_serial;
        if (group != 0 && (known.empty() || known.back().first != group)) known.emplace_back(group, i);
    }
    if (!std::ranges::is_sorted(known)) std::ranges::sort(known);
    std::vector<std::size_t> starts(outline.size());
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const Serial group = outline[i].round_serial;
        starts[i] = group == 0 ? i : std::ranges::lower_bound(known, group, {}, &Start::first)->second;
    }
    return starts;
}

bool wants_turns(const ValidityProfile& rules) noexcept {
    return has_rule(rules, Rule::OC6_alternation) || has_rule(rules, Rule::GM1_user_first_and_last);
}

std::size_t stretch_for_summary(const Outline& outline, std::span<const std::size_t> folded,
                                const ValidityProfile& rules) {
    const std::size_t newest = stretches_of(folded).size() - 1;
    const bool wants_user = has_rule(rules, Rule::A1_user_first) || wants_turns(rules);
    std::size_t passed = 0;  // of the folded
    for (std::size_t i = 0; wants_user && i < outline.size(); ++i) {
        if (passed < folded.size() && folded[passed] == i) {
            ++passed;
        } else if (outline[i].role != Role::system) {
            return outline[i].role == Role::assistant && passed > 0 ? 0 : newest;
        }
    }
    return newest;
}

std::size_t place_of_summary(const Outline& outline, std::size_t first, std::size_t last) noexcept {
    std::size_t place = first;
    for (std::size_t i = first; i < last; ++i) {
        if (outline[i].turn >= outline[place].turn) place = i;
    }
    return place;
}

FoldNeighbours neighbours_of(const Outline& outline, std::size_t first, std::size_t last,
                             std::span<const std::size_t> folded, const ValidityProfile& rules) {
    FoldNeighbours found;
    if (!has_rule(rules, Rule::OC6_user_turns)) return found;
    const auto stays = [&](std::size_t i) {
        return outline[i].role != Role::system && !std::ranges::binary_search(folded, i);
    };
    for (std::size_t i = first; i-- > 0;) {
        if (!stays(i)) continue;
        found.before = outline[i].role != Role::assistant;
        break;
    }
    for (std::size_t i = last; i < outline.size(); ++i) {
        if (!stays(i)) continue;
        found.behind = outline[i].role == Role::user;
        break;
    }
    return found;
}

bool comes_from_fold(const MessageInfo& info) noexcept {
    const Origin origin = origin_of(info.mark);
    if (origin == Origin::repair) return info.mark->reason == detail::bridge_reason;
    if (origin == Origin::nudge) return info.mark->reason == "continue";
    return origin == Origin::summary || origin == Origin::skills || origin == Origin::attachment;
}

Hash128 fingerprint_of_range(const Outline& outline, std::span<const std::size_t> messages, Hash128 start) {
    Hash128 print = start;
    for (const std::size_t i : messages) {
        const MessageInfo& info = outline[i];
        print = hash128(std::to_string(info.serial), print);
        print.low ^= info.fingerprint.low;
        print.high ^= info.fingerprint.high;
    }
    return print;
}

std::vector<Serial> covered_serials(const Outline& outline, std::span<const std::size_t> folded) {
    std::vector<Serial> serials;
    serials.reserve(folded.size());
    for (const std::size_t i : folded) {
        serials.push_back(outline[i].serial);
        if (const Mark& mark = outline[i].mark) serials.insert(serials.end(), mark->covers.begin(), mark->covers.end());
    }
    if (!std::ranges::is_sorted(serials)) std::ranges::sort(serials);
    serials.erase(std::unique(serials.begin(), serials.end()), serials.end());
    return serials;
}

std::vector<std::string> stored_references(const Outline& outline, std::span<const std::size_t> folded) {
    std::vector<std::string> keys;
    const auto add = [&](const Mark& mark) {
        if (mark) keys.insert(keys.end(), mark->stored_keys.begin(), mark->stored_keys.end());
    };
    for (const std::size_t i : folded) {
        add(outline[i].mark);
        for (const PartInfo& part : outline[i].parts) add(part.mark);
    }
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

}  // namespace whittle::inline v0
