#include "whittle/message/outline.hpp"

#include "image_size.hpp"
#include "part_facts.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
namespace {

/// Appends `value` as 8 little-endian bytes.
char* put_number(char* at, std::uint64_t value) noexcept {
    for (int shift = 0; shift < 64; shift += 8) *at++ = static_cast<char>(value >> shift & 0xff);
    return at;
}

/// What base64 makes of that many bytes.
std::size_t base64_size(std::size_t bytes) noexcept { return (bytes + 2) / 3 * 4; }

void describe_media(const MediaView& media, PartInfo& info) noexcept {
    const std::size_t payload = media.url.starts_with("data:") ? media.url.find(',') + 1 : 0;  // 0 behind npos
    const std::size_t size = media.url.empty() ? base64_size(media.bytes.size()) : media.url.size() - payload;
    info.is_image = media.mime.starts_with("image/");
    if (info.is_image) {
        const ImageSize pixels = image_size(media);
        info.longer_side_pixels = std::max(pixels.width, pixels.height);
    }
    info.media_base64_bytes = static_cast<std::int64_t>(size);
}

bool holds_result(const MessageInfo& info) noexcept { return std::ranges::any_of(info.parts, is_result_part); }

}  // namespace

bool MessageInfo::has(PartKind kind) const noexcept { return std::ranges::count(parts, kind, &PartInfo::kind) > 0; }

bool is_original_user_message(const MessageInfo& info) noexcept {
    const auto holds_text = [](const PartInfo& part) {
        const bool stands_for_media =
            part.mark && part.mark->reason == media_reason;  // it asks for no more than they did
        return part.kind == PartKind::text && part.text_bytes > 0 && !stands_for_media;
    };
    return info.role == Role::user && origin_of(info.mark) == Origin::original &&
           std::ranges::any_of(info.parts, holds_text);
}

bool starts_turn(const MessageInfo& info) noexcept { return is_original_user_message(info) && !holds_result(info); }

bool is_text_beside_results(const MessageInfo& info) noexcept {
    return is_original_user_message(info) && holds_result(info);
}

PartInfo describe(const PartView& part) {
    PartInfo info;
    info.kind = part.kind;
    info.text_bytes = static_cast<std::int64_t>(part.text.size());
    info.call_id = part.call_id;
    info.tool = part.tool;
    info.is_error = part.is_error;
    info.starts_new_result = part.starts_new_result;
    info.is_blank = is_blank(part.text);
    info.ends_in_space = !part.text.empty() && is_blank(part.text.substr(part.text.size() - 1));
    info.is_invalid_utf8 = !is_valid_utf8(part.text) || !is_valid_utf8(part.call_id) || !is_valid_utf8(part.tool);
    info.has_object_arguments = part.kind == PartKind::tool_call && is_json_object(part.text);
    if (part.kind == PartKind::media) describe_media(part.media, info);
    return info;
}

Hash128 fingerprint(const PartView& part, Hash128 seed) noexcept {
    const std::array fields{part.text, part.call_id, part.tool, part.media.mime, part.media.bytes, part.media.url};
    std::array<char, 8 * (fields.size() + 4)> header{};  // the sizes, so that no field can flow into the next
    char* at = put_number(header.data(), static_cast<std::uint64_t>(part.kind));
    at = put_number(at, part.is_error ? 1 : 0);
    at = put_number(at, static_cast<std::uint64_t>(part.media.width));
    at = put_number(at, static_cast<std::uint64_t>(part.media.height));
    for (const std::string_view field : fields) at = put_number(at, field.size());

    Hash128 hash = hash128({header.data(), header.size()}, seed);
    for (const std::string_view field : fields) {
        if (!field.empty()) hash = hash128(field, hash);
    }
    return hash;
}

