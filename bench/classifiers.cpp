// How fast the local word classifiers are, in MB of text per second of CPU time: splitting alone (which every
// classifier needs), the heuristic, and the frequency scorer by the counts of a conversation (counting them is a row of
// its own) and by the ranks of a vocabulary.
//
//     bench_classifiers [o200k_base.whittle]
#include <whittle/tiktoken/frequency_scorer.hpp>
#include <whittle/tiktoken/vocabulary.hpp>
#include <whittle/whittle.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

namespace {

using namespace whittle;

/// Prose with names and numbers in it, about `bytes` long.
std::string prose(std::size_t bytes) {
    std::string text;
    for (int i = 0; text.size() < bytes; ++i) {
        text += "The parser reads the header of file number " + std::to_string(i) +
                " and then it looks at the body because the build was not finished in time.\n"
                "After all of this the handler in src/main.cpp has to wait for the server that owns the queue.\n";
    }
    return text;
}

template <typename Work>
void print_rate(const char* name, const std::string& text, Work&& work) {
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
        const std::clock_t start = std::clock();  // CPU time: other programs do not count
        work();
        best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::printf("%-34s %8.1f MB/s\n", name, static_cast<double>(text.size()) / 1e6 / best);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string text = prose(1'000'000);
    std::size_t sink = 0;
    print_rate("split and protect", text, [&] { sink += split_words(text).size(); });
    const auto compress = [&](const char* name, const AnyWordClassifier& classifier, const WordCounts* counts) {
        WordOptions options;
        options.context.counts = counts;
        print_rate(name, text, [&] { sink += compress_words(text, classifier, 0.5, options).size(); });
    };
    compress("heuristic, by window", RatioWordClassifier(heuristic_classifier), nullptr);
    compress("heuristic, over the whole text", WordScorer(heuristic_scores), nullptr);
    print_rate("counting a conversation's words", text, [&] {
        WordCounts once;
        once.add(text);
        sink += once.different();
    });
    WordCounts counts;
    counts.add(text);
    compress("frequency, by the conversation", frequency_scorer(), &counts);
    if (argc > 1) compress("frequency, by a vocabulary", frequency_scorer(Vocabulary::open(argv[1])), nullptr);
    std::printf("(%zu)\n", sink);
}
