#include "whittle/pruning/detail/media_stage.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

std::vector<MediaEdit> plan_media(const HookTurn& turn, const Draft& edit, std::size_t message,
                                  const std::vector<std::size_t>& media, bool is_stored) {
    std::vector<MediaEdit> edits;
    if (media.empty()) return edits;
    std::size_t at = 0;
    edit.visit_parts(message, [&](const PartView& part) {
        if (!std::ranges::binary_search(media, at++)) return;
        MediaText now = media_in_place(to_part(part), turn.conversation_id(), is_stored, turn.language);
        const std::int64_t gain =
            sub_saturating(edit.counter().media_tokens(part.media), edit.counter().count(now.text));
        if (gain > 0) edits.push_back({at - 1, std::move(now), gain});
    });
    return edits;
}

namespace {

/// Plans one media part; belongs to the edit group begun last.
void replace_media(Draft& edit, std::size_t message, MediaEdit media, const std::shared_ptr<Storage>& storage) {
    MediaText& now = media.now;
    Provenance provenance{.origin = Origin::placeholder, .reason = std::string(media_reason)};
    if (!now.key.empty()) provenance.stored_keys.push_back(now.key);
    edit.allow_editing_pinned(true);  // an adapter's message of its own beside a result; the caller has asked for pins
    edit.set_text(message, media.part, now.text, std::move(provenance));
    edit.allow_editing_pinned(false);
    if (!now.key.empty()) edit.store_on_commit(std::move(now.key), std::move(now.content), std::nullopt, storage);
}

}  // namespace

void replace_all_media(Draft& edit, std::size_t message, std::vector<MediaEdit> media,
                       const std::shared_ptr<Storage>& storage) {
    for (; !media.empty(); media.pop_back()) replace_media(edit, message, std::move(media.back()), storage);
}

namespace {

/// The media parts of a message that pins and protections leave.
[[nodiscard]] std::vector<std::size_t> media_to_take(const HookTurn& turn, const Draft& edit,
                                                     const PruningConfig& results, std::size_t message) {
    std::vector<std::size_t> media;
    const Outline outline = edit.outline();
    if (!outline[message].has(PartKind::media) || edit.is_protected(message)) return media;
    for (std::size_t p = 0; p < outline[message].parts.size(); ++p) {
        if (may_take_media(outline[message], p) && !keeps_media(turn, edit, results, message, p)) media.push_back(p);
    }
    return media;
}

}  // namespace

StageGain stage_media(HookTurn& turn, Draft& edit, MediaMode mode, std::size_t end, const PruningConfig& results) {
    StageGain gain;
    if (mode == MediaMode::keep) return gain;
    std::shared_ptr<Storage> storage = results.storage ? results.storage : turn.config.storage;
    if (mode == MediaMode::placeholder) storage = nullptr;
    const std::int64_t before = edit.tokens_after();
    for (std::size_t m = 0; m < std::min(end, edit.outline().size()); ++m) {
        std::vector<MediaEdit> edits =
            plan_media(turn, edit, m, media_to_take(turn, edit, results, m), storage != nullptr);
        if (edits.empty()) continue;
        const std::int64_t count = edit.tokens_after();
        const std::size_t first = edits.front().part;
        gain.count += static_cast<int>(edits.size());
        edit.begin_edit_group();
        replace_all_media(edit, m, std::move(edits), storage);
        turn.report.ensure_details().candidates.push_back(
            {edit.outline()[m].serial, first, true, "old_media", sub_saturating(count, edit.tokens_after())});
    }
    gain.tokens = sub_saturating(before, edit.tokens_after());
    return gain;
}

}  // namespace whittle::inline v0::detail
