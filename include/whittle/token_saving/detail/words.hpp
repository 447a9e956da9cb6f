#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/conversation/report.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

/// Words of a text, in order, as they stand there, punctuation included.
using Words = std::span<const std::string_view>;

/// How often words stand in a conversation, in lower case and without punctuation at their ends.
class WordCounts {
public:
    /// Counts the words of `text` too.
    void add(std::string_view text);
    /// How often that word occurred; its case, and punctuation at its ends, do not matter.
    [[nodiscard]] std::int64_t count(std::string_view word) const;
    /// How many words, each counted as often as it occurred.
    [[nodiscard]] std::int64_t total() const noexcept { return mark_used(), total_; }
    /// How many different words.
    [[nodiscard]] std::size_t different() const noexcept { return mark_used(), counts_.size(); }
    /// Of all words and their counts, whatever the order they came in.
    [[nodiscard]] Hash128 fingerprint() const noexcept { return fingerprint_; }
    /// Whether anything but the fingerprint was asked for since the last call of this. Thread-safe.
    bool take_use() const noexcept { return is_used_.exchange(false); }

private:
    void add_word(const std::string& word);
    void mark_used() const noexcept { is_used_.store(true, std::memory_order_relaxed); }

    std::unordered_map<std::string, std::int64_t> counts_{};
    std::int64_t total_ = 0;
    Hash128 fingerprint_{};
    mutable std::atomic<bool> is_used_ = false;
};

/// A stretch of words with what a classifier may want to know. A view, valid during the call.
struct WordWindow {
    Words words{};                       ///< the words of the window, in order
    double keep_ratio = 1.0;             ///< of the words that are not protected
    const WordCounts* counts = nullptr;  ///< of the conversation; null outside of one
    std::string_view conversation{};     ///< its id; empty outside of one
    StopToken stop{};                    ///< asks a slow classifier to end
    HookBudget* budget = nullptr;        ///< model calls are taken from it; null: no limit
    StageReport* report = nullptr;       ///< model calls are listed there; null: nowhere
    Clock* clock = nullptr;              ///< null: no deadline, no times
};

/// True keeps a word. Exactly one flag per word; what is protected stays anyway.
using WordClassifier = std::function<std::vector<bool>(Words)>;
/// A classifier that takes the share of the words to keep.
using RatioWordClassifier = std::function<std::vector<bool>(Words, double keep_ratio)>;
/// A classifier that takes everything there is to know of a window.
using WindowClassifier = std::function<std::vector<bool>(const WordWindow&)>;
/// One score per word; exactly the top share of a message is kept, the earlier word of equal ones.
using WordScorer = std::function<std::vector<double>(Words)>;
/// A scorer that takes everything there is to know of a window.
using WindowScorer = std::function<std::vector<double>(const WordWindow&)>;

/// All are called on the thread of the hook; from several at once if the chain serves several conversations.
using AnyWordClassifier =
    std::variant<std::monostate, WordClassifier, RatioWordClassifier, WindowClassifier, WordScorer, WindowScorer>;

/// Whether there is none, or an empty function.
[[nodiscard]] bool is_empty(const AnyWordClassifier& classifier) noexcept;

/// A word by its bytes in a text.
struct Word {
    enum class Kind {
        plain,       ///< may go
        protected_,  ///< number, path, identifier, URL, negation, ...: stays, and is shown to classifiers
        verbatim,    ///< in a code fence, JSON or a line of code: stays, and is not shown to them
    };
    std::size_t begin = 0;
    std::size_t end = 0;
    Kind kind = Kind::plain;
};

/// Whether a word stays whatever a classifier says; docs/token_saving.md lists the rules.
[[nodiscard]] bool is_protected_word(std::string_view word) noexcept;

/// The words of `text`, split at ASCII white space. O(size).
[[nodiscard]] std::vector<Word> split_words(std::string_view text);

/// `text` without the words that are not kept; line breaks and indentation stay. `keep` has one flag per word.
[[nodiscard]] std::string join_kept(std::string_view text, std::span<const Word> words, const std::vector<bool>& keep);

namespace detail {
class WordCache;
}

struct WordOptions {
    std::size_t window_words = 50;       ///< words of one classifier call
    std::size_t min_content_words = 30;  ///< texts of fewer words stay
    WordWindow context{};                ///< what the windows have beside words and ratio
    detail::WordCache* cache = nullptr;  ///< answers by window, of this classifier only; null: always asked
};

/// Which words of a text stay.
struct WordChoice {
    std::vector<bool> keep{};   ///< one per word; empty: the text stays as it is
    int fallbacks = 0;          ///< windows that the heuristic decided because the classifier failed
    int remembered = 0;         ///< windows whose answer was in the cache
    bool is_undecided = false;  ///< a limit of the hook, or a stop, came first: nothing is kept or dropped yet
    std::string failure{};      ///< why, the first time
};

/// Asks the classifier window by window; the built-in heuristic takes over where it throws, gives a wrong number of
/// answers, or NaN. Where it throws Error(limit_exceeded) or Error(cancelled), the text is left undecided; with a cache
/// the answers that were there by then are not asked for again.
[[nodiscard]] WordChoice choose_words(std::string_view text, std::span<const Word> words,
                                      const AnyWordClassifier& classifier, double keep_ratio,
                                      const WordOptions& options = {});

/// `text` without the words that the classifier finds least worth keeping.
[[nodiscard]] std::string compress_words(std::string_view text, const AnyWordClassifier& classifier, double keep_ratio,
                                         const WordOptions& options = {});

}  // namespace whittle::inline v0
