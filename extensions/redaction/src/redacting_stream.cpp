#include "redacting_stream.hpp"

#include "json_masker.hpp"
#include "piece_masker.hpp"
#include "private_key_text.hpp"

#include <utility>

namespace whittle::inline v0::redaction {
namespace {

constexpr std::size_t longest_piece = 65'536;

/// Behind the last character that ends every value, or everything.
std::size_t end_of_piece(std::string_view line) {
    const std::size_t last = line.find_last_of(",;{}&\t|<>()[]");
    return last == std::string_view::npos ? line.size() : last + 1;
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
        const KeyLines::Place place = keys_.take(line, is_whole && !is_rest_);
        if (place == KeyLines::Place::may_be_in_key) return hold(line, line_end, out);
        if (place == KeyLines::Place::in_key) {
            hide_line(line, out);
            out += line_end;
            return;
        }
        settle_held(ends_private_key(line), out);
    }
    mask_other_line(line, is_whole, out);
    out += line_end;
    if (!rules_->private_key) return;
    keys_.note(line);
    is_key_counted_ = keys_.began_within_line();
}

/// What of a private key may be one: its END tells.
void RedactingStream::hold(std::string_view line, std::string_view line_end, std::string& out) {
    constexpr std::size_t most_bytes = 32'768;
    if (lines_.size() + line.size() > most_bytes) settle_held(false, out);
    lines_.append(line).append(line_end);
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
            mask_other_line(line, true, out);
        }
        if (end == std::string_view::npos) break;
        out += '\n';
        left.remove_prefix(end + 1);
    }
}

/// What stands around it, such as its number, stays, but for what is a secret itself.
void RedactingStream::hide_line(std::string_view line, std::string& out) {
    const LineCore core = keys_.core(line);
    const std::string_view secret = line.substr(core.begin, core.end - core.begin);
    mask_piece(*rules_, line.substr(0, core.begin), false, out, found_);
    if (!secret.empty()) {
        if (found_.secrets != nullptr) found_.secrets->emplace_back(secret);
        if (!std::exchange(is_key_counted_, true)) ++found_.places["private_key"];
        out += "***";
    }
    out += line.substr(core.end);
}

void RedactingStream::mask_other_line(std::string_view line, bool is_whole, std::string& out) {
    mask_line(line, is_whole, out);
    context_.pass(line);
}

void RedactingStream::mask_line(std::string_view line, bool is_whole, std::string& out) {
    const bool is_opaque = keys_.is_in_public_block();
    if (lines_may_be_json_ && is_whole && is_json(line)) return mask_json(*rules_, line, out, found_);
    if (lines_may_be_json_ && is_whole) {
        const std::size_t begin = line.find('{');
        const std::size_t end = begin == std::string_view::npos ? begin : line.rfind('}');
        if (end != std::string_view::npos && end > begin && is_json(line.substr(begin, end + 1 - begin))) {
            mask_piece(*rules_, line.substr(0, begin), is_opaque, out, found_);
            mask_json(*rules_, line.substr(begin, end + 1 - begin), out, found_);
            return mask_piece(*rules_, line.substr(end + 1), is_opaque, out, found_);
        }
    }
    mask_piece(*rules_, line, is_opaque, out, found_, &context_);
}

}  // namespace whittle::inline v0::redaction
