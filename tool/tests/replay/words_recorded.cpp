// The word level on recorded tool outputs and sessions: what must stay is found by an extractor of its own.
#include "token_saving/agent.hpp"
#include "token_saving/extractors.hpp"

#include "extensions/tiktoken/tests/vocabularies.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "whittle/saved/trajectory.hpp"
#include "whittle/tiktoken/frequency_scorer.hpp"
#include "whittle/token_saving/classifiers.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace whittle;
using namespace whittle::testing;

namespace {

const WordClassifier drops_all = [](Words words) { return std::vector<bool>(words.size(), false); };
const AnyWordClassifier heuristic = WordScorer(heuristic_scores);

std::vector<std::filesystem::path> outputs() {
    std::vector<std::filesystem::path> files;
    const auto folder = std::filesystem::path(WHITTLE_DATA_DIR) / "tool_outputs";
    if (!std::filesystem::is_directory(folder)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

std::string text_of_file(const std::filesystem::path& path) { return test::file_text(path.string()); }

/// Words that may go, and how many of them are left in `now`; the others never go.
struct Share {
    std::int64_t plain = 0;
    std::int64_t left = 0;

    Share(std::span<const Word> words, std::string_view now)
        : plain(std::ranges::count(words, Word::Kind::plain, &Word::kind)),
          left(std::ssize(split_words(now)) - (std::ssize(words) - plain)) {}
    [[nodiscard]] double value() const { return static_cast<double>(left) / static_cast<double>(plain); }
};

bool is_json(std::string_view text) { return nlohmann::json::accept(text); }

/// JSON that stands on lines of its own.
Found json_lines_in(const std::string& text) {
    Found found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        if (line.find_first_of("{[") < 2 && is_json(line)) found.push_back(line);
        at = end + 1;
    }
    return found;
}

/// Nothing that matters is missing in `now`, and JSON reads as before.
void check_kept(const std::string& text, const std::string& now) {
    CHECK(lost(text, now) == Found{});
    CHECK(std::ranges::count(now, '\n') == std::ranges::count(text, '\n'));
    CHECK(now.size() <= text.size());
    CHECK(json_lines_in(now) == json_lines_in(text));
    if (is_json(text)) CHECK(now == text);
}

/// The farthest from the ratio that texts were, in points of 100.
struct Farthest {
    double points = 0.0;
    int texts = 0;

    void take(std::span<const Word> words, std::string_view now, double ratio) {
        const Share share(words, now);
        if (share.plain < 20) return;
        points = std::max(points, 100.0 * std::abs(share.value() - ratio));
        ++texts;
    }
};

/// A result as the lever leaves it: three model calls later, and eleven.
std::pair<std::string, std::string> in_both_tiers(const Chain<>& chain, const std::string& text) {
    Conversation<> c = asked();
    add_step(c, text);
    for (int i = 0; i < 3; ++i) add_step(c, "ok");
    chain.before_model(c);
    const std::string mid = text_at(c, 2);
    for (int i = 0; i < 8; ++i) add_step(c, "ok");
    chain.before_model(c);
    return {mid, text_at(c, 2)};
}

/// How far texts are from the share of their tier; and what they lose there, and when every word goes that may.
struct TierShares {
    Agent agent{words_only(heuristic)};
    Farthest mid{};
    Farthest old{};
    std::int64_t changed = 0;

    void take(const std::string& text) {
        const auto [half, third] = in_both_tiers(agent.chain, text);
        if (half == text && third == text) return;
        ++changed;
        const std::vector<Word> words = split_words(text);
        mid.take(words, half, 0.55);
        old.take(words, third, 0.30);
        check_kept(text, third);
        check_kept(text, compress_words(half, drops_all, 0.30));
    }
};

/// The texts of replies and results of a file's first sessions.
std::vector<std::string> texts_of(const std::filesystem::path& file, std::size_t max_sessions) {
    std::vector<std::string> all;
    std::size_t sessions = 0;
    read_trajectories(file, {}, [&](Trajectory<>&& session) {
        for (const openai::Message& m : session.messages) {
            const Role role = message_traits<openai::Message>::role(m);
            if (role != Role::assistant && role != Role::tool) continue;
            for (Part& part : parts_of(m)) {
                const bool is_text = part.kind == PartKind::text || part.kind == PartKind::tool_result;
                if (is_text && part.text.size() >= 200) all.push_back(std::move(part.text));
            }
        }
        return ++sessions < max_sessions;
    });
    return all;
}

/// At most 40, from all over them.
std::vector<std::string> sample_of(std::vector<std::string> all) {
    constexpr std::size_t most = 40;
    std::vector<std::string> some;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
        some.push_back(std::move(all[i * all.size() / std::min(most, all.size())]));
    return some;
}

void check_shares(const TierShares& shares) {
    CHECK(shares.mid.points <= 3.0);
    CHECK(shares.old.points <= 3.0);
}

}  // namespace

TEST_CASE("recorded tool outputs keep all that matters, and the share that was asked for", "[token_saving][data]") {
    if (outputs().empty()) SKIP_WITH_MESSAGE("there are no recorded tool outputs here");
    TierShares shares;
    for (const auto& file : outputs()) {
        CAPTURE(file.filename().string());
        shares.take(text_of_file(file));
    }
    check_shares(shares);
    CHECK(shares.changed >= 8);  // settings, rows and differences stay whole
}

TEST_CASE("replies and results of recorded sessions keep all that matters, and their share", "[token_saving][data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    for (const auto& file : recorded_files()) {
        CAPTURE(file.filename().string());
        TierShares shares;
        for (const std::string& text : sample_of(texts_of(file, 3))) shares.take(text);
        check_shares(shares);
    }
}

