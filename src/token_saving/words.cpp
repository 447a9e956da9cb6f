#include "whittle/token_saving/detail/words.hpp"

#include "whittle/base/text.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/token_saving/classifiers.hpp"
#include "whittle/token_saving/detail/word_text.hpp"
#include "word_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace whittle::inline v0 {

void WordCounts::add(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        while (at < text.size() && !detail::is_space(text[at])) ++at;
        const std::string_view core = detail::core_of(text.substr(begin, at - begin));
        if (!core.empty()) add_word(ascii_lower(core));
        if (at == begin) ++at;
    }
}

void WordCounts::add_word(const std::string& word) {
    std::int64_t& times = counts_[word];
    const Hash128 one = hash128(word, {static_cast<std::uint64_t>(++times), 0});
    fingerprint_ = {fingerprint_.low + one.low, fingerprint_.high + one.high};
    ++total_;
}

std::int64_t WordCounts::count(std::string_view word) const {
    mark_used();
    const auto found = counts_.find(ascii_lower(detail::core_of(word)));
    return found == counts_.end() ? 0 : found->second;
}

bool is_empty(const AnyWordClassifier& classifier) noexcept {
    return std::visit(
        []<typename T>(const T& one) {
            if constexpr (std::is_same_v<T, std::monostate>)
                return true;
            else
                return !one;
        },
        classifier);
}

namespace {

bool breaks_line(std::string_view gap) noexcept { return gap.find_first_of("\n\r") != std::string_view::npos; }

/// What stands between two words that stay, from the gaps around the words between them: every line break, and the
/// first blanks of a line.
class Gap {
public:
    void add(std::string_view gap) {
        if (gaps_++ > 0 && !breaks_line(gap)) return;
        if (gaps_ > 1) trim();
        text_ += gap;
    }
    [[nodiscard]] std::string take() {
        gaps_ = 0;
        return std::exchange(text_, {});
    }
    /// At the end of the text blanks of dropped words go.
    [[nodiscard]] std::string take_last() {
        if (gaps_ > 1) trim();
        return take();
    }

private:
    void trim() {
        while (!text_.empty() && (text_.back() == ' ' || text_.back() == '\t')) text_.pop_back();
    }

    std::string text_{};
    int gaps_ = 0;
};

}  // namespace

std::string join_kept(std::string_view text, std::span<const Word> words, const std::vector<bool>& keep) {
    std::string result;
    Gap gap;
    std::size_t end = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        gap.add(text.substr(end, words[i].begin - end));
        end = words[i].end;
        if (!keep[i]) continue;
        result += gap.take();
        result += text.substr(words[i].begin, end - words[i].begin);
    }
    gap.add(text.substr(end));
    return result + gap.take_last();
}

namespace {

class Chooser {
public:
    Chooser(std::string_view text, std::span<const Word> words, const AnyWordClassifier& classifier, double keep_ratio,
            const WordOptions& options)
        : words_(words), classifier_(classifier), ratio_(keep_ratio), options_(options) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i].kind == Word::Kind::verbatim) continue;
            shown_.push_back(text.substr(words[i].begin, words[i].end - words[i].begin));
            at_.push_back(i);
        }
    }

    WordChoice run() {
        const bool is_short = shown_.empty() || shown_.size() < options_.min_content_words;
        if (is_short || !(ratio_ < 1.0) || is_empty(classifier_)) return {};
        choice_.keep.assign(words_.size(), true);
        try {
            if (std::holds_alternative<WordScorer>(classifier_) || std::holds_alternative<WindowScorer>(classifier_)) {
                keep_best(scores());
            } else {
                keep_flagged();
            }
        } catch (const Error& error) {
            if (!is_limit(error)) throw;
            choice_.keep.clear();
            choice_.is_undecided = true;
            choice_.failure = error.what();
        }
        return std::move(choice_);
    }

