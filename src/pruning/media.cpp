#include "whittle/base/detail/names.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/conversation/detail/stored_parts.hpp"
#include "whittle/pruning/detail/media_stage.hpp"

#include <fmt/format.h>

#include <span>

namespace whittle::inline v0 {

namespace {

struct KindOfMedia {
    std::string_view english;
    std::string_view chinese;
};

KindOfMedia media_kind(std::string_view mime) {
    if (mime.starts_with("image/")) return {"image", "图片"};
    if (mime.starts_with("audio/")) return {"audio", "音频"};
    if (mime.starts_with("video/")) return {"video", "视频"};
    if (mime.starts_with("application/") || mime.starts_with("text/")) return {"document", "文档"};
    return {"media", "媒体"};
}

}  // namespace

std::string_view to_string(MediaMode mode) noexcept {
    switch (mode) {
        case MediaMode::automatic: return "automatic";
        case MediaMode::keep: return "keep";
        case MediaMode::placeholder: return "placeholder";
        case MediaMode::reference: return "reference";
    }
    return "unknown";
}

std::string media_key(std::string_view conversation, std::string_view content) {
    return fmt::format("{}/media/{}", conversation, sha256_hex(content));
}

std::string media_reference(std::string_view key, std::string_view mime, Language language) {
    const KindOfMedia kind = media_kind(mime);
    if (language == Language::chinese) return fmt::format("[{}: ref://{}]", kind.chinese, key);
    return fmt::format("[{}: ref://{}]", kind.english, key);
}

std::string media_removed(std::string_view mime, Language language) {
    const KindOfMedia kind = media_kind(mime);
    if (language == Language::chinese) return fmt::format("[{}已移除]", kind.chinese);
    return fmt::format("[{} removed]", kind.english);
}

namespace detail {

bool may_take_media(const MessageInfo& info, std::size_t part) {
    if (info.parts[part].kind != PartKind::media) return false;
    const Origin origin = origin_of(mark_of(info, part));
    return origin == Origin::original || origin == Origin::repair;
}

MediaText media_in_place(const Part& media, std::string_view conversation, bool is_stored, Language language) {
    if (!is_stored) return {media_removed(media.media.mime, language)};
    std::string content = offload_content(std::span(&media, 1));
    std::string key = media_key(conversation, content);
    return {media_reference(key, media.media.mime, language), std::move(key), std::move(content)};
}

}  // namespace detail

}  // namespace whittle::inline v0
