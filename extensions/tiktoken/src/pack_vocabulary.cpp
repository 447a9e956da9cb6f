#include "encodings.hpp"
#include "tiktoken_file.hpp"
#include "trie_builder.hpp"
#include "vocabulary_format.hpp"

#include "whittle/base/error.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace whittle::inline v0 {
namespace bpe {
namespace {

/// Builds the sections of a packed vocabulary from its tokens.
class Packer {
public:
    explicit Packer(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
        for (const std::string& token : tokens_) longest_ = std::max(longest_, token.size());
        count_ = static_cast<std::size_t>(std::ranges::count_if(tokens_, [](const auto& t) { return !t.empty(); }));
    }

    std::string run(Pattern pattern, std::string_view name, std::string_view sha256) {
        add_bytes();
        add_trie();
        add_short_tokens();
        add_splits();
        Header header{.magic = magic, .version = format_version, .pattern = pattern};
        std::ranges::copy(name, header.name.begin());
        std::ranges::copy(sha256, header.source_sha256.begin());
        header.tokens = count_;
        header.longest_token = longest_;
        return file_of(header);
    }

private:
    void add_bytes() {
        lengths_.reserve(tokens_.size());
        for (const std::string& token : tokens_) {
            lengths_.push_back(static_cast<std::uint8_t>(token.size()));
            offsets_.push_back(static_cast<std::uint32_t>(bytes_.size()));
            bytes_.insert(bytes_.end(), token.begin(), token.end());
        }
        offsets_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    }

    void add_trie() {
        std::vector<SortedToken> sorted;
        for (std::uint32_t id = 0; id < tokens_.size(); ++id)
            if (!tokens_[id].empty()) sorted.push_back({tokens_[id], id});
        std::ranges::stable_sort(sorted, {}, &SortedToken::bytes);
        const auto twice = std::ranges::adjacent_find(sorted, {}, &SortedToken::bytes);
        if (twice != sorted.end())
            throw Error(Errc::parse_failed,
                        fmt::format("vocabulary: the token of rank {} comes twice", std::next(twice)->id));
        trie_ = build_trie(sorted);
        shorter_.assign(tokens_.size(), no_token);
        tables_.trie = trie_;
        for (const SortedToken& token : sorted) {
            const auto* first = reinterpret_cast<const unsigned char*>(token.bytes.data());
            if (token.bytes.size() > 1)
                shorter_[token.id] = tables_.longest_token(first, first + token.bytes.size() - 1);
        }
    }

    void add_short_tokens() {
        const auto few = [](const std::string& t) { return !t.empty() && t.size() <= longest_short_piece; };
        const auto tokens = static_cast<std::size_t>(std::ranges::count_if(tokens_, few));
        short_tokens_.resize(std::bit_ceil(tokens / 4 * 5 / 4 + 1));
        for (std::uint32_t id = 0; id < tokens_.size(); ++id)
            if (few(tokens_[id])) add_short_token(id);
    }

    void add_short_token(std::uint32_t id) {
        const std::string& bytes = tokens_[id];
        ShortToken token = key_of(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
        const std::size_t mask = short_tokens_.size() - 1;
        std::size_t at = slot(mix(token.low, token.high) >> 32, short_tokens_.size());
        token.high |= std::uint64_t{id} << ShortToken::id_at;
        while (true) {
            const auto free = std::ranges::find_if(short_tokens_[at].tokens, &ShortToken::is_empty);
            if (free != short_tokens_[at].tokens.end()) {
                const std::uint64_t overflow = free->high & ShortToken::overflow;
                *free = token;
                free->high |= overflow;
                return;
            }
            short_tokens_[at].tokens[0].high |= ShortToken::overflow;
            at = (at + 1) & mask;
        }
    }

    void add_splits() {
        const std::size_t slots = std::bit_ceil(count_ * 5 / 4 + 1);
        pairs_.resize(slots);
        filter_.resize(slots / 8);
        splits_.resize(tokens_.size());
        tables_.pairs = pairs_;
        tables_.pair_filter = filter_;
        std::array<std::uint32_t, 256> id_of_byte{};
        for (std::uint32_t id = 0; id < tokens_.size(); ++id)
            if (tokens_[id].size() == 1) {
                id_of_byte[static_cast<unsigned char>(tokens_[id][0])] = id;
                splits_[id] = {id, id};
            }
        for (std::uint32_t id = 0; id < tokens_.size(); ++id)
            if (tokens_[id].size() > 1) add_split(id, id_of_byte);
    }

    /// Encodes the token with the merges of lower rank; what is left are the two tokens it is merged from.
    void add_split(std::uint32_t id, const std::array<std::uint32_t, 256>& id_of_byte) {
        std::vector<std::uint32_t>& parts = parts_;
        parts.clear();
        for (const char c : tokens_[id]) parts.push_back(id_of_byte[static_cast<unsigned char>(c)]);
        merge(parts);
        if (parts.size() != 2 || std::max(parts[0], parts[1]) >= id)
            throw Error(Errc::parse_failed,
                        fmt::format("vocabulary: the token of rank {} is not what two of lower rank merge into", id));
        splits_[id] = {parts[0], parts[1]};
        add_pair(parts[0], parts[1], id);
    }

    void merge(std::vector<std::uint32_t>& parts) {
        merges_.clear();
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) merges_.push_back(tables_.merged(parts[i], parts[i + 1]));
        while (!merges_.empty()) {
            const auto best = std::ranges::min_element(merges_);
            if (*best == no_token) return;
            const auto i = static_cast<std::size_t>(best - merges_.begin());
            parts[i] = *best;
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            merges_.erase(best);
            if (i > 0) merges_[i - 1] = tables_.merged(parts[i - 1], parts[i]);
            if (i < merges_.size()) merges_[i] = tables_.merged(parts[i], parts[i + 1]);
        }
    }

