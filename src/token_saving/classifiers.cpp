#include "whittle/token_saving/classifiers.hpp"
#include "whittle/token_saving/detail/word_text.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace whittle::inline v0 {

namespace {

using Text = std::string_view;

/// Words that carry little. Sorted.
constexpr std::array stop_words{
    Text("a"),      Text("about"),     Text("above"),   Text("after"),    Text("again"),     Text("all"),
    Text("almost"), Text("already"),   Text("also"),    Text("although"), Text("am"),        Text("among"),
    Text("an"),     Text("and"),       Text("another"), Text("any"),      Text("are"),       Text("around"),
    Text("as"),     Text("at"),        Text("be"),      Text("because"),  Text("been"),      Text("before"),
    Text("being"),  Text("between"),   Text("both"),    Text("but"),      Text("by"),        Text("can"),
    Text("could"),  Text("currently"), Text("did"),     Text("do"),       Text("does"),      Text("doing"),
    Text("down"),   Text("during"),    Text("each"),    Text("either"),   Text("even"),      Text("for"),
    Text("from"),   Text("further"),   Text("get"),     Text("got"),      Text("had"),       Text("has"),
    Text("have"),   Text("having"),    Text("he"),      Text("her"),      Text("here"),      Text("hers"),
    Text("him"),    Text("his"),       Text("how"),     Text("however"),  Text("i"),         Text("i'll"),
    Text("i'm"),    Text("i've"),      Text("if"),      Text("in"),       Text("indeed"),    Text("into"),
    Text("is"),     Text("it"),        Text("it's"),    Text("its"),      Text("itself"),    Text("just"),
    Text("let"),    Text("let's"),     Text("like"),    Text("may"),      Text("me"),        Text("might"),
    Text("more"),   Text("most"),      Text("much"),    Text("must"),     Text("my"),        Text("now"),
    Text("of"),     Text("off"),       Text("okay"),    Text("on"),       Text("once"),      Text("or"),
    Text("other"),  Text("our"),       Text("out"),     Text("over"),     Text("own"),       Text("perhaps"),
    Text("please"), Text("quite"),     Text("rather"),  Text("really"),   Text("same"),      Text("shall"),
    Text("she"),    Text("should"),    Text("simply"),  Text("since"),    Text("so"),        Text("some"),
    Text("still"),  Text("such"),      Text("than"),    Text("that"),     Text("that's"),    Text("the"),
    Text("their"),  Text("them"),      Text("then"),    Text("there"),    Text("therefore"), Text("these"),
    Text("they"),   Text("this"),      Text("those"),   Text("through"),  Text("thus"),      Text("to"),
    Text("too"),    Text("under"),     Text("until"),   Text("up"),       Text("upon"),      Text("us"),
    Text("very"),   Text("was"),       Text("we"),      Text("we'll"),    Text("we're"),     Text("we've"),
    Text("well"),   Text("were"),      Text("what"),    Text("when"),     Text("where"),     Text("which"),
    Text("while"),  Text("who"),       Text("whom"),    Text("whose"),    Text("why"),       Text("will"),
    Text("with"),   Text("would"),     Text("you"),     Text("your"),     Text("yours")};
static_assert(std::ranges::is_sorted(stop_words));

double information_of(std::string_view core, const std::string& lower, int times_before) {
    const double again = 0.5 * std::log2(1.0 + times_before);
    if (std::ranges::binary_search(stop_words, Text(lower))) return 0.2 - 0.1 * again;
    const bool is_capital = core.front() >= 'A' && core.front() <= 'Z';
    const double length = static_cast<double>(std::min<std::size_t>(core.size(), 12)) / 12.0;
    return 1.0 + length + (is_capital ? 0.3 : 0.0) - again;
}

double information_of(std::string_view word, const WordCounts& counts) {
    const auto total = static_cast<double>(counts.total()) + static_cast<double>(counts.different()) + 1.0;
    return std::log2(total / (static_cast<double>(counts.count(word)) + 1.0));
}

}  // namespace

std::vector<double> heuristic_scores(Words words) {
    std::vector<double> scores;
    scores.reserve(words.size());
    std::unordered_map<std::string, int> times;
    for (const std::string_view word : words) {
        const std::string_view core = detail::core_of(word);
        if (core.empty()) {
            scores.push_back(0.0);
            continue;
        }
        std::string lower = ascii_lower(core);
        const int before = times[lower]++;
        scores.push_back(information_of(core, lower, before));
    }
    return scores;
}

std::vector<bool> heuristic_classifier(Words words, double keep_ratio) {
    const std::vector<double> scores = heuristic_scores(words);
    std::vector<bool> keep(words.size(), true);
    std::vector<std::size_t> plain;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!is_protected_word(words[i])) plain.push_back(i);
    }
    const double ratio = std::clamp(keep_ratio, 0.0, 1.0);
    const auto kept = static_cast<std::ptrdiff_t>(std::llround(ratio * static_cast<double>(plain.size())));
    std::ranges::stable_sort(plain, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    for (auto i = plain.begin() + kept; i != plain.end(); ++i) keep[*i] = false;
    return keep;
}

WindowScorer frequency_scorer() {
    return [](const WordWindow& window) {
        if (window.counts == nullptr)
            throw Error(Errc::invalid_argument, "score words: there is no conversation to count them in");
        std::vector<double> scores;
        scores.reserve(window.words.size());
        for (const std::string_view word : window.words) scores.push_back(information_of(word, *window.counts));
        return scores;
    };
}

}  // namespace whittle::inline v0
