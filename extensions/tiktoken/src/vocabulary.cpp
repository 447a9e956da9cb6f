#include "whittle/tiktoken/vocabulary.hpp"

#include "vocabulary_impl.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <limits>

namespace whittle::inline v0 {

std::string_view bpe::well_formed(std::string_view text, std::string& memory) {
    if (is_valid_utf8(text)) return text;
    memory = to_valid_utf8(text);
    return memory;
}

inline std::int64_t Vocabulary::Impl::count_piece(const unsigned char* piece, std::size_t bytes,
                                                  std::size_t readable) const {
    if (bytes == 1) return 1;
    const auto encoded = [&] {
        return bpe::with_tokens(tables, piece, bytes, [](const std::uint32_t*, std::size_t n) { return n; });
    };
    if (bytes > bpe::PieceCache::longest_piece) return static_cast<std::int64_t>(encoded());
    const bpe::PieceCache::Key key = bpe::PieceCache::key_of(piece, bytes, readable);
    if (const std::uint32_t count = cache->find(key); count != 0) return count;
    const bool is_token = bpe::whole_token(tables, piece, bytes, readable) != bpe::no_token;
    const std::size_t count = is_token ? 1 : encoded();
    cache->remember(key, count);
    return static_cast<std::int64_t>(count);
}

std::int64_t Vocabulary::Impl::count(std::string_view text, std::int64_t limit) const {
    std::int64_t tokens = 0;
    bpe::with_pattern(pattern, [&]<bpe::Pattern p>() {
        bpe::for_each_piece_of<p>(text, [&](const unsigned char* piece, std::size_t bytes, std::size_t readable) {
            tokens += count_piece(piece, bytes, readable);
            return tokens <= limit;
        });
    });
    return tokens;
}

Vocabulary::Vocabulary(std::unique_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
Vocabulary::~Vocabulary() = default;

std::string_view Vocabulary::name() const noexcept { return impl_->name; }
std::string_view Vocabulary::source_sha256() const noexcept { return impl_->source_sha256; }
std::int64_t Vocabulary::size() const noexcept { return impl_->size; }
std::size_t Vocabulary::longest_token() const noexcept { return impl_->longest_token; }

std::int64_t Vocabulary::count(std::string_view text) const {
    std::string memory;
    return impl_->count(bpe::well_formed(text, memory), std::numeric_limits<std::int64_t>::max());
}

std::optional<std::int64_t> Vocabulary::count_up_to(std::string_view text, std::int64_t limit) const {
    if (limit < 0 || static_cast<std::uint64_t>(limit) < text.size() / impl_->longest_token) return std::nullopt;
    std::string memory;
    const std::int64_t tokens = impl_->count(bpe::well_formed(text, memory), limit);
    return tokens <= limit ? std::optional(tokens) : std::nullopt;
}

std::vector<TokenId> Vocabulary::encode(std::string_view text) const {
    std::string memory;
    std::vector<TokenId> ids;
    ids.reserve(text.size() / 4);
    impl_->for_each_token(bpe::well_formed(text, memory), [&ids](std::uint32_t id) {
        ids.push_back(id);
        return true;
    });
    return ids;
}

std::string Vocabulary::decode(std::span<const TokenId> ids) const {
    std::string text;
    for (const TokenId id : ids) {
        const std::string_view bytes = bytes_of(id);
        if (bytes.empty())
            throw Error(Errc::invalid_argument, fmt::format("decode: {} is no token of {}", id, impl_->name));
        text += bytes;
    }
    return text;
}

std::string_view Vocabulary::bytes_of(TokenId id) const noexcept {
    const bpe::View& tables = impl_->tables;
    if (id >= tables.lengths.size()) return {};
    return {reinterpret_cast<const char*>(tables.bytes.data()) + tables.offsets[id], tables.lengths[id]};
}

namespace {

class ExactCounter final : public TokenCounter {
public:
    explicit ExactCounter(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

    std::string_view id() const noexcept override { return vocabulary_->name(); }
    std::int64_t measure_units(std::string_view text) const override { return vocabulary_->count(text); }

private:
    std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace

std::shared_ptr<const TokenCounter> exact_counter(std::shared_ptr<const Vocabulary> vocabulary) {
    if (vocabulary == nullptr) throw Error(Errc::invalid_argument, "exact counter: the vocabulary is null");
    return std::make_shared<const ExactCounter>(std::move(vocabulary));
}

}  // namespace whittle::inline v0
