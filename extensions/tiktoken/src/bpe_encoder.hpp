#pragma once

#include "bpe_tables.hpp"

#include <memory>

namespace whittle::inline v0::bpe {

/// Whether two tokens stay side by side when their bytes are encoded: undoes merges from the last one on and looks for
/// one across the border that would have come earlier. (The method is that of the Rust crate `bpe`.)
inline bool may_follow(const View& tables, std::uint32_t left, std::uint32_t right) noexcept {
    std::uint32_t limit = no_token;
    while (true) {
        const std::uint32_t merged = tables.merged(left, right);
        if (merged != no_token && merged < limit) return false;
        for (int side = left > right ? 0 : 1, tried = 0;; side ^= 1) {
            if (side == 0) {
                limit = left;
                left = tables.splits[left].right;
                if (left != limit) break;
            } else {
                limit = right + 1;
                right = tables.splits[right].left;
                if (right + 1 != limit) break;
            }
            if (++tried == 2) return true;
        }
    }
}

/// Memory for one piece: a token a byte at most, and a bit a byte for the ends that lead nowhere.
struct Scratch {
    std::uint32_t* tokens;
    std::uint64_t* dead_ends;  ///< all 0; one bit more than the piece has bytes
};

/// Encodes one piece: greedy, with steps back where neighbours would not stay side by side. Every end is tried once,
/// so that the work is linear. Gives the number of tokens.
inline std::size_t encode_piece(const View& tables, const unsigned char* piece, std::size_t size, Scratch scratch) {
    std::size_t count = 0;
    std::size_t at = 0;
    std::uint32_t token = tables.longest_token(piece, piece + size);
    while (true) {
        const std::size_t end = at + tables.lengths[token];
        const bool is_dead = scratch.dead_ends[end / 64] >> (end % 64) & 1;
        if (!is_dead && (count == 0 || may_follow(tables, scratch.tokens[count - 1], token))) {
            scratch.tokens[count++] = token;
            if (end == size) return count;
            at = end;
            token = tables.longest_token(piece + at, piece + size);
        } else if (tables.shorter[token] != no_token) {
            token = tables.shorter[token];
        } else {
            scratch.dead_ends[at / 64] |= std::uint64_t{1} << (at % 64);
            token = scratch.tokens[--count];
            at -= tables.lengths[token];
        }
    }
}

inline constexpr std::size_t longest_piece_on_stack = 255;

/// Calls `use(tokens, count)` with the tokens of a piece of at least one byte.
template <typename Use>
decltype(auto) with_tokens(const View& tables, const unsigned char* piece, std::size_t size, Use&& use) {
    if (size <= longest_piece_on_stack) {
        std::array<std::uint32_t, longest_piece_on_stack> tokens;
        std::array<std::uint64_t, longest_piece_on_stack / 64 + 1> dead_ends{};
        const std::size_t count = encode_piece(tables, piece, size, {tokens.data(), dead_ends.data()});
        return use(tokens.data(), count);
    }
    const auto tokens = std::make_unique_for_overwrite<std::uint32_t[]>(size);
    const auto dead_ends = std::make_unique<std::uint64_t[]>(size / 64 + 1);
    const std::size_t count = encode_piece(tables, piece, size, {tokens.get(), dead_ends.get()});
    return use(tokens.get(), count);
}

/// The token that the whole piece is, if it is short and one; else no_token.
inline std::uint32_t whole_token(const View& tables, const unsigned char* piece, std::size_t size,
                                 std::size_t readable) noexcept {
    if (size > longest_short_piece) return no_token;
    return tables.find_short(readable >= 16 ? key_of_readable(piece, size) : key_of(piece, size));
}

/// Visits the pieces of well-formed text: `visit(piece, size, readable)`, where `readable` bytes follow in memory from
/// the piece's start. Stops when it returns false.
template <Pattern pattern, typename Visit>
void for_each_piece_of(std::string_view text, Visit&& visit) {
    PieceSplitter<pattern> splitter(text);
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = splitter.end_of_piece(at);
        if (!visit(bytes + at, end - at, text.size() - at)) return;
        at = end;
    }
}

template <typename Visit>
decltype(auto) with_pattern(Pattern pattern, Visit&& visit) {
    switch (pattern) {
        case Pattern::o200k: return visit.template operator()<Pattern::o200k>();
        case Pattern::cl100k: return visit.template operator()<Pattern::cl100k>();
        default: return visit.template operator()<Pattern::gpt2>();
    }
}

}  // namespace whittle::inline v0::bpe
