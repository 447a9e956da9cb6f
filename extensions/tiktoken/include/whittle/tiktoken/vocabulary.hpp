#pragma once

#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// The number of a token in its vocabulary.
using TokenId = std::uint32_t;

/// An encoding this library knows: its split pattern, and the vocabulary file it belongs to.
struct EncodingInfo {
    std::string_view name{};    ///< such as "o200k_base"
    std::string_view sha256{};  ///< of the `.tiktoken` file, as its publisher gives it
    std::string_view url{};     ///< where the publisher has the file
};

/// o200k_base, cl100k_base, p50k_base, r50k_base.
[[nodiscard]] std::span<const EncodingInfo> known_encodings() noexcept;

/// Null if the name is not known.
[[nodiscard]] const EncodingInfo* find_encoding(std::string_view name) noexcept;

/// Makes the packed form of a `.tiktoken` file of the encoding `name`: one table that is mapped into memory and used
/// as it is. Throws Error(invalid_argument) for an unknown name, Error(damaged) if the file's SHA-256 is not the
/// published one. Takes a fraction of a second.
[[nodiscard]] std::string pack_vocabulary(std::string_view name, std::string_view tiktoken_file);

/// Makes the packed form of a vocabulary of one's own, called `name` (1 to 32 bytes, not one of the known) and split as
/// the known encoding `split_as` is. Token ids are merge ranks below 262,143; all single bytes are tokens; every longer
/// token has at most 255 bytes and is what two tokens of lower rank merge into. Throws Error(parse_failed) for other
/// files, Error(invalid_argument) for the names.
[[nodiscard]] std::string pack_custom_vocabulary(std::string_view name, std::string_view split_as,
                                                 std::string_view tiktoken_file);

/// The directory of installed vocabularies: the environment's WHITTLE_VOCABULARIES; else whittle/vocabularies in
/// XDG_DATA_HOME; else .local/share/whittle/vocabularies in HOME; empty if it has none of them. The library reads no
/// environment: `lookup` gives its values, and an empty function none.
[[nodiscard]] std::string vocabulary_folder(const std::function<std::optional<std::string>(std::string_view)>& lookup);

/// The file of an encoding in such a directory: "{folder}/{name}.whittle".
[[nodiscard]] std::string vocabulary_path(std::string_view folder, std::string_view name);

/// A byte-pair encoding: the same ids as tiktoken's `encode_ordinary` (special tokens are plain text). Immutable;
/// any number of threads may share one. Text is UTF-8; each maximal ill-formed sequence counts as U+FFFD, which is
/// what a request shows in its place (and what Python's `bytes.decode("utf-8", "replace")` gives).
class Vocabulary {
public:
    /// Maps a packed file; processes share its memory. The file must not be changed in place while it is used (replace
    /// it by a rename). Throws Error(not_found) if it cannot be opened, Error(damaged) if it is no packed vocabulary,
    /// of another version, cut short, or altered.
    [[nodiscard]] static std::shared_ptr<const Vocabulary> open(const std::string& path);

    /// Copies the packed bytes. Throws Error(damaged).
    [[nodiscard]] static std::shared_ptr<const Vocabulary> from_packed(std::string_view packed);

    /// Uses packed bytes that outlive the vocabulary and start at a multiple of 64, such as an array of the program.
    /// Throws Error(damaged), Error(invalid_argument) if they are not aligned.
    [[nodiscard]] static std::shared_ptr<const Vocabulary> from_static(std::span<const unsigned char> packed);

    ~Vocabulary();
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;

    /// Of the encoding: "o200k_base".
    [[nodiscard]] std::string_view name() const noexcept;
    /// Of the `.tiktoken` file it was made from.
    [[nodiscard]] std::string_view source_sha256() const noexcept;
    /// Number of tokens, without special ones.
    [[nodiscard]] std::int64_t size() const noexcept;
    /// Bytes of the longest token.
    [[nodiscard]] std::size_t longest_token() const noexcept;

    /// O(size). Allocates only for pieces over 255 bytes and for text that is not UTF-8.
    [[nodiscard]] std::int64_t count(std::string_view text) const;

    /// The count if it is at most `limit`. Reads no more than is needed to know: a text that is longer than `limit` of
    /// the longest token is answered at once.
    [[nodiscard]] std::optional<std::int64_t> count_up_to(std::string_view text, std::int64_t limit) const;

    /// The tokens of a text, in order. Special tokens are read as text.
    [[nodiscard]] std::vector<TokenId> encode(std::string_view text) const;

    /// The bytes of the tokens, one after the other; not UTF-8 if the ids end inside a character. Throws
    /// Error(invalid_argument) for an id that is not in the vocabulary (special tokens are not).
    [[nodiscard]] std::string decode(std::span<const TokenId> ids) const;

