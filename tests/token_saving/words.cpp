#include "whittle/token_saving/detail/words.hpp"

#include "../../src/token_saving/word_cache.hpp"
#include "support/catch.hpp"
#include "whittle/base/random.hpp"
#include "whittle/token_saving/classifiers.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <numeric>
#include <stdexcept>

using namespace whittle;

namespace {

std::string plain_words(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += text.empty() ? "" : " ";
        text += "word";
        for (std::size_t n = i; n > 0; n /= 26) text += static_cast<char>('a' + static_cast<char>(n % 26));
    }
    return text;
}

/// Always gives the same answer.
class Answers final : public TextModel {
public:
    explicit Answers(std::string answer) : answer_(std::move(answer)) {}
    TextReply complete(std::string_view, std::string_view, const TextOptions&, StopToken) override {
        return {.text = answer_};
    }

private:
    std::string answer_;
};

const WordClassifier drops_all = [](Words words) { return std::vector<bool>(words.size(), false); };

}  // namespace

TEST_CASE("120 words in windows of 50 make three classifier calls", "[token_saving]") {
    std::vector<std::size_t> sizes;
    const WordClassifier classifier = [&](Words words) {
        sizes.push_back(words.size());
        return std::vector<bool>(words.size(), true);
    };
    CHECK(compress_words(plain_words(120), classifier, 0.5) == plain_words(120));
    CHECK(sizes == std::vector<std::size_t>{50, 50, 20});
}

TEST_CASE("29 words stay, 30 are classified", "[token_saving]") {
    CHECK(compress_words(plain_words(29), drops_all, 0.5) == plain_words(29));
    CHECK(compress_words(plain_words(30), drops_all, 0.5).empty());
}

TEST_CASE("every kind of classifier decides, and gets the ratio where it takes one", "[token_saving]") {
    const std::string text = plain_words(40);
    const auto every_second = [](std::size_t size) {
        std::vector<bool> keep(size);
        for (std::size_t i = 0; i < size; i += 2) keep[i] = true;
        return keep;
    };
    const std::string expected =
        compress_words(text, WordClassifier([&](Words w) { return every_second(w.size()); }), 0.5);
    CHECK(expected.starts_with("word wordc worde "));
    CHECK(compress_words(text, RatioWordClassifier([&](Words w, double ratio) {
                             CHECK(ratio == 0.3);
                             return every_second(w.size());
                         }),
                         0.3) == expected);
    CHECK(compress_words(text, WindowClassifier([&](const WordWindow& w) {
                             CHECK(w.keep_ratio == 0.3);
                             return every_second(w.words.size());
                         }),
                         0.3) == expected);
    const WordScorer later_is_better = [](Words words) {
        std::vector<double> scores(words.size());
        std::iota(scores.begin(), scores.end(), 0.0);
        return scores;
    };
    const std::string tail = compress_words(text, later_is_better, 0.25);
    CHECK(text.ends_with(tail));
    CHECK(std::ranges::count(tail, ' ') == 9);
    CHECK(compress_words(text, std::monostate{}, 0.3) == text);
    CHECK(compress_words(text, WordScorer{}, 0.3) == text);
    CHECK(compress_words(text, later_is_better, 1.0) == text);
}

TEST_CASE("of equal scores the earlier words stay, and windows of one message compete", "[token_saving]") {
    const WordScorer flat = [](Words words) { return std::vector<double>(words.size(), 1.0); };
    const std::string text = plain_words(120);
    const std::string kept = compress_words(text, flat, 0.5);
    CHECK(text.starts_with(kept));
    CHECK(std::ranges::count(kept, ' ') == 59);
}

