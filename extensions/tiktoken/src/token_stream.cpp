#include "whittle/tiktoken/vocabulary.hpp"

#include "vocabulary_impl.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t least_to_settle = 4'096;

/// Bytes at the end that may be the start of a character. A lead byte always starts a sequence anew, so that the text
/// before it is read the same with or without it.
std::size_t torn_bytes(std::string_view text) noexcept {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const auto c = static_cast<unsigned char>(text[text.size() - back]);
        if (c < 0x80) return 0;
        if (c < 0xc0) continue;
        const std::size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        return back < length ? back : 0;
    }
    return 0;
}

}  // namespace

TokenStream::TokenStream(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), settle_at_(least_to_settle) {
    if (vocabulary_ == nullptr) throw Error(Errc::invalid_argument, "token stream: the vocabulary is null");
}

void TokenStream::append(std::string_view chunk) {
    std::string joined;
    if (!torn_.empty()) chunk = joined = std::exchange(torn_, {}).append(chunk);
    const std::size_t torn = torn_bytes(chunk);
    std::string memory;
    open_ += bpe::well_formed(chunk.substr(0, chunk.size() - torn), memory);
    torn_ = chunk.substr(chunk.size() - torn);
    if (open_.size() >= settle_at_) settle();
}

void TokenStream::settle() {
    const Vocabulary::Impl& impl = vocabulary_->impl();
    std::size_t settled = 0;
    bpe::with_pattern(impl.pattern, [&]<bpe::Pattern pattern>() {
        bpe::PieceSplitter<pattern> splitter(open_);
        while (settled < open_.size()) {
            const std::size_t end = splitter.end_of_piece(settled);
            if (splitter.saw_end()) return;
            settled = end;
        }
    });
    settled_tokens_ += vocabulary_->count(std::string_view(open_).substr(0, settled));
    open_.erase(0, settled);
    settle_at_ = std::max(least_to_settle, 2 * open_.size());
}

std::int64_t TokenStream::tokens() const {
    if (torn_.empty()) return settled_tokens_ + vocabulary_->count(open_);
    return settled_tokens_ + vocabulary_->count(open_ + torn_);
}

}  // namespace whittle::inline v0