    void add_pair(std::uint32_t left, std::uint32_t right, std::uint32_t id) {
        const std::uint64_t key = MutableView::pair_key(left, right);
        const std::uint64_t hash = mix(key, 0) >> 20;
        filter_[slot(hash >> 6, filter_.size())] |= std::uint64_t{1} << (hash & 63);
        std::size_t at = slot(hash, pairs_.size());
        while (pairs_[at] != 0) at = (at + 1) & (pairs_.size() - 1);
        pairs_[at] = key | id;
    }

    std::string file_of(Header header) {
        tables_.short_tokens = short_tokens_;
        tables_.splits = splits_;
        tables_.shorter = shorter_;
        tables_.lengths = lengths_;
        tables_.offsets = offsets_;
        tables_.bytes = bytes_;
        std::string file(aligned(sizeof header), '\0');
        for_each_section(tables_, [&](std::size_t i, auto section) {
            header.section_sizes[i] = section.size();
            file.append(reinterpret_cast<const char*>(section.data()), section.size_bytes());
            file.resize(aligned(file.size()));
        });
        header.file_size = file.size();
        std::memcpy(file.data(), &header, sizeof header);
        const std::string_view content = file;
        const std::size_t start = aligned(sizeof header);
        header.hash = hash128(content.substr(start), hash128(content.substr(0, start)));
        std::memcpy(file.data(), &header, sizeof header);
        return file;
    }

    std::vector<std::string> tokens_;
    std::size_t longest_ = 0;
    std::size_t count_ = 0;
    MutableView tables_{};
    std::vector<ShortBucket> short_tokens_{};
    std::vector<std::uint64_t> filter_{};
    std::vector<std::uint64_t> pairs_{};
    std::vector<TrieCell> trie_{};
    std::vector<Split> splits_{};
    std::vector<std::uint32_t> shorter_{};
    std::vector<std::uint8_t> lengths_{};
    std::vector<std::uint32_t> offsets_{};
    std::vector<unsigned char> bytes_{};
    std::vector<std::uint32_t> parts_{};
    std::vector<std::uint32_t> merges_{};
};

}  // namespace
}  // namespace bpe

std::string pack_vocabulary(std::string_view name, std::string_view tiktoken_file) {
    const bpe::Pattern pattern = bpe::pattern_of(name);
    const std::string sha256 = sha256_hex(tiktoken_file);
    if (const std::string_view published = find_encoding(name)->sha256; sha256 != published)
        throw Error(Errc::damaged, fmt::format("pack vocabulary {}: the file's SHA-256 is {}, the published one is {}",
                                               name, sha256, published));
    return bpe::Packer(bpe::read_tiktoken_file(tiktoken_file)).run(pattern, name, sha256);
}

std::string pack_custom_vocabulary(std::string_view name, std::string_view split_as, std::string_view tiktoken_file) {
    const bpe::Pattern pattern = bpe::pattern_of(split_as);
    if (name.empty() || name.size() > std::tuple_size_v<decltype(bpe::Header::name)> || find_encoding(name) != nullptr)
        throw Error(
            Errc::invalid_argument,
            fmt::format("pack vocabulary \"{}\": expected a name of 1 to 32 bytes that is no known encoding's", name));
    return bpe::Packer(bpe::read_tiktoken_file(tiktoken_file)).run(pattern, name, sha256_hex(tiktoken_file));
}

}  // namespace whittle::inline v0
