#include "whittle/message/part.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>

namespace whittle::inline v0 {

std::string_view to_string(Role role) noexcept {
    switch (role) {
        case Role::system: return "system";
        case Role::user: return "user";
        case Role::assistant: return "assistant";
        case Role::tool: return "tool";
    }
    return "unknown";
}

std::string_view to_string(PartKind kind) noexcept {
    switch (kind) {
        case PartKind::text: return "text";
        case PartKind::thinking: return "thinking";
        case PartKind::tool_call: return "tool_call";
        case PartKind::tool_result: return "tool_result";
        case PartKind::media: return "media";
        case PartKind::other: return "other";
    }
    return "unknown";
}

PartView view_of(const Part& part) noexcept {
    const Media& media = part.media;
    return {part.kind,
            part.text,
            part.call_id,
            part.tool,
            MediaView{media.mime, media.bytes, media.url, media.width, media.height},
            part.is_error};
}

Part to_part(const PartView& view) {
    const MediaView& media = view.media;
    return {view.kind,
            std::string(view.text),
            std::string(view.call_id),
            std::string(view.tool),
            Media{std::string(media.mime), std::string(media.bytes), std::string(media.url), media.width, media.height},
            view.is_error};
}

std::int64_t Usage::total() const noexcept {
    return add_saturating(add_saturating(uncached_input, cache_read), add_saturating(cache_write, output));
}

Usage Usage::with_lifetimes(std::int64_t five_minutes, std::int64_t hour) const noexcept {
    Usage usage = *this;
    usage.cache_write_1h = std::clamp<std::int64_t>(hour, 0, std::max<std::int64_t>(0, cache_write));
    usage.cache_write_5m =
        std::clamp<std::int64_t>(five_minutes, 0, std::max<std::int64_t>(0, cache_write - usage.cache_write_1h));
    return usage;
}

Usage& Usage::operator+=(const Usage& more) noexcept {
    uncached_input = add_saturating(uncached_input, more.uncached_input);
    cache_read = add_saturating(cache_read, more.cache_read);
    cache_write = add_saturating(cache_write, more.cache_write);
    output = add_saturating(output, more.output);
    cache_write_5m = add_saturating(cache_write_5m, more.cache_write_5m);
    cache_write_1h = add_saturating(cache_write_1h, more.cache_write_1h);
    return *this;
}

}  // namespace whittle::inline v0
