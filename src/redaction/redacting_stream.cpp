#include "redacting_stream.hpp"

#include "../base/ascii.hpp"
#include "json_masker.hpp"
#include "piece_masker.hpp"
#include "private_key_text.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::redaction {
namespace {

constexpr std::size_t longest_piece = 65'536;

/// Behind the last character that ends every value, or everything.
std::size_t end_of_piece(std::string_view line) {
    const std::size_t last = line.find_last_of(",;{}&\t|<>()[]");
    return last == std::string_view::npos ? line.size() : last + 1;
}

/// A line of PEM, and not a word that stands alone in its line.
bool may_begin_in_key(std::string_view core) {
    constexpr std::size_t least = 24;
    constexpr std::size_t longest_word = 48;
    return core.size() >= least && may_stand_in_key(core) && std::ranges::all_of(core, is_base64) &&
           (core.size() > longest_word || std::ranges::any_of(core, detail::is_digit)) && !begins_as_public_der(core);
}

}  // namespace

void RedactingStream::write(std::string_view chunk, std::string& out) {
    held_ += chunk;
    std::size_t done = 0;
    for (;;) {
        const std::string_view left = std::string_view(held_).substr(done);
        const std::size_t line = left.substr(0, longest_piece).find('\n');
        if (line != std::string_view::npos) {
            take_line(left.substr(0, line), !is_rest_, "\n", out);
            is_rest_ = false;
            done += line + 1;
        } else if (left.size() >= longest_piece) {
            const std::size_t piece = end_of_piece(left.substr(0, longest_piece));
            take_line(left.substr(0, piece), false, "", out);
            is_rest_ = true;
            done += piece;
        } else {
            break;
        }
    }
    held_.erase(0, done);
}

void RedactingStream::finish(std::string& out) {
    if (!held_.empty()) take_line(held_, !is_rest_, "", out);
    held_.clear();
    settle_held(false, out);
}

void RedactingStream::take_line(std::string_view line, bool is_whole, std::string_view line_end, std::string& out) {
    if (rules_->private_key) {
        if (take_in_key(line, line_end, out) || (is_whole && !is_rest_ && hold(line, line_end, out))) return;
        settle_held(ends_private_key(line), out);
    }
    mask_line(line, is_whole, out);
    out += line_end;
    if (rules_->private_key) note_marks(line);
}

/// Whether the line is one of a private key's between BEGIN and END.
bool RedactingStream::take_in_key(std::string_view line, std::string_view line_end, std::string& out) {
    if (block_ != Block::private_key) return false;
    const LineCore core = core_of(line);
    const std::string_view bare = line.substr(core.begin, core.end - core.begin);
    const bool is_mask = bare.empty() && line.find("***") != std::string_view::npos;
    if (is_mask || !may_stand_in_key(bare)) {  // what a mask stands for may have ended the key
        block_ = Block::none;
        return false;
    }
    hide_line(line, out);
    out += line_end;
    return true;
}

/// Whether the line may be one of a private key's whose BEGIN is not to be seen: its END tells.
bool RedactingStream::hold(std::string_view line, std::string_view line_end, std::string& out) {
    constexpr std::size_t most_bytes = 32'768;
    if (block_ != Block::none) return false;
    const LineCore core = core_of(line);
    const std::string_view bare = line.substr(core.begin, core.end - core.begin);
    if (begins_as_private_der(bare)) return false;
    if (!may_begin_in_key(bare) && (lines_.empty() || bare.empty() || !may_stand_in_key(bare))) return false;
    if (lines_.size() + line.size() > most_bytes) settle_held(false, out);
    lines_.append(line).append(line_end);
    return true;
}

void RedactingStream::settle_held(bool is_key, std::string& out) {
    const std::string lines = std::exchange(lines_, {});
    if (is_key && !lines.empty()) is_key_counted_ = false;
    for (std::string_view left = lines; !left.empty();) {
        const std::size_t end = left.find('\n');
        const std::string_view line = left.substr(0, end);
        if (is_key) {
            hide_line(line, out);
        } else {
            mask_line(line, true, out);
        }
        if (end == std::string_view::npos) break;
        out += '\n';
        left.remove_prefix(end + 1);
    }
}

/// What stands around it, such as its number, stays.
void RedactingStream::hide_line(std::string_view line, std::string& out) {
    const LineCore core = core_of(line);
    const std::string_view secret = line.substr(core.begin, core.end - core.begin);
    out += line.substr(0, core.begin);
    if (!secret.empty()) {
        if (found_.secrets != nullptr) found_.secrets->emplace_back(secret);
        if (!std::exchange(is_key_counted_, true)) ++found_.places["private_key"];
        out += "***";
    }
    out += line.substr(core.end);
}

/// What the line begins, for those that follow.
void RedactingStream::note_marks(std::string_view line) {
    const bool has_marks = line.find("-----") != std::string_view::npos;
    const LineCore core = core_of(line);
    const std::string_view bare = line.substr(core.begin, core.end - core.begin);
    if (has_marks && begins_private_key(line) && !ends_private_key(line)) {
        block_ = Block::private_key;
        is_key_counted_ = false;
    } else if (begins_as_private_der(bare) && std::ranges::all_of(bare, is_base64)) {
        block_ = Block::private_key;
        is_key_counted_ = true;
    } else if (has_marks && begins_public_block(line)) {
        block_ = Block::public_block;
    } else if (block_ == Block::public_block && !may_stand_in_key(bare)) {
        block_ = Block::none;
    }
}

void RedactingStream::mask_line(std::string_view line, bool is_whole, std::string& out) {
    if (lines_may_be_json_ && is_whole && is_json(line)) return mask_json(*rules_, line, out, found_);
    if (lines_may_be_json_ && is_whole) {
        const std::size_t begin = line.find('{');
        const std::size_t end = begin == std::string_view::npos ? begin : line.rfind('}');
        if (end != std::string_view::npos && end > begin && is_json(line.substr(begin, end + 1 - begin))) {
            const bool is_opaque = block_ == Block::public_block;
            mask_piece(*rules_, line.substr(0, begin), is_opaque, out, found_);
            mask_json(*rules_, line.substr(begin, end + 1 - begin), out, found_);
            return mask_piece(*rules_, line.substr(end + 1), is_opaque, out, found_);
        }
    }
    mask_piece(*rules_, line, block_ == Block::public_block, out, found_);
}

}  // namespace whittle::inline v0::redaction
