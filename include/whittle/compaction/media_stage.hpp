#pragma once

#include "whittle/base/language.hpp"
#include "whittle/base/saturating.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/compaction/kept_media.hpp"
#include "whittle/compaction/stage_gain.hpp"
#include "whittle/message/part.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What becomes of images, sounds and documents in old messages.
enum class MediaMode {
    automatic,    ///< `reference` if there is a store, else `placeholder`
    keep,         ///< they stay
    placeholder,  ///< "[image removed]"; the journal keeps them
    reference,    ///< "[image: ref://...]"; the store keeps them, `fetch_media` brings one back
};

/// "automatic", "keep", ...
[[nodiscard]] std::string_view name_of(MediaMode mode) noexcept;

/// `{conversation}/media/{SHA-256 of the content, hex}`: the same media never have two keys in a conversation.
[[nodiscard]] std::string media_key(std::string_view conversation, std::string_view content);

/// "[image: ref://{key}]", "[audio: ...]", "[video: ...]", "[document: ...]" or "[media: ...]" by mime type.
[[nodiscard]] std::string media_reference(std::string_view key, std::string_view mime, Language language);

/// "[image removed]", and so on.
[[nodiscard]] std::string media_removed(std::string_view mime, Language language);

namespace detail {

/// Whether part `part` is media that may be taken out: not made by another middleware. Media that an adapter put beside
/// a result may be.
[[nodiscard]] bool may_take_media(const MessageInfo& info, std::size_t part);

/// What replaces one media part.
struct MediaText {
    std::string text{};
    std::string key{};      ///< empty: not stored
    std::string content{};  ///< a JSON array of one part, as `offload_content` writes it
};

[[nodiscard]] MediaText media_in_place(const Part& media, std::string_view conversation, bool is_stored,
                                       Language language);

/// A media part that goes.
struct MediaEdit {
    std::size_t part = 0;
    MediaText now{};
    std::int64_t gain = 0;  ///< tokens, above 0
};

/// What would stand in place of the media parts `media` (in order) of `message`. Those that cost less than that stay.
template <AgentMessage M>
[[nodiscard]] std::vector<MediaEdit> plan_media(const Turn<M>& turn, const M& message,
                                                const std::vector<std::size_t>& media, bool is_stored,
                                                const TokenCounter& counter) {
    std::vector<MediaEdit> edits;
    if (media.empty()) return edits;
    std::size_t at = 0;
    message_traits<M>::for_each_part(message, [&](const PartView& part) {
        if (!std::ranges::binary_search(media, at++)) return;
        MediaText now = media_in_place(to_part(part), turn.conversation.id(), is_stored, turn.language);
        const std::int64_t gain = sub_saturating(counter.media_tokens(part.media), counter.count(now.text));
        if (gain > 0) edits.push_back({at - 1, std::move(now), gain});
    });
    return edits;
}

/// Plans one media part; belongs to the unit begun last.
template <AgentMessage M>
void replace_media(Transaction<M>& edit, std::size_t message, MediaEdit media,
                   const std::shared_ptr<Storage>& storage) {
    MediaText& now = media.now;
    Provenance provenance{.origin = Origin::placeholder, .reason = std::string(media_reason)};
    if (!now.key.empty()) provenance.stored.push_back(now.key);
    edit.allow_pinned(true);  // an adapter's message of its own beside a result; the caller has asked for pins
    edit.set_text(message, media.part, now.text, std::move(provenance));
    edit.allow_pinned(false);
    if (!now.key.empty()) edit.offload(std::move(now.key), std::move(now.content), std::nullopt, storage);
}

/// From the last on: text in place of a result's only media takes away the empty part that stood for its missing text,
/// and the parts behind it move up.
template <AgentMessage M>
void replace_all_media(Transaction<M>& edit, std::size_t message, std::vector<MediaEdit> media,
                       const std::shared_ptr<Storage>& storage) {
    for (; !media.empty(); media.pop_back()) replace_media(edit, message, std::move(media.back()), storage);
}

/// The media parts of a message that pins and protections leave.
template <AgentMessage M>
[[nodiscard]] std::vector<std::size_t> media_to_take(const Turn<M>& turn, const Transaction<M>& edit,
                                                     const PruningConfig& results, std::size_t message) {
    std::vector<std::size_t> media;
    const Outline outline = edit.outline();
    if (!outline[message].has(PartKind::media) || edit.is_pinned(message)) return media;
    for (std::size_t p = 0; p < outline[message].parts.size(); ++p) {
        if (may_take_media(outline[message], p) && !keeps_media(turn, edit, results, message, p)) media.push_back(p);
    }
    return media;
}

/// Plans the removal of media from messages before index `end`, each message a unit. Media that cost less than the text
/// stay. `results`: whose results keep theirs, and the store, if that is not the chain's.
template <AgentMessage M>
StageGain stage_media(Turn<M>& turn, Transaction<M>& edit, MediaMode mode, std::size_t end,
                      const PruningConfig& results = {}) {
    StageGain gain;
    if (mode == MediaMode::keep) return gain;
    std::shared_ptr<Storage> storage = results.storage ? results.storage : turn.config.storage;
    if (mode == MediaMode::placeholder) storage = nullptr;
    const std::int64_t before = edit.tokens_after();
    for (std::size_t m = 0; m < std::min(end, edit.outline().size()); ++m) {
        std::vector<MediaEdit> edits = plan_media(turn, edit.messages()[m], media_to_take(turn, edit, results, m),
                                                  storage != nullptr, edit.counter());
        if (edits.empty()) continue;
        const std::int64_t count = edit.tokens_after();
        const std::size_t first = edits.front().part;
        gain.count += static_cast<int>(edits.size());
        edit.begin_unit();
        replace_all_media(edit, m, std::move(edits), storage);
        turn.report.more().candidates.push_back(
            {edit.outline()[m].serial, first, true, "old_media", sub_saturating(count, edit.tokens_after())});
    }
    gain.tokens = sub_saturating(before, edit.tokens_after());
    return gain;
}

}  // namespace detail

}  // namespace whittle::inline v0
