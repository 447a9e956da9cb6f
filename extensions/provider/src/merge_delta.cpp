#include "whittle/provider/detail/merge_delta.hpp"

#include "whittle/model/model.hpp"

#include <algorithm>
#include <array>
#include <ranges>

namespace whittle::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 8> naming_keys{"id",     "type",  "name",   "role",
                                                      "object", "model", "format", "status"};

bool names_something(std::string_view key) { return std::ranges::find(naming_keys, key) != naming_keys.end(); }

/// The last element, if the new one goes on with its text: Mistral streams content as lists of parts without index.
ordered_json* find_open_text(ordered_json& list, const ordered_json& piece) {
    const auto type = find_string(piece, "type");
    if (list.empty() || (type != "text" && type != "thinking") || find_member(piece, "index") != nullptr)
        return nullptr;
    return find_string(list.back(), "type") == type ? &list.back() : nullptr;
}

struct Pair {
    ordered_json* target;
    const ordered_json* piece;
};

void merge_text(ordered_json& target, const ordered_json& piece, bool is_name) {
    const std::string& text = piece.get_ref<const std::string&>();
    if (!target.is_string() || (is_name && !text.empty())) {
        target = text;
    } else if (!is_name) {
        target.get_ref<std::string&>() += text;
    }
}

class Merge {
public:
    void run(ordered_json& target, const ordered_json& piece) {
        open_.push_back({&target, &piece});
        while (!open_.empty()) {
            const Pair pair = open_.back();
            open_.pop_back();
            if (pair.piece->is_object()) {
                objects(*pair.target, *pair.piece);
            } else {
                arrays(*pair.target, *pair.piece);
            }
        }
    }

private:
    // Containers of `target` get all their new members before a pointer into them is kept. What is pushed last is done
    // first and with all that is in it, so that no pointer outlives a change of what it points into.
    void objects(ordered_json& target, const ordered_json& piece) {
        if (!target.is_object()) target = ordered_json::object();
        for (const auto& [key, value] : piece.items()) {
            if (!target.contains(key)) target[key] = nullptr;
        }
        const std::size_t first = open_.size();
        for (const auto& [key, value] : piece.items()) member(target[key], value, names_something(key));
        std::reverse(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end());
    }

    void member(ordered_json& target, const ordered_json& piece, bool is_name) {
        if (piece.is_null()) return;
        if (piece.is_string()) return merge_text(target, piece, is_name);
        if (!piece.is_structured() || (piece.is_array() && piece.empty() && target.is_null())) {
            target = piece;
            return;
        }
        open_.push_back({&target, &piece});
    }

    void arrays(ordered_json& target, const ordered_json& piece) {
        if (!target.is_array()) target = ordered_json::array();
        auto& list = target.get_ref<ordered_json::array_t&>();
        if (list.capacity() < list.size() + piece.size())
            list.reserve(std::max(list.size() + piece.size(), 2 * list.capacity()));
        const std::size_t first = open_.size();
        for (const ordered_json& element : piece) {
            ordered_json* same = find_index(target, element);
            if (same == nullptr) same = find_open_text(target, element);
            if (same != nullptr) {
                open_.push_back({same, &element});
            } else {
                if (find_member(element, "index") != nullptr) require_room(target);
                target.push_back(element);
            }
        }
        std::reverse(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end());
    }

    std::vector<Pair> open_{};
};

}  // namespace

void merge_delta(ordered_json& target, const ordered_json& piece) {
    if (piece.is_structured()) Merge().run(target, piece);
}

void require_room(const ordered_json& list) {
    if (list.size() >= most_indexed)
        throw ModelError(ModelErrorClass::server,
                         "read the reply: it has more calls, or indexed parts, than anyone asks for");
}

ordered_json* find_index(ordered_json& list, const ordered_json& piece) {
    const ordered_json* index = find_member(piece, "index");
    if (index == nullptr || !index->is_number_integer()) return nullptr;
    for (auto element = list.rbegin(); element != list.rend(); ++element) {
        const ordered_json* other = find_member(*element, "index");
        if (other != nullptr && *other == *index) return &*element;
    }
    return nullptr;
}

void drop_indexes(ordered_json& list) {
    for (ordered_json& element : list) {
        if (element.is_object()) element.erase("index");
    }
}

}  // namespace whittle::inline v0::detail