TEST_CASE("a classifier that fails in any way is replaced by the heuristic", "[token_saving]") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<AnyWordClassifier> broken{
        WordClassifier([](Words) -> std::vector<bool> { throw std::runtime_error("down"); }),
        WordClassifier([](Words w) { return std::vector<bool>(w.size() + 1, true); }),
        RatioWordClassifier([](Words, double) { return std::vector<bool>(); }),
        WindowClassifier([](const WordWindow&) -> std::vector<bool> { throw 7; }),
        WordScorer([nan](Words w) { return std::vector<double>(w.size(), nan); }),
        WindowScorer([](const WordWindow&) { return std::vector<double>{1.0}; })};
    const std::string text =
        "The quick brown fox jumps over the lazy dog and then it sleeps in the warm sun because "
        "it was really tired after all of that running around in the big green garden";
    const std::string expected = compress_words(text, RatioWordClassifier(heuristic_classifier), 0.5);
    CHECK(expected != text);
    for (const AnyWordClassifier& classifier : broken) {
        const std::vector<Word> words = split_words(text);
        const WordChoice choice = choose_words(text, words, classifier, 0.5);
        CHECK(choice.fallbacks == 1);
        CHECK_FALSE(choice.failure.empty());
        CHECK(join_kept(text, words, choice.keep) == expected);
    }
}

TEST_CASE("stop words go first, then what was said before", "[token_saving]") {
    const std::string text = "the parser fails because the parser reads the header of the parser after the footer";
    CHECK(compress_words(text, WordScorer(heuristic_scores), 0.5, {.min_content_words = 1}) ==
          "parser fails parser reads header parser after footer");
    CHECK(compress_words(text, WordScorer(heuristic_scores), 0.3, {.min_content_words = 1}) ==
          "parser fails header after footer");
}

TEST_CASE("line breaks and indentation stay, blanks of dropped words go", "[token_saving]") {
    const auto drop = [](const std::string& text) {
        return compress_words(text, drops_all, 0.5, {.min_content_words = 0});
    };
    CHECK(drop("a 1 b 2 c") == "1 2");
    CHECK(drop("one\n\n  two x1 three\n    x2\nend\n") == "\n\n  x1\n    x2\n\n");
    CHECK(drop("all gone\r\nhere is x9\r\n") == "\r\nx9\r\n");
    CHECK(drop("  x1 two words\n") == "  x1\n");
    CHECK(drop("") == "");
    CHECK(drop("   ") == "   ");
}

TEST_CASE("numbers, paths, names, URLs, negations and other scripts are protected words", "[token_saving]") {
    for (const std::string word :
         {"3",          "1,024",    "v2",      "0x7f",  "src/main", "a.out",   "C:\\dir", "snake_case",
          "camelCase",  "NULL",     "HTTP",    "run()", "std::x",   "--force", "-v",      ".env",
          "https://x",  "a@b.c",    "not",     "No",    "never,",   "don't",   "Isn't",   "cannot",
          "nicht",      "sans",     "without", "\"a\"", "{",        "key:",    "naïve",   "漢字",
          "well-known", "$HOME",    "`x`",     "100%",  "Nor",      "false",   "unless",  "+x",
          "a|b",        "--",       "...",     "#tag",  "x=y",      "nadie",   "Weder",   "keinerlei",
          "tampoco",    "ninguno,", "nenhuma", "nulla", "nemmeno",  "NIH's",   "APIs",    "'CLI's"})
        CHECK(is_protected_word(word));
    for (const std::string word : {"the", "parser", "Parser", "fails.", "it's", "header,", "(", "nothingness", "I"}) {
        CAPTURE(word);
        CHECK(is_protected_word(word) == (word == "("));
    }
}

TEST_CASE("code fences, inline code, JSON, lines of code and notices stay word for word", "[token_saving]") {
    const std::string prose = "some words that may go away without harm to anybody at all\n";
    const std::vector<std::string> stays{"```cpp\nint the of and in;\nplain words in code\n```\n",
                                         "~~~\nplain words in code\n```\nmore words\n~~~\n",
                                         "{\"message\": \"the file is in the place of the other\", \"n\": [1, 2]}\n",
                                         "call it `as the words say` there\n",
                                         "return the value of that;\n",
                                         "    return the value of that\n",
                                         "12: return the value of that\n",
                                         "main.py:12:return the value of that\n",
                                         "if that is so {\n",
                                         "[... 400 chars truncated. Full text: the place of it ...]\n"};
    for (const std::string& piece : stays) {
        const std::string text = prose + prose + prose + piece + prose;
        const std::string now = compress_words(text, drops_all, 0.5);
        CAPTURE(piece);
        const bool is_inline = piece.starts_with("call");
        CHECK(now.find(is_inline ? "`as the words say`" : piece) != std::string::npos);
        CHECK(now.find("harm") == std::string::npos);
    }
    CHECK(compress_words(prose + "```\nopen to the end of it all\n" + prose, drops_all, 0.5, {.min_content_words = 5})
              .ends_with("```\nopen to the end of it all\n" + prose));
}