    /// The bytes of one token; empty if there is none of that id.
    [[nodiscard]] std::string_view bytes_of(TokenId id) const noexcept;

    struct Impl;
    /// For the library's own sources: the type is in none of the headers.
    [[nodiscard]] const Impl& impl() const noexcept { return *impl_; }

private:
    explicit Vocabulary(std::unique_ptr<const Impl> impl) noexcept;

    std::unique_ptr<const Impl> impl_;
};

/// `Vocabulary::open` for a file that must be that of a known encoding. Throws Error(damaged) also if it was made from
/// any other `.tiktoken` file: its counts would go by the wrong name.
[[nodiscard]] std::shared_ptr<const Vocabulary> open_encoding(const std::string& path, const EncodingInfo& encoding);

/// Counts exactly by a vocabulary; the id is the encoding's name. 2,000 tokens per media part, as `chars` has.
[[nodiscard]] std::shared_ptr<const TokenCounter> exact_counter(std::shared_ptr<const Vocabulary> vocabulary);

/// At least the exact count of every encoding whose single bytes are tokens, and cheap: the bytes of the text, where
/// each ill-formed sequence has the three of U+FFFD.
[[nodiscard]] std::int64_t tokens_upper_bound(std::string_view text);

/// At least `vocabulary.count(text)`, at most the bound above, and without a look at a table larger than 8 KiB: two
/// neighbouring bytes inside a piece are not both tokens if the pair is one. About two tokens for three bytes of
/// letters.
[[nodiscard]] std::int64_t tokens_upper_bound(const Vocabulary& vocabulary, std::string_view text);

/// Token counts of a text up to its lines: after one pass it finds the head and the tail that fit a number of tokens by
/// looking at a line or two. The text must outlive the index. Immutable; 16 bytes a cut.
class TokenIndex {
public:
    /// A border of lines (or an end of the text) where the counts on both sides add up to the whole, both alone.
    struct LineBoundary {
        std::size_t offset;          ///< in bytes
        std::int64_t tokens_before;  ///< of the text up to `offset`, counted alone
    };

    /// Counts the text. Cuts are at least `bytes_between_cuts` apart; 0 takes every border that can be one: those
    /// before a line that starts with a character that is no white space (in o200k nor a slash). Throws
    /// Error(invalid_argument) for a null vocabulary.
    TokenIndex(std::shared_ptr<const Vocabulary> vocabulary, std::string_view text,
               std::size_t bytes_between_cuts = 256);

    /// The prefix counts, in order: the first is {0, 0}, the last has the size of the text and all its tokens.
    [[nodiscard]] std::span<const LineBoundary> line_boundaries() const noexcept { return boundaries_; }

    /// Tokens of the whole text.
    [[nodiscard]] std::int64_t tokens() const noexcept { return boundaries_.back().tokens_before; }

    /// The longest head of the text that ends between two of its tokens and splits no character (`grapheme_prefix`),
    /// and that has at most `tokens` when it is counted alone. O(log lines + length of the line where it ends).
    [[nodiscard]] std::string_view head(std::int64_t tokens) const;

    /// A tail with at most `tokens` when it is counted alone, cut in the same way. It starts where a token of the whole
    /// text starts; a tail that starts inside a token may be a few bytes longer and fit as well.
    [[nodiscard]] std::string_view tail(std::int64_t tokens) const;

private:
    std::shared_ptr<const Vocabulary> vocabulary_;
    std::string_view text_;
    std::vector<LineBoundary> boundaries_{};
};

/// Counts a text that comes in chunks: exactly what `Vocabulary::count` gives for the chunks in one, wherever they are
/// cut (inside characters too). Keeps only the text whose split may still depend on what follows: a word or a run of
/// blanks at the end, and what has not been looked at yet (4 KiB, or as much as such an end). One thread at a time.
class TokenStream {
public:
    /// Throws Error(invalid_argument) for null.
    explicit TokenStream(std::shared_ptr<const Vocabulary> vocabulary);

    /// Amortised O(size), however small the chunks are.
    void append(std::string_view chunk);

    /// Tokens of everything appended so far, as if the text ended here. O(text kept).
    [[nodiscard]] std::int64_t tokens() const;

    /// Bytes of text kept.
    [[nodiscard]] std::size_t buffered_bytes() const noexcept { return open_.size() + torn_.size(); }

private:
    void settle();

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::int64_t settled_tokens_ = 0;
    std::string open_{};     // well-formed, starts at a piece
    std::string torn_{};     // the start of a character
    std::size_t settle_at_;  // bytes of `open_`
};

}  // namespace whittle::inline v0