TEST_CASE("every local classifier keeps the share that it was asked for", "[token_saving][data]") {
    if (outputs().empty()) SKIP_WITH_MESSAGE("there are no recorded tool outputs here");
    REQUIRE_VOCABULARY(vocabulary, "r50k_base");
    const std::vector<std::pair<std::string, AnyWordClassifier>> classifiers{
        {"heuristic by window", RatioWordClassifier(heuristic_classifier)},
        {"frequency by counts", frequency_scorer()},
        {"frequency by a vocabulary", frequency_scorer(vocabulary)}};
    for (const auto& file : outputs()) {
        const std::string text = text_of_file(file);
        const std::vector<Word> words = split_words(text);
        WordCounts counts;
        counts.add(text);
        for (const auto& [name, classifier] : classifiers) {
            CAPTURE(file.filename().string(), name);
            const WordChoice choice = choose_words(text, words, classifier, 0.55, {.context = {.counts = &counts}});
            CHECK(choice.failure.empty());
            if (choice.keep.empty()) continue;
            Farthest farthest;
            farthest.take(words, join_kept(text, words, choice.keep), 0.55);
            CHECK(farthest.points <= 3.0);
        }
    }
}

TEST_CASE("by a vocabulary's ranks common words go first, and rare ones stay", "[token_saving][data]") {
    REQUIRE_VOCABULARY(vocabulary, "r50k_base");
    const WindowScorer scorer = frequency_scorer(vocabulary);
    const std::vector<std::string_view> words{"the", "because", "parser", "parsnips", "the,"};
    const std::vector<double> scores = scorer({.words = words});
    CHECK(std::ranges::is_sorted(scores.begin(), scores.begin() + 4));
    CHECK(scores[0] < scores[1]);
    CHECK(scores[0] == scores[4]);  // as the words of a conversation are counted
    CHECK(compress_words("the parser of the server fails because it reads the footer in place of the header", scorer,
                         0.4, {.min_content_words = 1}) == "parser server fails reads footer header");
    const std::vector<std::string_view> broken{"caf\xC3", "\xFF"};
    CHECK(scorer({.words = broken}).size() == 2);
    CHECK(scorer({}).empty());
}

TEST_CASE("text without blanks between its words is left alone", "[token_saving][data]") {
    std::string chinese;
    for (int i = 0; i < 40; ++i) chinese += "这个 文件 没有 找到。\n";
    CHECK(compress_words(chinese, drops_all, 0.3) == chinese);
    for (const auto& file : outputs()) {
        const std::string name = file.filename().string();
        if (name != "readme_zh.md" && name != "guide_ja.md" && !name.starts_with("i18n_")) continue;
        CAPTURE(name);
        const std::string text = text_of_file(file);
        const auto non_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
        const std::string now = compress_words(text, drops_all, 0.3);
        CHECK(std::ranges::count_if(now, non_ascii) == std::ranges::count_if(text, non_ascii));
    }
}

TEST_CASE("every text of the recorded sessions loses the share of words that its tier asks for", "[.][everything]") {
    for (const auto& file : recorded_files()) {
        CAPTURE(file.filename().string());
        TierShares shares;
        const std::vector<std::string> texts = texts_of(file, std::numeric_limits<std::size_t>::max());
        for (const std::string& text : texts) shares.take(text);
        check_shares(shares);
        WARN(file.filename().string() << ": " << texts.size() << " texts, " << shares.changed << " changed, of these "
                                      << shares.mid.texts << " with 20 words that may go; points from the share: mid "
                                      << shares.mid.points << ", old " << shares.old.points);
    }
}