TEST_CASE("a source file is left alone: a quarter of its lines ends like code", "[token_saving]") {
    const std::string code =
        "#include <the>\nint run(of that) {\n    return the value of that;\n}\n// words about it all\n";
    std::string file;
    for (int i = 0; i < 10; ++i) file += code;
    CHECK(compress_words(file, drops_all, 0.5) == file);
}

TEST_CASE("brackets without end do not make splitting slow or wrong", "[token_saving]") {
    const std::string brackets(200'000, '[');
    CHECK(split_words(brackets).size() == 1);
    CHECK(split_words(brackets + " {\"a\": \"").size() == 3);
    const std::string unclosed = "some of [ the words\n";
    std::string text;
    for (int i = 0; i < 12; ++i) text += unclosed;
    const std::string json = "and so {\"message\": \"the file of the other\", \"ok\": [true, true]} is the end\n";
    const std::vector<Word> words = split_words(text + json);
    CHECK(words.front().kind == Word::Kind::plain);
    for (const Word& word : words)
        if (word.begin >= text.size() + json.find('{') && word.end <= text.size() + json.rfind('}') + 1)
            CHECK(word.kind == Word::Kind::verbatim);
}

TEST_CASE("JSON behind the colours of a terminal stays, the prose around it may go", "[token_saving]") {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "\x1b[32mok the test of the cache\x1b[0m\n";
    const std::string json = R"({"message": "it was as the other is", "ok": [true, true]})";
    const std::string now = compress_words(text + "some of " + json + " and the end of it\n", drops_all, 0.3);
    CHECK(now.find(json) != std::string::npos);
    CHECK(now.find("cache\x1b[0m") != std::string::npos);
    CHECK(now.find(" test ") == std::string::npos);
    CHECK(now.find("the end") == std::string::npos);
}

TEST_CASE("a fence ends with its own character, at its own length, with nothing behind", "[token_saving]") {
    const std::string prose = "some words that may go away without harm to anybody at all\n";
    for (const std::string& fence : std::vector<std::string>{"````\n```\nas if some of it\n```\nas some\n````\n",
                                                             "```markdown\nsome words\n```python\nas if some\n```\n",
                                                             "~~~\nas some\n```\nas if\n~~~~ \n"}) {
        CAPTURE(fence);
        const std::string now = compress_words(prose + prose + prose + fence + prose, drops_all, 0.3);
        CHECK(now.find(fence) != std::string::npos);
        CHECK(now.find("harm") == std::string::npos);
    }
    CHECK(compress_words("```as``` is code of one line\n" + prose + prose + prose, drops_all, 0.3).find("harm") ==
          std::string::npos);
}

TEST_CASE("an answer is found by words and ratio, and the oldest are forgotten", "[token_saving]") {
    detail::WordCache cache;
    const std::vector<std::string_view> words{"a", "b"};
    const std::vector<std::string_view> joined{"ab"};
    using detail::WordCache;
    cache.flags.put(WordCache::key_of(words, 0.5), {true, false});
    CHECK(cache.flags.find(WordCache::key_of(words, 0.5)) == std::vector<bool>{true, false});
    CHECK_FALSE(cache.flags.find(WordCache::key_of(words, 0.3)));
    CHECK_FALSE(cache.flags.find(WordCache::key_of(joined, 0.5)));
    for (int i = 0; i < 4'096; ++i) cache.flags.put(WordCache::key_of(std::to_string(i), 0.5), {});
    CHECK_FALSE(cache.flags.find(WordCache::key_of(words, 0.5)));
}

TEST_CASE("the frequency scorer knows a conversation's own words, or a vocabulary's ranks", "[token_saving]") {
    WordCounts counts;
    counts.add("build build build. Build: parser");
    CHECK(counts.count("build,") == 4);
    CHECK(counts.count("other") == 0);
    CHECK(counts.total() == 5);
    const std::vector<std::string_view> words{"build", "parser", "unseen"};
    const std::vector<double> scores = frequency_scorer()({.words = words, .counts = &counts});
    CHECK(scores[0] < scores[1]);
    CHECK(scores[1] < scores[2]);
    CHECK_THROWS_AS(frequency_scorer()({.words = words}), Error);
}

TEST_CASE("the model classifier asks for numbers of words and takes nothing else for an answer", "[token_saving]") {
    const std::vector<std::string_view> words{"the", "parser", "fails"};
    const auto ask = [&](const std::string& answer, WordWindow window = {}) {
        window.words = words;
        return make_model_classifier(std::make_shared<Answers>(answer))(window);
    };
    CHECK(ask("[2, 3]") == std::vector<bool>{false, true, true});
    CHECK(ask("Here: [1]\n") == std::vector<bool>{true, false, false});
    for (const std::string bad : {"keep 2 and 3", "[0]", "[4]", "[\"2\"]", "[1.5]", "[2", "{}", "[[1]]", "] 1 ["})
        CHECK_THROWS_AS(ask(bad), Error);
    HookBudget budget{.model_calls = 1};
    StageReport report;
    CHECK(ask("[2]", {.budget = &budget, .report = &report}).size() == 3);
    CHECK(budget.model_calls == 0);
    CHECK(report.details->model_calls.size() == 1);
    CHECK_THROWS_AS(ask("[2]", {.budget = &budget}), Error);
    CHECK_THROWS_AS(make_model_classifier(nullptr), Error);
}

TEST_CASE("a model that answers nonsense costs nothing but its calls: the heuristic decides", "[token_saving]") {
    const AnyWordClassifier classifier = make_model_classifier(std::make_shared<Answers>("I would keep all of them!"));
    const std::string text = plain_words(40);
    CHECK(compress_words(text, classifier, 0.5) ==
          compress_words(text, RatioWordClassifier(heuristic_classifier), 0.5));
}

namespace {

/// A server that finds words it saw before likely. Tokens are words with the blank before them.
std::vector<TokenLogprob> honest(std::string_view text, StopToken) {
    std::vector<TokenLogprob> tokens{{"<s>", std::numeric_limits<double>::quiet_NaN()}};
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at + 1), text.size());
        const std::string token(text.substr(at, end - at));
        const std::string word = token.substr(token.front() == ' ' ? 1 : 0);
        const bool is_known = std::ranges::find(seen, word) != seen.end();
        tokens.push_back({token, is_known ? -0.2 : -4.0 - static_cast<double>(word.size())});
        seen.push_back(word);
        at = end;
    }
    return tokens;
}

}  // namespace