std::optional<std::size_t> Outline::newest_turn_start() const noexcept {
    for (std::size_t i = size(); i-- > 0;) {
        if (starts_turn((*this)[i])) return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> Outline::open_round_begin() const noexcept {
    for (std::size_t i = size(); i-- > 0;) {
        if ((*this)[i].role != Role::assistant) continue;
        return (*this)[i].has(PartKind::tool_call) ? std::optional(i) : std::nullopt;
    }
    return std::nullopt;
}

bool Outline::is_open_round_complete() const {
    const auto call = open_round_begin();
    if (!call) return true;
    std::unordered_set<std::string_view> waiting;
    for (const PartInfo& part : (*this)[*call].parts) {
        if (part.kind == PartKind::tool_call) waiting.insert(part.key_safe_call_id);
    }
    for (std::size_t i = *call + 1; i < size() && !waiting.empty(); ++i) {
        for (const PartInfo& part : (*this)[i].parts) {
            if (part.kind == PartKind::tool_result) waiting.erase(part.key_safe_call_id);
        }
    }
    return waiting.empty();
}

std::optional<std::size_t> Outline::open_loop_begin() const noexcept {
    std::optional<std::size_t> first = open_round_begin();
    bool is_answer = false;  // results are among what stands between two replies
    bool is_between = false;
    for (std::size_t i = first.value_or(0); i-- > 0;) {
        const MessageInfo& info = (*this)[i];
        if (info.role == Role::system) continue;
        if (info.role == Role::assistant) {
            if (is_between && !is_answer) break;
            first = i;
            is_between = false;
            continue;
        }
        is_answer = holds_result(info) || (is_between && is_answer);
        is_between = true;
    }
    return first;
}

MessageRange Outline::required_first_step() const noexcept {
    const auto first = open_loop_begin();
    if (!first || !starts_with_thinking((*this)[*first])) return {};
    MessageRange head{*first, 0};
    bool is_in_step = true;
    bool needs_head = false;
    for (std::size_t i = *first + 1; i < size(); ++i) {
        const MessageInfo& info = (*this)[i];
        if (info.role == Role::system) continue;
        const bool starts_step = info.role == Role::assistant && !is_in_step;
        is_in_step = info.role == Role::assistant;
        if (!starts_step) continue;
        if (head.end == 0) head.end = i;
        needs_head = needs_head || !starts_with_thinking(info);
    }
    return needs_head ? head : MessageRange{};
}

Serial Outline::newest_round_serial() const noexcept {
    std::size_t end = size();
    while (end > 0 && (*this)[end - 1].round_serial == 0) --end;
    return end > 0 ? (*this)[end - 1].round_serial : 0;
}

Serial Outline::open_round_serial() const noexcept {
    const std::optional<std::size_t> call = open_round_begin();
    return call ? (*this)[*call].round_serial : 0;
}

std::vector<Round> Outline::rounds() const {
    std::vector<Round> rounds;
    std::vector<std::pair<Serial, std::size_t>> round_of;
    for (std::size_t i = 0; i < size(); ++i) {
        const MessageInfo& info = (*this)[i];
        if (info.round_serial == 0 || info.round_serial != info.serial || !info.has(PartKind::tool_call)) continue;
        round_of.emplace_back(info.round_serial, rounds.size());
        rounds.push_back({info.round_serial, i, {}});
    }
    if (!std::ranges::is_sorted(round_of)) std::ranges::sort(round_of);  // an inserted message has a late serial
    auto found = round_of.cbegin();
    for (std::size_t i = 0; i < size(); ++i) {
        const Serial group = (*this)[i].round_serial;
        const auto is_of_group = [&] { return found != round_of.cend() && found->first == group; };
        if (found != round_of.cend() && !is_of_group()) ++found;  // mostly the round of the message before, or the next
        if (!is_of_group())
            found = std::ranges::lower_bound(round_of, group, {}, &std::pair<Serial, std::size_t>::first);
        if (!is_of_group() || rounds[found->second].call_message_index == i) continue;
        rounds[found->second].results.push_back(i);
    }
    return rounds;
}

std::vector<std::size_t> Outline::cut_points() const {
    std::unordered_map<Serial, std::size_t> ends;  // of rounds: behind their last message
    for (std::size_t i = 0; i < size(); ++i) {
        if (const Serial group = (*this)[i].round_serial; group != 0) ends[group] = i + 1;
    }
    std::vector<std::size_t> points;
    std::size_t end = 0;  // of the rounds so far
    for (std::size_t i = 0; i < size(); ++i) {
        if (i > 0 && i >= end) points.push_back(i);
        if (const Serial group = (*this)[i].round_serial; group != 0) end = std::max(end, ends[group]);
    }
    return points;
}

std::optional<std::size_t> Outline::index_of(Serial serial) const noexcept {
    for (std::size_t i = 0; i < size(); ++i) {
        if ((*this)[i].serial == serial) return i;
    }
    return std::nullopt;
}

}  // namespace whittle::inline v0
