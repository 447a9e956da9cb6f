#pragma once

#include "bpe_encoder.hpp"
#include "joined_pairs.hpp"
#include "mapped_file.hpp"
#include "piece_cache.hpp"

#include "whittle/tiktoken/vocabulary.hpp"

#include <optional>

namespace whittle::inline v0 {

struct Vocabulary::Impl {
    struct alignas(64) Block {
        std::array<unsigned char, 64> bytes;
    };

    std::optional<bpe::MappedFile> file{};  // at most one of the two owns the tables
    std::vector<Block> copy{};
    bpe::View tables{};
    bpe::Pattern pattern{};
    std::string name{};
    std::string source_sha256{};
    std::int64_t size = 0;
    std::size_t longest_token = 0;
    bpe::JoinedPairs joined{};
    std::unique_ptr<bpe::PieceCache> cache = std::make_unique<bpe::PieceCache>();

    /// Tokens of well-formed text; stops behind `limit`.
    [[nodiscard]] std::int64_t count(std::string_view text, std::int64_t limit) const;

    [[nodiscard]] std::int64_t count_piece(const unsigned char* piece, std::size_t bytes, std::size_t readable) const;

    /// Calls `visit(id)` for each token of well-formed text until it returns false.
    template <typename Visit>
    void for_each_token(std::string_view text, Visit&& visit) const {
        bpe::with_pattern(pattern, [&]<bpe::Pattern p>() {
            bpe::for_each_piece_of<p>(text, [&](const unsigned char* piece, std::size_t bytes, std::size_t readable) {
                const std::uint32_t whole = bpe::whole_token(tables, piece, bytes, readable);
                if (whole != bpe::no_token) return visit(whole);
                return bpe::with_tokens(tables, piece, bytes, [&](const std::uint32_t* ids, std::size_t n) {
                    return std::all_of(ids, ids + n, visit);
                });
            });
        });
    }
};

namespace bpe {

/// `text`, or what it becomes when ill-formed sequences are replaced, which then lives in `memory`.
[[nodiscard]] std::string_view well_formed(std::string_view text, std::string& memory);

}  // namespace bpe
}  // namespace whittle::inline v0
