#pragma once

#include "whittle/base/language.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/compaction/stage_gain.hpp"
#include "whittle/message/part.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// The `Provenance::reason` of what stands in place of media.
inline constexpr std::string_view media_reason = "media";

/// `{conversation}/media/{SHA-256 of the content, hex}`: the same media never have two keys in a conversation.
[[nodiscard]] std::string media_key(std::string_view conversation, std::string_view content);

/// "[image: ref://{key}]", "[audio: ...]", "[video: ...]", "[document: ...]" or "[media: ...]" by mime type.
[[nodiscard]] std::string media_reference(std::string_view key, std::string_view mime, Language language);

/// "[image removed]", and so on.
[[nodiscard]] std::string media_removed(std::string_view mime, Language language);

namespace detail {

/// Whether the media part `part` of message `message` may be taken out: not pinned, nor in a result of a protected
/// tool, nor made by another middleware. Media that an adapter put beside a result may be.
[[nodiscard]] bool may_take_media(const MessageInfo& info, std::size_t part,
                                  const std::vector<std::string>& protected_tools);

/// What replaces one media part.
struct MediaText {
    std::string text{};
    std::string key{};      ///< empty: not stored
    std::string content{};  ///< a JSON array of one part, as `offload_content` writes it
};

[[nodiscard]] MediaText media_in_place(const Part& media, std::string_view conversation, bool is_stored,
                                       Language language);

/// Plans one media part; belongs to the unit begun last.
template <AgentMessage M>
void replace_media(Turn<M>& turn, Transaction<M>& edit, std::size_t message, std::size_t part,
                   const std::shared_ptr<Storage>& storage) {
    const Part media = parts_of(edit.messages()[message])[part];
    MediaText now = media_in_place(media, turn.conversation.id(), storage != nullptr, turn.language);
    Provenance provenance{.origin = Origin::placeholder, .reason = std::string(media_reason)};
    if (!now.key.empty()) provenance.stored.push_back(now.key);
    edit.allow_pinned(true);  // an adapter's message of its own beside a result; the caller has asked for pins
    edit.set_text(message, part, std::move(now.text), std::move(provenance));
    edit.allow_pinned(false);
    if (!now.key.empty()) edit.offload(std::move(now.key), std::move(now.content), std::nullopt, storage);
}

/// Plans the removal of media from messages before index `end`, each message a unit. What frees no tokens stays.
/// `storage` null: the chain's.
template <AgentMessage M>
StageGain stage_media(Turn<M>& turn, Transaction<M>& edit, MediaMode mode, std::size_t end,
                      std::shared_ptr<Storage> storage = nullptr) {
    StageGain gain;
    if (mode == MediaMode::keep) return gain;
    if (!storage) storage = turn.config.storage;
    if (mode == MediaMode::placeholder) storage = nullptr;
    const std::int64_t before = edit.tokens_after();
    for (std::size_t m = 0; m < std::min(end, edit.outline().size()); ++m) {
        if (!edit.outline()[m].has(PartKind::media) || edit.is_pinned(m)) continue;
        const std::int64_t count = edit.tokens_after();
        const Unit unit = edit.begin_unit();
        int taken = 0;
        for (std::size_t p = 0; p < edit.outline()[m].parts.size(); ++p) {
            if (!may_take_media(edit.outline()[m], p, turn.config.protected_tools)) continue;
            replace_media(turn, edit, m, p, storage);
            ++taken;
        }
        const std::int64_t freed = count - edit.tokens_after();
        if (taken > 0 && freed <= 0) edit.drop_unit(unit);
        if (taken > 0 && freed > 0) {
            gain.count += taken;
            turn.report.more().candidates.push_back({edit.outline()[m].serial, 0, true, "old_media", freed});
        }
    }
    gain.tokens = before - edit.tokens_after();
    return gain;
}

}  // namespace detail

}  // namespace whittle::inline v0
