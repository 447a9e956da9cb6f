#include "redacting_stream.hpp"

#include "../base/ascii.hpp"
#include "json_masker.hpp"
#include "piece_masker.hpp"

#include <algorithm>

namespace whittle::inline v0::redaction {
namespace {

constexpr std::size_t longest_piece = 65'536;

/// Behind the last character that ends every value, or everything.
std::size_t end_of_piece(std::string_view line) {
    const std::size_t last = line.find_last_of(",;{}&\t|<>()[]");
    return last == std::string_view::npos ? line.size() : last + 1;
}

/// "-----BEGIN RSA PRIVATE KEY-----", whatever stands around it.
bool begins_private_key(std::string_view line) {
    const std::size_t begin = line.find("-----BEGIN ");
    return begin != std::string_view::npos && line.find("PRIVATE KEY", begin) != std::string_view::npos;
}

/// Of the lines between BEGIN and END: base64, or a header of an old form.
bool may_stand_in_key(std::string_view line) {
    constexpr std::size_t longest = 128;
    const std::string_view bare = detail::trim_view(line);
    if (bare.size() > longest) return false;
    return std::ranges::all_of(bare, [](char c) { return detail::is_alnum(c) || c == '+' || c == '/' || c == '='; }) ||
           bare.starts_with("Proc-Type:") || bare.starts_with("DEK-Info:");
}

}  // namespace

void RedactingStream::write(std::string_view chunk, std::string& out) {
    held_ += chunk;
    std::size_t done = 0;
    for (;;) {
        const std::string_view left = std::string_view(held_).substr(done);
        const std::size_t line = left.substr(0, longest_piece).find('\n');
        if (line != std::string_view::npos) {
            take_line(left.substr(0, line), !is_rest_, out);
            out += '\n';
            is_rest_ = false;
            done += line + 1;
        } else if (left.size() >= longest_piece) {
            const std::size_t piece = end_of_piece(left.substr(0, longest_piece));
            take_line(left.substr(0, piece), false, out);
            is_rest_ = true;
            done += piece;
        } else {
            break;
        }
    }
    held_.erase(0, done);
}

void RedactingStream::finish(std::string& out) {
    if (!held_.empty()) take_line(held_, !is_rest_, out);
    held_.clear();
}

void RedactingStream::take_line(std::string_view line, bool is_whole, std::string& out) {
    if (rules_->private_key && is_hidden(line)) {
        if (!is_key_counted_) ++places_["private_key"];
        is_key_counted_ = true;
        out += "***";
        return;
    }
    mask_line(line, is_whole, out);
}

/// Whether the line is one of a private key's between BEGIN and END.
bool RedactingStream::is_hidden(std::string_view line) {
    if (begins_private_key(line)) {
        is_in_key_ = true;
        is_key_counted_ = false;
        return false;
    }
    is_in_key_ = is_in_key_ && may_stand_in_key(line);
    return is_in_key_ && !detail::trim_view(line).empty();
}

void RedactingStream::mask_line(std::string_view line, bool is_whole, std::string& out) {
    if (lines_may_be_json_ && is_whole && is_json(line)) return mask_json(*rules_, line, out, places_);
    mask_piece(*rules_, line, false, out, places_);
}

}  // namespace whittle::inline v0::redaction
