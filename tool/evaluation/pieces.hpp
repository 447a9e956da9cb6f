#pragma once

#include "evaluation.hpp"

#include "whittle/base/hash.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

namespace whittle::inline v0::evaluation {

/// A piece of a request: the same number is the same message.
using PieceId = std::uint32_t;

/// One distinct message.
struct Piece {
    const Message* message = nullptr;
    std::string text{};  ///< `text_of`
    std::int64_t characters = 0;
    std::int64_t tokens = 0;

    [[nodiscard]] Role role() const noexcept { return message->role; }
};

/// Who speaks, and which result it is: what a shared head of two texts needs to be one prefix.
[[nodiscard]] bool have_same_head(const Message& a, const Message& b) noexcept;

/// Characters / 4, rounded up.
[[nodiscard]] std::int64_t tokens_of_characters(std::int64_t characters) noexcept;
/// Whole tokens at the front of a text.
[[nodiscard]] std::int64_t whole_tokens(std::int64_t characters) noexcept;

struct Hash128Hasher {
    std::size_t operator()(const Hash128& h) const noexcept { return static_cast<std::size_t>(h.low ^ h.high); }
};

/// The distinct messages of a session; those of a run come on top of them.
class PieceTable {
public:
    PieceTable() = default;
    explicit PieceTable(const PieceTable* below) : below_(below), first_(below->size()) {}

    /// `message` has to outlive the table.
    PieceId add(const Message& message);
    [[nodiscard]] const Piece& operator[](PieceId id) const {
        return id < first_ ? (*below_)[id] : pieces_[id - first_];
    }
    [[nodiscard]] PieceId size() const noexcept { return first_ + static_cast<PieceId>(pieces_.size()); }

private:
    [[nodiscard]] std::optional<PieceId> find(const Hash128& hash) const;

    const PieceTable* below_ = nullptr;
    PieceId first_ = 0;
    std::deque<Piece> pieces_{};
    std::unordered_map<Hash128, PieceId, Hash128Hasher> by_hash_{};
};

}  // namespace whittle::inline v0::evaluation
