#pragma once

#include "bpe_tables.hpp"

#include "whittle/base/hash.hpp"

#include <bit>

namespace whittle::inline v0::bpe {

static_assert(std::endian::native == std::endian::little, "packed vocabularies are little-endian");

inline constexpr std::array<char, 8> magic{'W', 'H', 'I', 'T', 'T', 'L', 'E', 'V'};
inline constexpr std::uint32_t format_version = 1;
inline constexpr std::size_t alignment = 64;
inline constexpr std::size_t sections = 9;

/// Starts a packed vocabulary. The sections follow in the order of `Tables`, each at a multiple of 64 bytes.
struct Header {
    std::array<char, 8> magic{};
    std::uint32_t version = 0;
    Pattern pattern{};
    std::array<char, 32> name{};
    std::array<char, 64> source_sha256{};
    std::uint64_t file_size = 0;
    std::uint64_t tokens = 0;
    std::uint64_t longest_token = 0;
    std::array<std::uint64_t, sections> section_sizes{};  ///< in entries
    std::uint64_t reserved = 0;
    Hash128 hash{};  ///< of the whole file, with zeros here
};
static_assert(sizeof(Header) % 8 == 0 && std::has_unique_object_representations_v<Header>);

inline constexpr std::size_t aligned(std::size_t size) noexcept {
    return (size + alignment - 1) / alignment * alignment;
}

/// Calls `visit(index, section)` for the sections of `tables` in file order.
template <typename AnyTables, typename Visit>
void for_each_section(AnyTables& tables, Visit&& visit) {
    visit(std::size_t{0}, tables.short_tokens);
    visit(std::size_t{1}, tables.pair_filter);
    visit(std::size_t{2}, tables.pairs);
    visit(std::size_t{3}, tables.trie);
    visit(std::size_t{4}, tables.splits);
    visit(std::size_t{5}, tables.shorter);
    visit(std::size_t{6}, tables.lengths);
    visit(std::size_t{7}, tables.offsets);
    visit(std::size_t{8}, tables.bytes);
}

}  // namespace whittle::inline v0::bpe
