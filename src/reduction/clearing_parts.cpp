#include "result_clearing.hpp"

#include "whittle/base/error.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

// How the parts of a result are set and taken out.

namespace whittle::inline v0::detail {

/// One text for all parts, where the first text stood; an empty text stays. The others go first: the empty part that
/// some types show behind media, in place of text that is missing, goes by itself once there is text.
void ResultClearing::set_all(std::string_view text, Provenance provenance) {
    const auto parts = [&]() -> const auto& { return scope_.edit.outline()[candidate_.message].parts; };
    const auto is_empty_text = [&](std::size_t part) {
        return parts()[part].kind != PartKind::media && parts()[part].text_bytes == 0;
    };
    const auto is_text = [&](std::size_t part) {
        return parts()[part].kind != PartKind::media && !is_empty_text(part);
    };
    const auto found = std::ranges::find_if(candidate_.parts, is_text);
    std::size_t kept = found != candidate_.parts.end() ? *found : candidate_.parts.front();
    std::vector<std::size_t> gone;
    std::ranges::copy_if(candidate_.parts, std::back_inserter(gone),
                         [&](std::size_t part) { return part != kept && !is_empty_text(part); });
    if (!gone.empty()) erased_ = scope_.edit.erase_parts(candidate_.message, std::move(gone), provenance);
    kept -= count_below(erased_, kept);
    const std::size_t before = parts().size();
    scope_.edit.set_text(candidate_.message, kept, text, std::move(provenance));
    if (parts().size() < before) erased_.push_back(candidate_.parts.back());
}

/// From the last on. A part may no longer be shown then: one without text, or the empty one behind media.
void ResultClearing::set_each(const std::vector<bool>& is_new, const std::vector<Part>& now,
                              const Provenance& provenance) {
    for (std::size_t i = now.size(); i-- > 0;) {
        if (!is_new[i]) continue;
        const std::size_t before = shown();
        scope_.edit.set_text(candidate_.message, candidate_.parts[i], now[i].text, provenance);
        if (shown() < before) erased_.push_back(now[i].text.empty() ? candidate_.parts[i] : candidate_.parts.back());
    }
}

/// As many parts as before: each takes the text of its successor. Else the first takes all text, the others go.
void ResultClearing::set_parts(const std::vector<Part>& before, const std::vector<Part>& now,
                               const Provenance& provenance) {
    const bool one_by_one = now.size() == before.size();
    std::vector<bool> is_new(now.size());
    std::string all;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const bool is_kept = one_by_one && now[i].media == before[i].media && now[i].kind == before[i].kind &&
                             now[i].text == before[i].text;
        if (now[i].kind == PartKind::media && !is_kept) {
            throw Error(Errc::callback_failed,
                        std::string(scope_.name()) +
                            ": clear_handler: a replacement part is text, or the part that stood there");
        }
        all += now[i].text;
        is_new[i] = !is_kept;
    }
    if (one_by_one) return set_each(is_new, now, provenance);
    erased_ = scope_.edit.erase_parts(candidate_.message, {std::next(candidate_.parts.begin()), candidate_.parts.end()},
                                      provenance);
    const std::size_t before_text = shown();
    scope_.edit.set_text(candidate_.message, candidate_.parts.front(), all, provenance);
    if (shown() < before_text) erased_.push_back(all.empty() ? candidate_.parts.front() : candidate_.parts.back());
}

std::size_t count_below(std::span<const std::size_t> parts, std::size_t part) {
    return static_cast<std::size_t>(std::ranges::lower_bound(parts, part) - parts.begin());
}

}  // namespace whittle::inline v0::detail
