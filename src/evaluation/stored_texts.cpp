#include "stored_texts.hpp"

#include <algorithm>
#include <functional>

namespace whittle::inline v0::evaluation {

bool StoredTexts::hold(std::size_t message) {
    if (!objects_.has_storage()) return false;
    take_names();
    return all_texts(*session_.piece(message).message,
                     [&](const std::string& text, std::size_t number) { return is_held(message, text, number); });
}

void StoredTexts::take_names() {
    if (are_names_known_) return;
    are_names_known_ = true;
    for (const ObjectId object : named_) is_named_[object] = false;
    named_.clear();
    const auto take = [&](ObjectId object) {
        if (object >= is_named_.size()) is_named_.resize(object + 1);
        if (!is_named_[object]) named_.push_back(object);
        is_named_[object] = true;
    };
    for (const PieceId piece : shown_.others())
        std::ranges::for_each(objects_.named_by(piece, shown_.table()[piece]), take);
    const std::vector<ObjectId> in_request = named_;
    for (const ObjectId object : in_request) std::ranges::for_each(objects_.named_in(object), take);
    std::ranges::sort(named_, std::greater{});
}

/// Asked again at every call: each object is searched once for each text, and the newest first, since a message is
/// asked for when it has just been stored.
bool StoredTexts::is_held(std::size_t message, std::string_view text, std::size_t number) {
    Search& search = searches_[Hash128{message, number}];
    if (std::ranges::any_of(search.found_in, [&](ObjectId object) { return is_named_[object]; })) return true;
    if (search.is_done.empty()) search.grams = some_grams(text);
    search.is_done.resize(is_named_.size());
    for (const ObjectId object : named_) {
        if (search.is_done[object]) continue;
        search.is_done[object] = true;
        if (!objects_.holds_text(object, text, search.grams)) continue;
        search.found_in.push_back(object);
        return true;
    }
    return false;
}

}  // namespace whittle::inline v0::evaluation
