#include "key_index.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/conversation/detail/mark_keys.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace whittle::inline v0::retention {
namespace {

/// Of keys, and of paths that end with one.
bool may_stand_in_key(char c) noexcept { return detail::is_alnum(c) || c == '/' || c == '_' || c == '.' || c == '-'; }

/// JSON may write "/" as "\/", and JSON in JSON with more of them.
std::string without_escaped_slashes(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (const char c : text) {
        if (c == '/') plain.erase(plain.find_last_not_of('\\') + 1);
        plain += c;
    }
    return plain;
}

/// The character that the last six of `text` stand for, as "\u002f" does, if it is a backslash or may stand in a key.
std::optional<char> character_at_end_of(std::string_view text) noexcept {
    constexpr std::size_t size = 6;
    constexpr int base = 16;
    if (text.size() < size) return std::nullopt;
    const std::string_view escape = text.substr(text.size() - size);
    if (!escape.starts_with("\\u00")) return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(escape.data() + 4, escape.data() + size, number, base);
    if (error != std::errc() || end != escape.data() + size || number > 0x7F) return std::nullopt;
    const char c = static_cast<char>(number);
    return c == '\\' || may_stand_in_key(c) ? std::optional(c) : std::nullopt;
}

/// With the characters of keys in place of their numbers, as often as JSON stands in JSON: a character that is found
/// so may complete another one.
std::string without_numbers(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (const char c : text) {
        plain += c;
        while (const auto character = character_at_end_of(plain)) {
            plain.resize(plain.size() - 6);
            plain.erase(plain.find_last_not_of('\\') + 1);
            plain += *character;
        }
    }
    return plain;
}

}  // namespace

std::string_view folder_of(std::string_view key) noexcept { return key.substr(0, key.find('/')); }

bool comes_before(const Hash128& a, const Hash128& b) noexcept {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
}

void KeyIndex::add(std::string_view key) {
    slots_.push_back({hash128(key), nobody});
    if (const std::string_view name = detail::marks_name_in_key(key); !name.empty())
        slots_.push_back({hash128(name), nobody});
}

void KeyIndex::finish() {
    const auto before = [](const Slot& a, const Slot& b) { return comes_before(a.fingerprint, b.fingerprint); };
    std::ranges::sort(slots_, before);
    const auto is_same = [](const Slot& a, const Slot& b) { return a.fingerprint == b.fingerprint; };
    slots_.erase(std::unique(slots_.begin(), slots_.end(), is_same), slots_.end());
    slots_.shrink_to_fit();
}

const KeyIndex::Slot* KeyIndex::find(std::string_view key) const {
    const Hash128 fingerprint = hash128(key);
    const auto found = std::ranges::lower_bound(slots_, fingerprint, comes_before, &Slot::fingerprint);
    return found == slots_.end() || found->fingerprint != fingerprint ? nullptr : &*found;
}

std::optional<std::uint32_t> KeyIndex::referrer(std::string_view key) const {
    if (const auto by = referrer_of_print(key)) return by;
    const std::string_view name = detail::marks_name_in_key(key);
    return name.empty() ? std::nullopt : referrer_of_print(name);
}

std::optional<std::uint32_t> KeyIndex::referrer_of_print(std::string_view text) const {
    const Slot* const slot = find(text);
    return slot == nullptr || slot->by == nobody ? std::nullopt : std::optional(slot->by);
}

void KeyIndex::mark(std::string_view key, std::uint32_t by) {
    auto* const slot = const_cast<Slot*>(find(key));
    if (slot != nullptr && slot->by == nobody) slot->by = by;
}

/// The keys that `word` is or ends with: a path of a store ends with the key, a sentence with a full stop. And marks by
/// an id of theirs.
void KeyIndex::mark_word(std::string_view word, std::uint32_t by) {
    if (const std::string_view name = detail::marks_name_in_id(word); !name.empty()) mark(name, by);
    constexpr std::size_t longest_path = 8'192;
    constexpr std::size_t longest_key = 512;
    constexpr std::string_view around = "._-";
    if (word.size() > longest_path) word.remove_prefix(word.size() - longest_path);
    word.remove_prefix(std::min(word.size(), word.find_first_not_of(around)));
    while (!word.empty()) {
        for (std::size_t start = 0; start < word.size();) {
            if (word.size() - start <= longest_key) mark(word.substr(start), by);
            const std::size_t slash = word.find('/', start);
            start = slash == std::string_view::npos ? word.size() : slash + 1;
        }
        if (around.find(word.back()) == std::string_view::npos) return;
        word.remove_suffix(1);
    }
}

/// As the text is, and as it is where JSON writes characters by their numbers: what only looks so is in doubt.
void KeyIndex::mark_in(std::string_view text, std::uint32_t by, CancelCheck check_cancelled) {
    mark_words_of(without_escaped_slashes(text), by, check_cancelled);
    if (text.find("\\u00") == std::string_view::npos) return;
    mark_words_of(without_escaped_slashes(without_numbers(text)), by, check_cancelled);
}

/// Behind a backslash the letter of an escape is none of the key.
void KeyIndex::mark_words_of(std::string_view text, std::uint32_t by, CancelCheck check_cancelled) {
    constexpr std::size_t unicode_escape = 5;  // u and four digits
    constexpr std::size_t range = 65'536;
    std::size_t checked = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (at - checked >= range) {
            check_cancelled();
            checked = at;
        }
        if (!may_stand_in_key(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && may_stand_in_key(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        mark_word(word, by);
        const bool is_escaped = at > 0 && text[at - 1] == '\\';
        if (is_escaped) mark_word(word.substr(1), by);
        if (is_escaped && word.front() == 'u' && word.size() > unicode_escape)
            mark_word(word.substr(unicode_escape), by);
        at = end;
    }
}

}  // namespace whittle::inline v0::retention