TEST_CASE("the logprob scorer scores by surprise, after a check of its server", "[token_saving]") {
    int calls = 0;
    const WindowScorer scorer = logprob_scorer([&](std::string_view text, StopToken stop) {
        ++calls;
        return honest(text, stop);
    });
    const std::vector<std::string_view> words{"the", "parser", "the"};
    CHECK(scorer({.words = words}) == std::vector<double>{7.0, 10.0, 0.2});
    CHECK(calls == 2);
    CHECK(scorer({.words = words}).size() == 3);
    CHECK(calls == 3);  // checked once
}

TEST_CASE("a server whose log-probabilities are shifted, flat or of another text is refused", "[token_saving]") {
    const std::vector<std::string_view> words{"the", "parser"};
    const auto shifted = [](std::string_view text, StopToken stop) {
        auto tokens = honest(text, stop);
        SeededRandom random(3);
        for (TokenLogprob& token : tokens) token.logprob = -static_cast<double>(random.next() % 12);
        return tokens;
    };
    const auto flat = [](std::string_view text, StopToken stop) {
        auto tokens = honest(text, stop);
        for (TokenLogprob& token : tokens) token.logprob = -5.0;
        return tokens;
    };
    const auto other = [](std::string_view, StopToken stop) { return honest("something else", stop); };
    for (const PromptLogprobs& backend : {PromptLogprobs(shifted), PromptLogprobs(flat), PromptLogprobs(other)}) {
        const WindowScorer scorer = logprob_scorer(backend);
        CHECK_THROWS_AS(scorer({.words = words}), Error);
        CHECK_THROWS_AS(scorer({.words = words}), Error);
        CHECK(compress_words(plain_words(40), scorer, 0.5) ==
              compress_words(plain_words(40), WordScorer(heuristic_scores), 0.5));
    }
}
