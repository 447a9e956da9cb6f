#include "stored_texts.hpp"

#include <algorithm>
#include <functional>

namespace whittle::inline v0::evaluation {

bool StoredTexts::hold(std::size_t message) {
    if (!objects_.has_storage()) return false;
    take_all_names();
    return all_texts(*session_.piece(message).message,
                     [&](const std::string& text, std::size_t number) { return is_held(message, text, number); });
}

bool StoredTexts::hold_needle(Needle needle) {
    if (!objects_.has_storage()) return false;
    const auto is_one_named = [&] {
        return std::ranges::any_of(objects_.holders_of(needle), [&](ObjectId object) { return is_named(object); });
    };
    take_names();
    if (is_one_named()) return true;
    take_all_names();
    return is_one_named();
}

void StoredTexts::take(const std::vector<ObjectId>& objects) {
    for (const ObjectId object : objects) {
        if (object >= is_named_.size()) is_named_.resize(object + 1);
        if (!is_named_[object]) named_.push_back(object);
        is_named_[object] = true;
    }
}

void StoredTexts::take_names() {
    if (known_ != Known::nothing) return;
    known_ = Known::in_request;
    for (const ObjectId object : named_) is_named_[object] = false;
    named_.clear();
    for (const PieceId piece : shown_.others()) take(objects_.named_by(piece, shown_.table()[piece]));
}

/// With those that objects name.
void StoredTexts::take_all_names() {
    take_names();
    if (known_ == Known::all) return;
    known_ = Known::all;
    const std::vector<ObjectId> in_request = named_;
    for (const ObjectId object : in_request) take(objects_.named_in(object));
    std::ranges::sort(named_, std::greater{});
}

/// Asked again at every call: each object is searched once for each text, and the newest first, since a message is
/// asked for when it has just been stored.
bool StoredTexts::is_held(std::size_t message, std::string_view text, std::size_t number) {
    Search& search = searches_[Hash128{message, number}];
    if (std::ranges::any_of(search.found_in, [&](ObjectId object) { return is_named(object); })) return true;
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
