#include "vocabulary_impl.hpp"

#include "whittle/base/text.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

namespace whittle::inline v0 {
namespace {

/// The most tokens that a text of well-formed UTF-8 can be cut into such that no two neighbours of one byte are a pair
/// that would have merged: a count ends only when there is no such pair.
class MostTokens {
public:
    MostTokens(const bpe::JoinedPairs& pairs, std::string_view text) noexcept
        : pairs_(pairs), text_(reinterpret_cast<const unsigned char*>(text.data())), size_(text.size()) {}

    [[nodiscard]] std::int64_t find() const noexcept {
        if (size_ == 0) return 0;
        std::int64_t shorter = 0;    // the most for all but the last byte
        std::int64_t with_long = 0;  // the most where the last token has two bytes or more
        std::int64_t with_byte = 1;  // where it has one
        std::size_t behind_apostrophe = 0;
        for (std::size_t i = 1; i < size_; ++i) {
            if (text_[i - 1] == '\'') behind_apostrophe = i + 3;
            const std::int64_t most = std::max(with_long, with_byte);
            with_byte = 1 + (i >= behind_apostrophe && is_joined(i) ? with_long : most);
            with_long = 1 + shorter;
            shorter = most;
        }
        return std::max(with_long, with_byte);
    }

private:
    [[nodiscard]] bool is_joined(std::size_t i) const noexcept {
        if (!pairs_.has(text_[i - 1], text_[i])) return false;
        return text_[i] != ' ' || (i + 1 < size_ && text_[i + 1] == ' ');
    }

    const bpe::JoinedPairs& pairs_;
    const unsigned char* text_;
    std::size_t size_;
};

}  // namespace

std::int64_t tokens_upper_bound(std::string_view text) {
    const std::size_t bytes = is_valid_utf8(text) ? text.size() : to_valid_utf8(text).size();
    return static_cast<std::int64_t>(bytes);
}

std::int64_t tokens_upper_bound(const Vocabulary& vocabulary, std::string_view text) {
    std::string memory;
    return MostTokens(vocabulary.impl().joined, bpe::well_formed(text, memory)).find();
}

}  // namespace whittle::inline v0
