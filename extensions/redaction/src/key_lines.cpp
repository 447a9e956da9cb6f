#include "key_lines.hpp"

#include "made_words.hpp"
#include "secret_forms.hpp"
#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::redaction {
namespace {

using detail::is_digit;
using detail::is_space;

constexpr std::size_t longest_front = 160;
constexpr std::size_t least_last_word = 40;

std::string_view text_in(std::string_view line, const LineCore& core) noexcept {
    return line.substr(core.begin, core.end - core.begin);
}

bool is_all_base64(std::string_view text) noexcept { return std::ranges::all_of(text, is_base64); }

/// A line of PEM, and not a word that stands alone in its line.
bool may_begin_in_key(std::string_view core) noexcept {
    constexpr std::size_t least = 24;
    constexpr std::size_t longest_word = 48;
    return core.size() >= least && may_stand_in_key(core) && is_all_base64(core) &&
           (core.size() > longest_word || std::ranges::any_of(core, is_digit)) && !begins_as_public_der(core);
}

std::size_t behind_run(std::string_view text, std::size_t at, bool (*is_part)(char)) noexcept {
    while (at < text.size() && is_part(text[at])) ++at;
    return at;
}

/// How much of `line` is such a front: the same but for how many spaces, and which digits, stand in a row.
std::optional<std::size_t> size_of_front_like(std::string_view front, std::string_view line) noexcept {
    constexpr auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    constexpr auto is_number_digit = [](char c) { return detail::is_digit(c); };
    std::size_t at = 0;
    for (std::size_t i = 0; i < front.size();) {
        if (is_digit(front[i]) || is_blank(front[i])) {
            const auto is_part = is_digit(front[i]) ? +is_number_digit : +is_blank;
            const std::size_t end = behind_run(line, at, is_part);
            if (end == at) return std::nullopt;
            i = behind_run(front, i, is_part);
            at = end;
        } else if (at < line.size() && line[at] == front[i]) {
            ++i, ++at;
        } else {
            return std::nullopt;
        }
    }
    return at;
}

/// What stands in front of `begin`, if it is short enough to be looked for in front of every line that follows.
std::string_view front_until(std::string_view line, std::size_t begin) noexcept {
    return begin > longest_front ? std::string_view() : line.substr(0, begin);
}

/// The last word of what `core` has, if it may be a line of PEM: in front of it stands what a log writes.
LineCore last_word_of(std::string_view line, const LineCore& core) noexcept {
    const std::string_view text = text_in(line, core);
    if (text.size() < least_last_word) return core;
    const std::size_t space = text.find_last_of(" \t:|>\"'`");
    if (space == std::string_view::npos || space >= longest_front) return core;
    const std::string_view word = text.substr(space + 1);
    if (word.size() < least_last_word || !may_begin_in_key(word)) return core;
    return {core.begin + space + 1, core.end};
}

/// Whether the first line of a key may be this one, and not the next one of a program or a list that names the mark.
bool may_follow_begin(std::string_view core) noexcept {
    constexpr std::size_t least = 12;
    if (!is_all_base64(core) || begins_as_private_der(core) || core.starts_with("MI")) return true;
    const bool has_signs = std::ranges::any_of(core, [](char c) { return !detail::is_letter(c); });
    return core.size() >= least && (has_signs || !reads_as_words(core));
}

/// "if s.startswith(MARK):" goes on as a program does.
bool goes_on_behind_mark(std::string_view line) noexcept {
    const std::string_view text = detail::trim_view(line);
    return !text.empty() && std::string_view(":{[(?").find(text.back()) != std::string_view::npos;
}

/// Whether nothing but the mark of a beginning stands behind `begin`.
bool ends_with_mark(std::string_view line, std::size_t begin) noexcept {
    const LineCore core = core_of(line.substr(begin));
    return core.begin == 0 && line.substr(begin, core.end).ends_with("KEY-----");
}

}  // namespace

LineCore KeyLines::core(std::string_view line) const noexcept {
    if (!front_.empty()) {
        if (const auto size = size_of_front_like(front_, line)) {
            const LineCore behind = core_of(line.substr(*size));
            return {*size + behind.begin, *size + behind.end};
        }
    }
    const LineCore core = core_of(line);
    const bool stands_alone = is_all_base64(text_in(line, core));
    return stands_alone ? core : last_word_of(line, core);
}

KeyLines::Place KeyLines::take(std::string_view line, bool may_wait) {
    if (block_ == Block::private_key) {
        const std::string_view bare = text_in(line, core(line));
        const bool is_mask = bare.empty() && line.find("***") != std::string_view::npos;
        const bool may_follow = is_begun_ || bare.empty() || may_follow_begin(bare);
        is_begun_ = is_begun_ || !bare.empty();
        if (!is_mask && may_follow && may_stand_in_key(bare)) return Place::in_key;
        block_ = Block::none;  // what a mask stands for may have ended the key
        front_.clear();
    }
    if (!may_wait || block_ != Block::none || !may_wait_for_end(line)) return Place::other;
    return Place::may_be_in_key;
}

bool KeyLines::may_wait_for_end(std::string_view line) {
    const LineCore place = core(line);
    const std::string_view bare = text_in(line, place);
    if (begins_as_private_der(bare)) return false;
    if (!may_begin_in_key(bare) && (!is_waiting_ || bare.empty() || !may_stand_in_key(bare))) return false;
    if (!is_waiting_) front_ = front_until(line, place.begin);
    is_waiting_ = true;
    return true;
}

void KeyLines::note(std::string_view line) {
    const bool has_marks = line.find("-----") != std::string_view::npos;
    if (std::exchange(is_waiting_, false)) front_.clear();
    const LineCore place = core(line);
    const std::string_view bare = text_in(line, place);
    if (has_marks && begins_private_key(line) && !ends_private_key(line) && !goes_on_behind_mark(line)) {
        const std::size_t begin = line.find("-----BEGIN ");
        block_ = Block::private_key;
        began_within_line_ = false;
        is_begun_ = false;
        front_.clear();
        if (begin <= longest_front && ends_with_mark(line, begin)) front_ = line.substr(0, begin);
    } else if (begins_as_private_der(bare) && is_all_base64(bare)) {
        block_ = Block::private_key;
        began_within_line_ = true;
        is_begun_ = true;
        front_ = front_until(line, place.begin);
    } else if (has_marks && begins_public_block(line)) {
        block_ = Block::public_block;
    } else if (block_ == Block::public_block && !may_stand_in_key(bare)) {
        block_ = Block::none;
    }
}

std::vector<LineOfKey> lines_of_keys(std::span<const std::string_view> lines) {
    std::vector<LineOfKey> known(lines.size());
    KeyLines keys;
    std::size_t waiting = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const KeyLines::Place place = keys.take(lines[i], true);
        if (place == KeyLines::Place::in_key) known[i].hidden = keys.core(lines[i]);
        if (place == KeyLines::Place::may_be_in_key) ++waiting;
        if (place != KeyLines::Place::other) continue;
        const bool is_key = ends_private_key(lines[i]);
        for (std::size_t held = i - waiting; is_key && held < i; ++held) known[held].hidden = keys.core(lines[held]);
        waiting = 0;
        known[i].is_public = keys.is_in_public_block();
        keys.note(lines[i]);
    }
    return known;
}

}  // namespace whittle::inline v0::redaction
