#include "whittle/tiktoken/vocabulary.hpp"

#include "vocabulary_impl.hpp"
#include "whittle/base/detail/graphemes.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t inside_character = std::string_view::npos;

/// Bytes of the character or of the maximal ill-formed sequence at `at`, and of what it is read as.
struct ReadCharacter {
    std::size_t raw;
    std::size_t read;
};

ReadCharacter character_at(std::string_view text, std::size_t at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const std::size_t length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (is_valid_utf8(text.substr(at, length))) return {length, length};
    for (std::size_t raw = 3; raw > 1; --raw)
        if (at + raw <= text.size() && to_valid_utf8(text.substr(at, raw)).size() == 3) return {raw, 3};
    return {1, 3};
}

bool starts_with_blank(std::string_view text) {
    const auto* first = reinterpret_cast<const unsigned char*>(text.data());
    const ReadCharacter sequence = character_at(text, 0);
    return is_valid_utf8(text.substr(0, sequence.raw)) && (bpe::char_at(first).type & bpe::blanks);
}

/// Whether counts add up at `at`, behind a line feed (before it in gpt2's pattern, where a run of blanks at the end of
/// a text is one piece, and otherwise lacks its last character).
bool is_cut(std::string_view text, std::size_t line_feed, bpe::Pattern pattern) {
    const std::string_view rest = text.substr(line_feed + 1);
    if (rest.empty() || starts_with_blank(rest)) return false;
    return pattern != bpe::Pattern::o200k || rest[0] != '/';
}

/// The first cut behind `from` that is at least `distance` away, or the end of the text.
std::size_t next_cut(std::string_view text, std::size_t from, std::size_t distance, bpe::Pattern pattern) {
    // In gpt2's pattern a cut stands before its line feed, which must not be found again.
    std::size_t at = distance < text.size() - from ? from + std::max<std::size_t>(distance, 1) : text.size();
    while (at < text.size()) {
        const std::size_t line_feed = text.find('\n', at);
        if (line_feed == std::string_view::npos) break;
        if (is_cut(text, line_feed, pattern)) return pattern == bpe::Pattern::gpt2 ? line_feed : line_feed + 1;
        at = line_feed + 1;
    }
    return text.size();
}

/// Whether a cut at `at`, between two characters, may stay there (`grapheme_prefix`).
bool may_end_at(std::string_view text, std::size_t at) noexcept {
    return detail::cluster_border_before(text, at) == at;
}

/// Ends of the tokens of `text`, in bytes of `text`; npos for those inside a character. Stops behind `limit` tokens.
std::vector<std::size_t> token_ends(const Vocabulary::Impl& impl, std::string_view text, std::int64_t limit) {
    std::string memory;
    const std::string_view read = bpe::well_formed(text, memory);
    std::vector<std::size_t> ends;
    std::size_t token_end = 0;
    std::size_t raw_end = 0;   // the end of the last character that starts before `token_end`...
    std::size_t read_end = 0;  // ...and the same in `read`
    impl.for_each_token(read, [&](std::uint32_t id) {
        if (--limit < 0) return false;
        token_end += impl.tables.lengths[id];
        while (read_end < token_end) {
            const ReadCharacter sequence = character_at(text, raw_end);
            raw_end += sequence.raw;
            read_end += sequence.read;
        }
        ends.push_back(read_end == token_end ? raw_end : inside_character);
        return true;
    });
    return ends;
}

}  // namespace

TokenIndex::TokenIndex(std::shared_ptr<const Vocabulary> vocabulary, std::string_view text,
                       std::size_t bytes_between_cuts)
    : vocabulary_(std::move(vocabulary)), text_(text) {
    if (vocabulary_ == nullptr) throw Error(Errc::invalid_argument, "token index: the vocabulary is null");
    boundaries_.push_back({0, 0});
    while (boundaries_.back().offset < text.size()) {
        const LineBoundary last = boundaries_.back();
        const std::size_t offset = next_cut(text, last.offset, bytes_between_cuts, vocabulary_->impl().pattern);
        boundaries_.push_back(
            {offset, last.tokens_before + vocabulary_->count(text.substr(last.offset, offset - last.offset))});
    }
}

std::string_view TokenIndex::head(std::int64_t tokens) const {
    if (tokens <= 0) return text_.substr(0, 0);
    const auto behind = std::ranges::upper_bound(boundaries_, tokens, {}, &LineBoundary::tokens_before);
    if (behind == boundaries_.end()) return text_;
    const LineBoundary cut = *std::prev(behind);
    const std::string_view line = text_.substr(cut.offset, behind->offset - cut.offset);
    const std::int64_t rest = tokens - cut.tokens_before;
    const std::vector<std::size_t> ends = token_ends(vocabulary_->impl(), line, rest);
    // With the line before, since blanks at the end of a text may be split otherwise than before a word.
    const LineBoundary from = behind - boundaries_.begin() < 2 ? boundaries_.front() : *(behind - 2);
    for (std::size_t i = ends.size(); i-- > 0;) {
        if (ends[i] == inside_character || !may_end_at(text_, cut.offset + ends[i])) continue;
        const std::string_view last_lines = text_.substr(from.offset, cut.offset + ends[i] - from.offset);
        if (vocabulary_->count_up_to(last_lines, tokens - from.tokens_before))
            return text_.substr(0, cut.offset + ends[i]);
    }
    return text_.substr(0, cut.offset);
}

std::string_view TokenIndex::tail(std::int64_t tokens) const {
    if (tokens <= 0) return text_.substr(text_.size());
    const std::int64_t before = this->tokens() - tokens;
    if (before <= 0) return text_;
    const auto cut = std::ranges::lower_bound(boundaries_, before, {}, &LineBoundary::tokens_before);
    const LineBoundary previous = *std::prev(cut);
    const std::string_view line = text_.substr(previous.offset, cut->offset - previous.offset);
    const std::int64_t rest = tokens - (this->tokens() - cut->tokens_before);
    const std::vector<std::size_t> ends = token_ends(vocabulary_->impl(), line, INT64_MAX);
    for (std::size_t i = ends.size() - static_cast<std::size_t>(rest) - 1; i < ends.size(); ++i) {
        if (ends[i] == inside_character || !may_end_at(text_, previous.offset + ends[i])) continue;
        if (vocabulary_->count_up_to(line.substr(ends[i]), rest)) return text_.substr(previous.offset + ends[i]);
    }
    return text_.substr(cut->offset);
}

}  // namespace whittle::inline v0
