#include "bounded_result.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

/// Before an item of that size is added.
void BoundedResult::take(std::size_t bytes) {
    if (!is_held_) return;
    if (bytes > bytes_left_) return pass_on();
    bytes_left_ -= bytes;
}

void BoundedResult::write(std::string_view text) {
    take(text.size());
    if (!is_held_) return out_.write(text);
    if (!continues_) items_.push_back({.is_written = true});
    continues_ = true;
    items_.back().part.text += text;
}

void BoundedResult::push(Part part) {
    take(part.text.size() + part.media.bytes.size() + part.media.url.size());
    if (!is_held_) return out_.push(std::move(part));
    continues_ = false;
    items_.push_back({.part = std::move(part)});
}

void BoundedResult::mark_stored(StoredPart object) {
    if (!is_held_) return out_.mark_stored(std::move(object));
    if (!items_.empty()) items_.back().stored.push_back(std::move(object));
}

std::vector<Part> BoundedResult::parts() const {
    std::vector<Part> parts;
    for (const Item& item : items_) parts.push_back(item.part);
    return parts;
}

/// A text that was written goes on as one, so that what follows continues it.
void BoundedResult::pass_on() {
    is_held_ = false;
    for (Item& item : items_) {
        if (item.is_written) {
            out_.write(item.part.text);
        } else {
            out_.push(std::move(item.part));
        }
        for (StoredPart& object : item.stored) out_.mark_stored(std::move(object));
    }
    items_.clear();
}

}  // namespace whittle::inline v0::detail
