#include "whittle/summarization/detail/transcript.hpp"

#include "../base/base64.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace whittle::inline v0::detail {

namespace {

using nlohmann::ordered_json;

ordered_json to_json(const MediaView& media) {
    ordered_json json = ordered_json::object();
    if (!media.mime.empty()) json["mime"] = media.mime;
    if (!media.url.empty()) json["url"] = media.url;
    if (!media.bytes.empty()) json["base64"] = to_base64(media.bytes);
    return json;
}

ordered_json to_json(const PartView& part) {
    ordered_json json{{"kind", name_of(part.kind)}};
    if (!part.call_id.empty()) json["call_id"] = part.call_id;
    if (!part.tool.empty()) json["tool"] = part.tool;
    if (part.kind == PartKind::media) {
        json["media"] = to_json(part.media);
    } else {
        json["text"] = part.text;
    }
    if (part.is_error) json["is_error"] = true;
    return json;
}

bool ends_in_mid_line(const std::string& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() <= 0) return false;
    in.seekg(-1, std::ios::end);
    return in.get() != '\n';
}

}  // namespace

struct TranscriptLine::State {
    ordered_json json{};
};

TranscriptLine::TranscriptLine(std::string_view conversation, const MessageInfo& info)
    : state_(std::make_unique<State>()) {
    state_->json = {{"conversation", conversation}, {"serial", info.serial}, {"role", name_of(info.role)}};
    state_->json["turn"] = info.turn;
    state_->json["parts"] = ordered_json::array();
}

TranscriptLine::~TranscriptLine() = default;

void TranscriptLine::add(const PartView& part, const Mark& mark) {
    ordered_json json = to_json(part);
    if (mark && !mark->stored.empty()) json["stored"] = mark->stored;
    state_->json["parts"].push_back(std::move(json));
}

/// Text that is no UTF-8 is shown with U+FFFD.
std::string TranscriptLine::take() { return state_->json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

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
