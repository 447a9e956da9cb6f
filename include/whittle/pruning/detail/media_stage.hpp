#pragma once

#include "whittle/base/language.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/message/part.hpp"
#include "whittle/pruning/config.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

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
[[nodiscard]] std::vector<MediaEdit> plan_media(const HookTurn& turn, const Draft& edit, std::size_t message,
                                                const std::vector<std::size_t>& media, bool is_stored);
/// Plans these; they belong to the edit group begun last. From the last on: text in place of a result's only media
/// takes away the empty part that stood for its missing text, and the parts behind it move up.
void replace_all_media(Draft& edit, std::size_t message, std::vector<MediaEdit> media,
                       const std::shared_ptr<Storage>& storage);
/// Plans the removal of media from messages before index `end`, each message an edit group. Media that cost less than
/// the text stay. `results`: whose results keep theirs, and the store, if that is not the chain's.
StageGain stage_media(HookTurn& turn, Draft& edit, MediaMode mode, std::size_t end, const PruningConfig& results = {});

}  // namespace detail

}  // namespace whittle::inline v0