private:
    [[nodiscard]] std::vector<Words> windows() const {
        std::vector<Words> windows;
        const std::size_t size = std::max<std::size_t>(1, options_.window_words);
        for (std::size_t at = 0; at < shown_.size(); at += size)
            windows.push_back(Words(shown_).subspan(at, std::min(size, shown_.size() - at)));
        return windows;
    }

    [[nodiscard]] WordWindow window_of(Words words) const {
        WordWindow window = options_.context;
        window.words = words;
        window.keep_ratio = ratio_;
        return window;
    }

    [[nodiscard]] static bool is_limit(const Error& error) noexcept {
        return error.code() == Errc::limit_exceeded || error.code() == Errc::cancelled;
    }

    /// What `ask` gives, or has given for these words. `memory` is a member of the cache.
    template <typename Answers, typename Ask>
    Answers remembered(detail::Remembered<Answers> detail::WordCache::*memory, Words words, Ask&& ask) {
        if (options_.cache == nullptr) return ask();
        const WordCounts* counts = options_.context.counts;
        Hash128 key = detail::WordCache::key_of(words, ratio_);
        std::optional<Answers> known = (options_.cache->*memory).find(key);
        if (!known && counts != nullptr) known = (options_.cache->*memory).find(key_with_counts(key));
        if (known && known->size() == words.size()) {
            ++choice_.remembered;
            return *std::move(known);
        }
        if (counts != nullptr) counts->take_use();
        Answers answers = ask();
        if (counts != nullptr && counts->take_use()) key = key_with_counts(key);
        (options_.cache->*memory).put(key, answers);
        return answers;
    }

    [[nodiscard]] Hash128 key_with_counts(const Hash128& key) const {
        return detail::WordCache::with_counts(key, *options_.context.counts);
    }

    template <typename Answers>
    void require_size(const Answers& answers, Words words) const {
        if (answers.size() == words.size()) return;
        throw Error(Errc::callback_failed,
                    fmt::format("classify words: {} answers for {} words", answers.size(), words.size()));
    }

    void fail() {
        if (++choice_.fallbacks == 1) choice_.failure = detail::current_error_text();
    }

    std::vector<bool> call_classifier(Words words) {
        const auto ask = [&] {
            std::vector<bool> flags;
            if (const auto* plain = std::get_if<WordClassifier>(&classifier_)) flags = (*plain)(words);
            if (const auto* ratio = std::get_if<RatioWordClassifier>(&classifier_)) flags = (*ratio)(words, ratio_);
            if (const auto* all = std::get_if<WindowClassifier>(&classifier_)) flags = (*all)(window_of(words));
            require_size(flags, words);
            return flags;
        };
        try {
            return remembered(&detail::WordCache::flags, words, ask);
        } catch (const Error& error) {
            if (is_limit(error)) throw;
            fail();
        } catch (...) {
            fail();
        }
        return heuristic_classifier(words, ratio_);
    }

    void keep_flagged() {
        std::size_t i = 0;
        for (const Words words : windows()) {
            for (const bool flag : call_classifier(words)) {
                if (words_[at_[i]].kind == Word::Kind::plain) choice_.keep[at_[i]] = flag;
                ++i;
            }
        }
    }

    std::vector<double> call_scorer(Words words) const {
        const auto* plain = std::get_if<WordScorer>(&classifier_);
        std::vector<double> scores =
            plain != nullptr ? (*plain)(words) : std::get<WindowScorer>(classifier_)(window_of(words));
        require_size(scores, words);
        if (std::ranges::any_of(scores, [](double score) { return std::isnan(score); }))
            throw Error(Errc::callback_failed, "score words: NaN is no score");
        return scores;
    }

    /// Scores of two sources do not compare: after a failure all are the heuristic's.
    std::vector<double> scores() {
        std::vector<double> all;
        try {
            for (const Words words : windows()) {
                const std::vector<double> some =
                    remembered(&detail::WordCache::scores, words, [&] { return call_scorer(words); });
                all.insert(all.end(), some.begin(), some.end());
            }
            return all;
        } catch (const Error& error) {
            if (is_limit(error)) throw;
            fail();
        } catch (...) {
            fail();
        }
        return heuristic_scores(shown_);
    }

    void keep_best(const std::vector<double>& scores) {
        std::vector<std::size_t> plain;
        for (std::size_t i = 0; i < shown_.size(); ++i) {
            if (words_[at_[i]].kind == Word::Kind::plain) plain.push_back(i);
        }
        const auto keep = static_cast<std::ptrdiff_t>(std::llround(ratio_ * static_cast<double>(plain.size())));
        std::ranges::stable_sort(plain, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
        for (auto i = plain.begin() + keep; i != plain.end(); ++i) choice_.keep[at_[*i]] = false;
    }

    std::span<const Word> words_;
    const AnyWordClassifier& classifier_;
    double ratio_;
    const WordOptions& options_;
    std::vector<std::string_view> shown_{};
    std::vector<std::size_t> at_{};
    WordChoice choice_{};
};

}  // namespace

WordChoice choose_words(std::string_view text, std::span<const Word> words, const AnyWordClassifier& classifier,
                        double keep_ratio, const WordOptions& options) {
    if (!(keep_ratio >= 0.0)) throw Error(Errc::invalid_argument, "choose words: keep_ratio is below 0 or NaN");
    return Chooser(text, words, classifier, keep_ratio, options).run();
}

std::string compress_words(std::string_view text, const AnyWordClassifier& classifier, double keep_ratio,
                           const WordOptions& options) {
    const std::vector<Word> words = split_words(text);
    const WordChoice choice = choose_words(text, words, classifier, keep_ratio, options);
    return choice.keep.empty() ? std::string(text) : join_kept(text, words, choice.keep);
}

namespace detail {

Hash128 WordCache::key_of(std::string_view text, double keep_ratio) noexcept {
    return hash128(text, {std::bit_cast<std::uint64_t>(keep_ratio), 0});
}

Hash128 WordCache::key_of(Words words, double keep_ratio) noexcept {
    Hash128 key{std::bit_cast<std::uint64_t>(keep_ratio), words.size()};
    for (const std::string_view word : words) key = hash128(word, key);
    return key;
}

Hash128 WordCache::with_counts(const Hash128& key, const WordCounts& counts) noexcept {
    const Hash128 all = counts.fingerprint();
    return {key.low ^ all.low, key.high ^ all.high};
}

}  // namespace detail

}  // namespace whittle::inline v0
