#pragma once

#include "edits.hpp"
#include "gram_filter.hpp"
#include "needle_index.hpp"
#include "pieces.hpp"
#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::evaluation {

/// A stored object, as one run numbers them.
using ObjectId = std::uint32_t;

/// The objects of a store that messages name: by their key, also with anything and a slash in front of it.
class NamedObjects {
public:
    /// `storage` may be null: then nothing is named.
    NamedObjects(std::shared_ptr<Storage> storage, const NeedleIndex& needles)
        : storage_(std::move(storage)), needles_(needles) {}

    [[nodiscard]] bool has_storage() const noexcept { return storage_ != nullptr; }
    /// Those that `piece` names, in order. Looked for once.
    const std::vector<ObjectId>& named_by(PieceId id, const Piece& piece);
    /// Those that the content of `object` names, as a folded history names the results that were cleared in it. Looked
    /// for once.
    const std::vector<ObjectId>& named_in(ObjectId object);
    /// All that hold it of those that were named so far, ascending. Each object is searched once, for all needles.
    [[nodiscard]] const std::vector<ObjectId>& holders_of(Needle needle);
    [[nodiscard]] bool holds(ObjectId object, Needle needle);
    /// As it is or as within a JSON string. `grams`: some of its grams.
    [[nodiscard]] bool holds_text(ObjectId object, std::string_view text, const std::vector<Gram>& grams) const;
    /// An agent could copy `old_text` from it in one piece.
    [[nodiscard]] bool holds_copy(ObjectId object, std::string_view old_text);
    [[nodiscard]] const std::string& content(ObjectId object) const { return objects_[object].content; }

private:
    struct Object {
        explicit Object(std::string text) : content(std::move(text)), filter(content) {}

        std::string content;
        GramFilter filter;
        std::optional<CopiedText> copied{};            // once an edit asks
        std::optional<std::vector<ObjectId>> names{};  // once asked
    };

    [[nodiscard]] std::vector<ObjectId> names_in(std::string_view text);

    [[nodiscard]] std::optional<ObjectId> find(std::string_view word);
    [[nodiscard]] std::optional<ObjectId> find_ending(std::string_view key);
    [[nodiscard]] std::optional<ObjectId> find_key(std::string_view key);

    std::shared_ptr<Storage> storage_;
    const NeedleIndex& needles_;
    std::deque<Object> objects_{};                  // contents stay where they are while more are found
    std::vector<std::vector<ObjectId>> holders_{};  // by needle, of the first `searched_` objects
    std::size_t searched_ = 0;
    std::unordered_map<std::string, ObjectId> by_key_{};
    std::unordered_set<std::string> folders_{};            // what keys of objects begin with, up to a slash
    std::unordered_set<Hash128, Hash128Hasher> absent_{};  // keys without an object, asked again within `folders_`
    std::unordered_map<PieceId, std::vector<ObjectId>> named_{};
};

}  // namespace whittle::inline v0::evaluation
