#include "named_objects.hpp"

#include "characters.hpp"

#include <algorithm>

namespace whittle::inline v0::evaluation {
namespace {

constexpr bool is_of_key(char c) noexcept {
    return is_alnum(c) || std::string_view("_./~:+=@%#-").find(c) != std::string_view::npos;
}

/// Sentences end in these too.
std::string_view without_end_marks(std::string_view word) {
    while (!word.empty() && std::string_view(".,:;#").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
    return word;
}

/// A word that could be one by chance is no key.
constexpr bool is_significant_word(std::string_view word) noexcept {
    return word.size() >= 8 || word.find('/') != std::string_view::npos;
}

constexpr std::size_t max_absent = std::size_t{1} << 19;

}  // namespace

const std::vector<ObjectId>& NamedObjects::named_by(PieceId id, const Piece& piece) {
    const auto [entry, is_new] = named_.try_emplace(id);
    if (is_new && storage_) entry->second = names_in(piece.text);
    return entry->second;
}

const std::vector<ObjectId>& NamedObjects::named_in(ObjectId object) {
    Object& asked = objects_[object];
    if (!asked.names) {
        std::vector<ObjectId> names = names_in(asked.content);
        std::erase(names, object);
        asked.names = std::move(names);
    }
    return *asked.names;
}

std::vector<ObjectId> NamedObjects::names_in(std::string_view text) {
    std::vector<ObjectId> found;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = begin;
        while (end < text.size() && is_of_key(text[end])) ++end;
        const auto object = find(text.substr(begin, end - begin));
        if (object && std::ranges::find(found, *object) == found.end()) found.push_back(*object);
        begin = end + 1;
    }
    return found;
}

/// The key, or what stands behind any of its slashes.
std::optional<ObjectId> NamedObjects::find(std::string_view word) {
    if (const auto object = find_ending(word)) return object;
    const std::string_view shorter = without_end_marks(word);
    return shorter.size() == word.size() ? std::nullopt : find_ending(shorter);
}

std::optional<ObjectId> NamedObjects::find_ending(std::string_view key) {
    while (is_significant_word(key)) {
        if (const auto object = find_key(key)) return object;
        const std::size_t slash = key.find('/');
        if (slash == std::string_view::npos) break;
        key.remove_prefix(slash + 1);
    }
    return std::nullopt;
}

/// Objects are written before they are named, and once: what is not there now was not meant.
std::optional<ObjectId> NamedObjects::find_key(std::string_view key) {
    if (!is_valid_key(key)) return std::nullopt;
    if (const auto known = by_key_.find(std::string(key)); known != by_key_.end()) return known->second;
    const Hash128 hash = hash128(key);
    const std::string folder(key.substr(0, key.find('/')));
    if (absent_.contains(hash) && !folders_.contains(folder)) return std::nullopt;
    std::optional<std::string> content = storage_->get(key);
    if (!content) {
        if (absent_.size() >= max_absent) absent_.clear();
        absent_.insert(hash);
        return std::nullopt;
    }
    const auto id = static_cast<ObjectId>(objects_.size());
    objects_.emplace_back(std::move(*content));
    by_key_.emplace(key, id);
    folders_.insert(folder);
    return id;
}

const std::vector<ObjectId>& NamedObjects::holders_of(Needle needle) {
    holders_.resize(needles_.size());
    for (; searched_ < objects_.size(); ++searched_) {
        for (const Needle held : needles_.find_in(objects_[searched_].content))
            holders_[held].push_back(static_cast<ObjectId>(searched_));
    }
    return holders_[needle];
}

bool NamedObjects::holds(ObjectId object, Needle needle) {
    return std::ranges::binary_search(holders_of(needle), object);
}

bool NamedObjects::holds_copy(ObjectId object, std::string_view old_text) {
    Object& asked = objects_[object];
    if (!asked.copied) asked.copied.emplace(asked.content);
    return asked.copied->holds(old_text);
}

bool NamedObjects::holds_text(ObjectId object, std::string_view text, const std::vector<Gram>& grams) const {
    const std::string& content = objects_[object].content;
    if (content.size() < text.size() || !objects_[object].filter.may_hold(grams)) return false;
    if (content.find(text) != std::string::npos) return true;
    const std::string escaped = json_escaped(text);
    return escaped.size() != text.size() && content.find(escaped) != std::string::npos;
}

}  // namespace whittle::inline v0::evaluation
