#include "whittle/summarization/detail/transcript.hpp"

#include "whittle/base/detail/base64.hpp"
#include "whittle/base/detail/json.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace whittle::inline v0::detail {

namespace {

void write_media_view(JsonWriter& json, const MediaView& media) {
    json.open_object();
    if (!media.mime.empty()) json.member("mime", media.mime);
    if (!media.url.empty()) json.member("url", media.url);
    if (!media.bytes.empty()) json.member("base64", to_base64(media.bytes));
    json.close_object();
}

void write_part_view(JsonWriter& json, const PartView& part, const Mark& mark) {
    json.open_object();
    json.member("kind", to_string(part.kind));
    if (!part.call_id.empty()) json.member("call_id", part.call_id);
    if (!part.tool.empty()) json.member("tool", part.tool);
    if (part.kind == PartKind::media) {
        json.name("media");
        write_media_view(json, part.media);
    } else {
        json.member("text", part.text);
    }
    if (part.is_error) json.member("is_error", true);
    if (mark && !mark->stored_keys.empty()) {
        json.name("stored");
        json.open_array();
        for (const std::string& key : mark->stored_keys) json.value(key);
        json.close_array();
    }
    json.close_object();
}

bool ends_in_mid_line(const std::string& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() <= 0) return false;
    in.seekg(-1, std::ios::end);
    return in.get() != '\n';
}

}  // namespace

std::string transcript_line(std::string_view conversation, const MessageInfo& info, std::size_t i,
                            VisitParts visit_parts) {
    JsonWriter json;
    json.open_object();
    json.member("conversation", conversation);
    json.member("serial", info.serial);
    json.member("role", to_string(info.role));
    json.member("turn", info.turn);
    json.name("parts");
    json.open_array();
    std::size_t p = 0;
    visit_parts(i, [&](const PartView& part) { write_part_view(json, part, mark_of(info, p++)); });
    json.close_array();
    json.close_object();
    return json.take() + '\n';
}

void append_to_file(const std::string& path, std::string_view text) {
    const bool is_broken = ends_in_mid_line(path);
    errno = 0;
    std::ofstream out(path, std::ios::binary | std::ios::app);
    if (is_broken) out << '\n';
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (out) return;
    throw Error(Errc::storage_failed, fmt::format("append {} bytes to the transcript \"{}\": {}", text.size(), path,
                                                  errno != 0 ? std::strerror(errno) : "the stream failed"));
}

}  // namespace whittle::inline v0::detail
