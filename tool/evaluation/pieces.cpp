#include "pieces.hpp"

#include "characters.hpp"

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::int64_t characters_per_token = 4;
constexpr std::int64_t tokens_per_medium = 1'000;

/// Texts with their lengths, so that no two messages run into the same bytes.
Hash128 hash_text(std::string_view text, Hash128 seed) {
    return hash128(text, hash128(std::to_string(text.size()), seed));
}

Hash128 hash_of(const Message& message) {
    Hash128 hash{static_cast<std::uint64_t>(message.role) + 1, static_cast<std::uint64_t>(message.media)};
    for (const std::string* text : {&message.content, &message.result_of, &message.name}) hash = hash_text(*text, hash);
    for (const ToolCall& call : message.calls)
        hash = hash_text(call.arguments, hash_text(call.tool, hash_text(call.id, hash)));
    return hash;
}

}  // namespace

bool have_same_head(const Message& a, const Message& b) noexcept {
    return a.role == b.role && a.result_of == b.result_of && a.name == b.name;
}

std::int64_t tokens_of_characters(std::int64_t characters) noexcept {
    return (characters + characters_per_token - 1) / characters_per_token;
}

std::int64_t estimated_tokens(std::string_view text) noexcept { return tokens_of_characters(count_characters(text)); }

std::int64_t whole_tokens(std::int64_t characters) noexcept { return characters / characters_per_token; }

std::optional<PieceId> PieceTable::find(const Hash128& hash) const {
    if (const auto below = below_ != nullptr ? below_->find(hash) : std::nullopt) return below;
    const auto found = by_hash_.find(hash);
    return found == by_hash_.end() ? std::nullopt : std::optional(found->second);
}

PieceId PieceTable::add(const Message& message) {
    const Hash128 hash = hash_of(message);
    if (const auto known = find(hash)) return *known;
    Piece piece{.message = &message, .text = text_of(message)};
    piece.characters = count_characters(piece.text);
    piece.tokens = tokens_of_characters(piece.characters) + tokens_per_medium * message.media;
    const PieceId id = size();
    pieces_.push_back(std::move(piece));
    by_hash_.emplace(hash, id);
    return id;
}

}  // namespace whittle::inline v0::evaluation
