#include "whittle/reduction/detail/clearing_run.hpp"

#include "whittle/base/error.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

// How the parts of a result are set and taken out.

namespace whittle::inline v0::detail {

/// One text for all parts, where the first text stood; an empty text stays. The others go first: the empty part that
/// some types show behind media, in place of text that is missing, goes by itself once there is text.
void ClearingRun::set_all(const ClearingCandidate& candidate, std::string_view text, Provenance provenance) {
    const auto parts = [&]() -> const auto& { return edit_.outline()[candidate.message].parts; };
    const auto is_empty_text = [&](std::size_t part) {
        return parts()[part].kind != PartKind::media && parts()[part].bytes == 0;
    };
    const auto is_text = [&](std::size_t part) {
        return parts()[part].kind != PartKind::media && !is_empty_text(part);
    };
    const auto found = std::ranges::find_if(candidate.parts, is_text);
    std::size_t kept = found != candidate.parts.end() ? *found : candidate.parts.front();
    std::vector<std::size_t> gone;
    std::ranges::copy_if(candidate.parts, std::back_inserter(gone),
                         [&](std::size_t part) { return part != kept && !is_empty_text(part); });
    if (!gone.empty()) erased_ = edit_.erase_parts(candidate.message, std::move(gone), provenance);
    kept -= count_below(erased_, kept);
    const std::size_t before = parts().size();
    edit_.set_text(candidate.message, kept, text, std::move(provenance));
    if (parts().size() < before) erased_.push_back(candidate.parts.back());
}

/// From the last on. A part may no longer be shown then: one without text, or the empty one behind media.
void ClearingRun::set_each(const ClearingCandidate& candidate, const std::vector<bool>& is_new,
                           const std::vector<Part>& now, const Provenance& provenance) {
    const auto shown = [&] { return edit_.outline()[candidate.message].parts.size(); };
    for (std::size_t i = now.size(); i-- > 0;) {
        if (!is_new[i]) continue;
        const std::size_t before = shown();
        edit_.set_text(candidate.message, candidate.parts[i], now[i].text, provenance);
        if (shown() < before) erased_.push_back(now[i].text.empty() ? candidate.parts[i] : candidate.parts.back());
    }
}

/// As many parts as before: each takes the text of its successor. Else the first takes all text, the others go.
void ClearingRun::set_parts(const ClearingCandidate& candidate, const std::vector<Part>& before,
                            const std::vector<Part>& now, const Provenance& provenance) {
    const bool one_by_one = now.size() == before.size();
    std::vector<bool> is_new(now.size());
    std::string all;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const bool is_kept = one_by_one && now[i].media == before[i].media && now[i].kind == before[i].kind &&
                             now[i].text == before[i].text;
        if (now[i].kind == PartKind::media && !is_kept) {
            throw Error(
                Errc::callback_failed,
                std::string(name_) + ": clear_handler: a replacement part is text, or the part that stood there");
        }
        all += now[i].text;
        is_new[i] = !is_kept;
    }
    if (one_by_one) return set_each(candidate, is_new, now, provenance);
    erased_ =
        edit_.erase_parts(candidate.message, {std::next(candidate.parts.begin()), candidate.parts.end()}, provenance);
    const auto shown = [&] { return edit_.outline()[candidate.message].parts.size(); };
    const std::size_t before_text = shown();
    edit_.set_text(candidate.message, candidate.parts.front(), all, provenance);
    if (shown() < before_text) erased_.push_back(all.empty() ? candidate.parts.front() : candidate.parts.back());
}

std::size_t count_below(const std::vector<std::size_t>& parts, std::size_t part) {
    return static_cast<std::size_t>(std::ranges::lower_bound(parts, part) - parts.begin());
}

}  // namespace whittle::inline v0::detail
