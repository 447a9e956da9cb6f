#include "stems.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <cstddef>

namespace whittle::inline v0::detail {
namespace {

struct Character {
    enum class Script { none, letters, hiragana, characters, hangul };
    Script script = Script::none;
    std::size_t length = 1;  // bytes
};

using Script = Character::Script;

/// U+2000 to U+303F and U+F000 on are signs. Thai and its neighbours, as Chinese, are written without spaces.
Character character_at(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const unsigned lead = byte(0);
    const unsigned next = byte(1);
    if (lead < 0x80) return {is_alnum(text[at]) ? Script::letters : Script::none, 1};
    if (lead < 0xC3) return {};
    const std::size_t length = std::min<std::size_t>(text.size() - at, lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
    const bool is_thai = lead == 0xE0 && next >= 0xB8 && next <= 0xBB;
    const bool is_burmese_or_khmer = lead == 0xE1 && (next <= 0x82 || next == 0x9E || next == 0x9F);
    if (is_thai || is_burmese_or_khmer) return {Script::characters, length};
    if (lead <= 0xE1) return {Script::letters, length};
    if (lead == 0xE3 && next > 0x80)
        return {next == 0x81 || (next == 0x82 && byte(2) < 0xA0) ? Script::hiragana : Script::characters, length};
    if (lead >= 0xE4 && lead <= 0xE9) return {Script::characters, length};
    return {lead >= 0xEA && lead <= 0xED ? Script::hangul : Script::none, length};
}

std::uint64_t hash_on(std::uint64_t hash, std::string_view bytes) noexcept {
    for (const char c : bytes) hash = fnv_with(hash, lower(c));
    return hash;
}

bool is_written_without_spaces(Script script) noexcept {
    return script == Script::hiragana || script == Script::characters;
}

}  // namespace

bool has_letters(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        if (character.script != Script::none) return true;
        at += character.length;
    }
    return false;
}

void for_each_stem(std::string_view text, FunctionRef<void(std::uint64_t)> visit) {
    constexpr std::size_t stem_letters = 6;
    constexpr std::size_t stem_syllables = 2;
    std::string_view before;  // the character
    Script script = Script::none;
    std::uint64_t hash = fnv_of_nothing;
    std::size_t length = 0;  // of the word so far
    for (std::size_t at = 0; at < text.size();) {
        const Character next = character_at(text, at);
        const std::string_view bytes = text.substr(at, next.length);
        const bool is_pair = is_written_without_spaces(script) && is_written_without_spaces(next.script) &&
                             (script == Script::characters || next.script == Script::characters);
        if (is_pair) visit(hash_on(hash_on(fnv_of_nothing, before), bytes) | 1U);
        if (next.script != script) {
            hash = fnv_of_nothing;
            length = 0;
        }
        script = next.script;
        before = bytes;
        at += next.length;
        if (script != Script::letters && script != Script::hangul) continue;
        hash = hash_on(hash, bytes);
        length += is_digit(bytes[0]) ? stem_letters : 1;  // numbers are no words
        if (length == (script == Script::letters ? stem_letters : stem_syllables) && !is_digit(bytes[0]))
            visit(hash & ~std::uint64_t{1});
    }
}

}  // namespace whittle::inline v0::detail
