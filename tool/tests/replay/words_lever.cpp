#include "replay/replay.hpp"
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "token_saving/agent.hpp"
#include "token_saving/extractors.hpp"
#include "whittle/saved/trajectory.hpp"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::string prose(int seed, int sentences = 12) {
    static const std::vector<std::string> parts{
        "The parser reads the header of each file and then it looks at the body",
        "Because of that the build was not finished in time by the server",
        "We should have a look at the test that still fails on port 8080",
        "After all of this the handler in src/main.cpp calls run_all() again"};
    std::string text;
    for (int i = 0; i < sentences; ++i)
        text += parts[static_cast<std::size_t>(seed + i) % parts.size()] + " (" + std::to_string(seed) + ").\n";
    return text;
}

/// Steps with a result of prose and a thought of prose each.
void run(const Agent& agent, Conversation<>& c, int steps) {
    for (int i = 0; i < steps; ++i) {
        agent.chain.before_model(c);
        add_step(c, prose(c.model_calls()), "run", "{}", prose(c.model_calls() + 100));
    }
    agent.chain.before_model(c);
}

std::string reason_at(const Conversation<>& c, std::size_t message, std::size_t part = 0) {
    const Mark& mark = mark_of(c.outline()[message], part);
    return mark ? mark->reason : "";
}

}  // namespace

TEST_CASE("messages of age 2 stay, of 3 and 9 are mid, of 10 and more are old", "[token_saving]") {
    std::map<std::string, std::vector<double>> ratios;  // by the words asked about
    const Agent agent(words_only(RatioWordClassifier([&](Words words, double ratio) {
        ratios[std::string(words.front()) + std::string(words.back())].push_back(ratio);
        return std::vector<bool>(words.size(), true);
    })));
    Conversation<> c = asked();
    const std::string letters = "abcdefghijkl";
    for (const char letter : letters) {
        std::string text(1, letter);
        for (int i = 0; i < 40; ++i) text += " word";
        add_step(c, text + " end" + letter);
    }
    REQUIRE(c.model_calls() == 12);
    agent.chain.before_model(c);
    CHECK(ratios.at("aenda") == std::vector<double>{0.30});  // 11 calls ago
    CHECK(ratios.at("bendb") == std::vector<double>{0.30});  // 10
    CHECK(ratios.at("cendc") == std::vector<double>{0.55});  // 9
    CHECK(ratios.at("iendi") == std::vector<double>{0.55});  // 3
    CHECK_FALSE(ratios.contains("jendj"));                   // 2
}

TEST_CASE("a message is rewritten once per tier, and ends with the old tier's share of its words", "[token_saving]") {
    const auto storage = memory_storage();
    const Agent agent(words_only(), {.storage = storage});
    Conversation<> c = asked();
    std::vector<std::string> seen;
    for (int call = 0; call < 20; ++call) {
        run(agent, c, 1);
        if (seen.empty() || seen.back() != text_at(c, 2)) seen.push_back(text_at(c, 2));
    }
    REQUIRE(seen.size() == 3);  // as it came, mid, old
    CHECK(reason_at(c, 2) == "words_mid+words_old");
    CHECK(storage->get("conv/token_saving_words/c1") == seen[0]);
    const auto count = [](const std::string& text) { return static_cast<double>(split_words(text).size()); };
    const std::vector<Word> words = split_words(seen[0]);
    const auto plain = static_cast<double>(std::ranges::count(words, Word::Kind::plain, &Word::kind));
    const auto share = [&](std::size_t i) { return (count(seen[i]) - (count(seen[0]) - plain)) / plain; };
    CHECK(std::abs(share(1) - 0.55) <= 0.03);
    CHECK(std::abs(share(2) - 0.30) <= 0.03);
    CHECK(lost(seen[0], seen[2]) == Found{});
    while (c.undo()) {
    }
    CHECK(text_at(c, 2) == seen[0]);
}

TEST_CASE("tool arguments, thinking, user messages and the system text are not touched", "[token_saving]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::system(prose(1)));
    c.push_back(ChatMessage::user(prose(2)));
    ChatMessage reply{Role::assistant, {{.kind = PartKind::thinking, .text = prose(3)}, {.text = prose(4)}}};
    reply.call("c1", "run", R"({"text": "the words that are in the call"})");
    c.push_back(reply);
    c.push_back(ChatMessage::result("c1", "run", prose(5)));
    for (int i = 0; i < 12; ++i) add_step(c, "ok");
    c.push_back(ChatMessage::user("go on"));
    const std::vector<ChatMessage> before(c.messages().begin(), c.messages().end());
    Agent(words_only()).chain.before_model(c);
    CHECK(c.messages()[0] == before[0]);
    CHECK(c.messages()[1] == before[1]);
    CHECK(c.messages()[2].parts[0] == before[2].parts[0]);
    CHECK(c.messages()[2].parts[1] != before[2].parts[1]);
    CHECK(c.messages()[2].parts[2] == before[2].parts[2]);
    CHECK(c.messages()[3] != before[3]);
}

TEST_CASE("without a classifier, or switched off, no word is touched", "[token_saving]") {
    TokenSavingConfig config = words_only();
    if (GENERATE(false, true)) {
        config.enable_perplexity_compression = false;
    } else {
        config.perplexity_classifier = {};
    }
    const Agent agent(config);
    Conversation<> c = asked();
    run(agent, c, 15);
    CHECK(c.journal().empty());
    CHECK(text_at(c, 2) == prose(0));
}

TEST_CASE("a batch that frees less than the minimum is postponed, and asks no classifier twice", "[token_saving]") {
    int calls = 0;
    TokenSavingConfig config = words_only(RatioWordClassifier([&](Words words, double ratio) {
        ++calls;
        return heuristic_classifier(words, ratio);
    }));
    config.minimum_gain_tokens = 300;
    const Agent agent(config, {.explain = true});
    Conversation<> c = asked();
    std::vector<std::size_t> changed_at;
    for (int i = 0; i < 9; ++i) {
        const std::size_t before = c.journal().size();
        run(agent, c, 1);
        if (c.journal().size() != before) changed_at.push_back(static_cast<std::size_t>(c.model_calls()));
        if (c.model_calls() == 4) CHECK(c.report().find("token_saving")->outcome == Outcome::too_small);
    }
    REQUIRE(changed_at.size() >= 2);
    CHECK(changed_at[0] > 4);
    CHECK(changed_at[1] > changed_at[0] + 1);
    const TokenSavingStats stats = agent.stage->stats();
    CHECK(stats.perplexity_cache_hits > 0);
    const auto texts = 2 * (c.model_calls() - 3);  // thoughts and results that were old enough
    const auto windows_each = static_cast<int>((split_words(prose(0)).size() + 49) / 50);
    CHECK(calls == texts * windows_each);
}

TEST_CASE("both levers and their stats: what was cut loses words later, the marker stays", "[token_saving]") {
    TokenSavingConfig config = words_only();
    config.enable_compression = true;
    const Agent agent(config, {.storage = memory_storage()});
    Conversation<> c = asked();
    add_step(c, prose(1, 60));
    for (int i = 0; i < 12; ++i) {
        agent.chain.before_model(c);
        add_step(c, "ok");
    }
    agent.chain.before_model(c);
    CHECK(reason_at(c, 2) == "head_tail+words_mid+words_old");
    const std::string text = text_at(c, 2);
    CHECK(text.find("chars truncated. Full text: conv/token_saving/c1 ...]\n") != std::string::npos);
    const TokenSavingStats stats = agent.stage->stats();
    CHECK(stats.compressions == 1);
    CHECK(stats.perplexity_compressions == 2);
    CHECK(stats.chars_saved + stats.perplexity_chars_saved ==
          count_code_points(prose(1, 60)) - count_code_points(text));
    REQUIRE(c.undo());
}

TEST_CASE("what lost its middle and words in one batch stays cut when it loses more, and keeps the old share",
          "[token_saving]") {
    TokenSavingConfig config = words_only();
    config.enable_compression = true;
    config.batch_calls = 10;
    const Agent agent(config, {.storage = memory_storage()});
    Conversation<> c = asked();
    add_step(c, prose(1, 60));
    for (int i = 0; i < 9; ++i) add_step(c, "ok");
    agent.chain.before_model(c);
    REQUIRE(reason_at(c, 2) == "head_tail+words_mid");
    for (int i = 0; i < 10; ++i) add_step(c, "ok");
    agent.chain.before_model(c);
    CHECK(reason_at(c, 2) == "head_tail+words_mid+words_old");
    const auto cut = cut_to_head_and_tail(prose(1, 60), 1'800, 900, 700, {.location = "conv/token_saving/c1"});
    CHECK(text_at(c, 2) == compress_words(cut.value(), WordScorer(heuristic_scores), 0.30));
    while (c.undo()) {
    }
    CHECK(text_at(c, 2) == prose(1, 60));
}

TEST_CASE("where the store lost the original, the old tier goes on from what the mid one left", "[token_saving]") {
    const auto storage = memory_storage();
    const Agent agent(words_only(), {.storage = storage});
    Conversation<> c = asked();
    add_step(c, prose(1));
    for (int i = 0; i < 3; ++i) add_step(c, "ok");
    agent.chain.before_model(c);
    const std::string mid = text_at(c, 2);
    REQUIRE(storage->remove("conv/token_saving_words/c1"));
    for (int i = 0; i < 8; ++i) add_step(c, "ok");
    const Report& report = agent.chain.before_model(c);
    CHECK(report.find("token_saving")->outcome == Outcome::committed);
    CHECK(report.find("token_saving")->details->error.find("conv/token_saving_words/c1") != std::string::npos);
    CHECK(text_at(c, 2).size() < mid.size());
    CHECK(lost(mid, text_at(c, 2)) == Found{});
}

TEST_CASE("postponed words keep nothing else from being cut in the same batch", "[token_saving]") {
    TokenSavingConfig config = words_only();
    config.enable_compression = true;
    config.minimum_gain_tokens = 1 << 30;
    const Agent agent(config);
    Conversation<> c = asked();
    for (int i = 0; i < 6; ++i) add_step(c, prose(1, 60));
    agent.chain.before_model(c);
    for (const std::size_t i : {2u, 4u, 6u, 8u}) CHECK(text_at(c, i) == compress_tool_output(prose(1, 60)));
    CHECK(agent.stage->stats().compressions == 4);
    CHECK(agent.stage->stats().perplexity_compressions == 0);
}

TEST_CASE("a store that fails leaves the words, the next call tries again", "[token_saving]") {
    const auto faulty = std::make_shared<FaultyStorage>(memory_storage(), 2);
    const Agent agent(words_only(), {.storage = faulty});
    Conversation<> c = asked();
    for (int i = 0; i < 4; ++i) add_step(c, prose(i));
    agent.chain.before_model(c);
    CHECK(text_at(c, 2) == prose(0));
    CHECK(agent.stage->stats().perplexity_compressions == 0);
    agent.chain.before_model(c);
    CHECK(text_at(c, 2) != prose(0));
    CHECK(agent.stage->stats().perplexity_compressions == 1);
}

TEST_CASE("a failing classifier is reported, the heuristic does the work", "[token_saving]") {
    const Agent agent(words_only(WordClassifier([](Words) -> std::vector<bool> { throw std::runtime_error("quota"); })),
                      {.on_error = OnError::propagate});
    Conversation<> c = asked();
    for (int i = 0; i < 4; ++i) add_step(c, prose(i));
    const Report& report = agent.chain.before_model(c);
    CHECK(report.find("token_saving")->outcome == Outcome::committed);
    CHECK(report.find("token_saving")->details->error.find("quota") != std::string::npos);
    CHECK(text_at(c, 2) != prose(0));
}

TEST_CASE("the frequency scorer works on the conversation it is in", "[token_saving]") {
    const Agent agent(words_only(frequency_scorer()));
    Conversation<> c = asked();
    run(agent, c, 5);
    CHECK(text_at(c, 2).size() < prose(0).size());
    CHECK(agent.chain.before_model(c).find("token_saving")->details == nullptr);
}

TEST_CASE("stats can be read while a run goes on", "[token_saving]") {
    const Agent agent(words_only());
    std::atomic<bool> done{false};
    std::thread reader([&] {
        std::int64_t last = 0;
        while (!done) {
            const TokenSavingStats stats = agent.stage->stats();
            if (stats.perplexity_compressions < last) std::terminate();
            last = stats.perplexity_compressions + agent.stage->stats("conv").replacements_emitted * 0;
        }
    });
    Conversation<> c = asked();
    run(agent, c, 15);
    done = true;
    reader.join();
    CHECK(agent.stage->stats().perplexity_compressions > 0);
    CHECK(agent.stage->stats("conv") == agent.stage->stats());
}

TEST_CASE("the prefix that stays ends at the oldest text that a lever may still take", "[token_saving]") {
    const Agent agent(TokenSavingConfig{});
    Conversation<> c = asked();
    add_step(c, "short");
    CHECK(agent.chain.count_stable_messages(c) == c.size());
    add_step(c, std::string(5'000, 'x'));
    CHECK(agent.chain.count_stable_messages(c) == 4);
}

namespace {

using openai::Message;

std::vector<Trajectory<>> recorded(const std::string& name, std::size_t most) {
    std::vector<Trajectory<>> all;
    const auto file = std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories" / name;
    if (!std::filesystem::is_regular_file(file)) return all;
    read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
        if (all.size() < most) all.push_back(std::move(trajectory));
    });
    return all;
}

/// How often the text of a message changed, by its serial.
using Changes = std::map<Serial, int>;

struct Watch {
    std::map<Serial, std::pair<Hash128, std::vector<Part>>> seen{};
    Changes changes{};
    Found lost_things{};

    void look(const Conversation<Message>& c) {
        for (std::size_t i = 0; i < c.size(); ++i) {
            const MessageInfo& info = c.outline()[i];
            auto [entry, is_new] = seen.try_emplace(info.serial, info.fingerprint, parts_of(c.messages()[i]));
            if (is_new || entry->second.first == info.fingerprint) continue;
            const std::vector<Part> now = parts_of(c.messages()[i]);
            for (std::size_t p = 0; p < now.size(); ++p)
                for (std::string& item : lost(entry->second.second[p].text, now[p].text))
                    lost_things.push_back(std::move(item));
            entry->second.first = info.fingerprint;
            ++changes[info.serial];
        }
    }
};

}  // namespace

TEST_CASE("in replay a message changes at most once per tier, in batches, and loses nothing that matters",
          "[token_saving][data]") {
    const auto sessions = recorded("coding_sweagent_demos.jsonl", 30);
    if (sessions.empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    TokenSavingConfig config = words_only();
    config.batch_calls = 5;
    const Chain<Message> chain{ChainConfig{}, TokenSaving<Message>{config}};
    int edited = 0;
    for (const Trajectory<>& session : sessions) {
        Watch watch;
        ReplayOptions<Message> options;
        options.on_request = [&](const ReplayRequest<Message>& request) { watch.look(request.conversation); };
        const ReplayTotals totals = replay<Message>(
            {session.id, session.system, session.tools, session.messages, session.seconds_since_first}, chain, options);
        CAPTURE(session.id);
        CHECK(totals.commits <= totals.calls / 5);
        CHECK(totals.violations.empty());
        CHECK(totals.failed_hooks == 0);
        CHECK(totals.not_undone == 0);
        CHECK(std::ranges::all_of(watch.changes, [](const auto& change) { return change.second <= 2; }));
        CHECK(watch.lost_things == Found{});
        edited += watch.changes.empty() ? 0 : 1;
    }
    CHECK(edited > 10);
}

TEST_CASE("in replay head and tail cut each result once", "[token_saving][data]") {
    const auto sessions = recorded("web_research_webdancer.jsonl", 30);
    if (sessions.empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    for (const SavingTime when : {SavingTime::batched, SavingTime::on_arrival}) {
        TokenSavingConfig config;
        config.batch_calls = 2;
        config.when = when;
        const Chain<Message> chain{ChainConfig{.storage = memory_storage()}, TokenSaving<Message>{config}};
        std::int64_t raw = 0;
        std::int64_t sent = 0;
        for (const Trajectory<>& session : sessions) {
            Watch watch;
            ReplayOptions<Message> options;
            options.on_request = [&](const ReplayRequest<Message>& request) { watch.look(request.conversation); };
            const ReplayTotals totals = replay<Message>(
                {session.id, session.system, session.tools, session.messages, session.seconds_since_first}, chain,
                options);
            CAPTURE(session.id);
            CHECK(totals.violations.empty());
            CHECK(totals.not_undone == 0);
            const int most = when == SavingTime::batched ? 1 : 0;
            CHECK(std::ranges::all_of(watch.changes, [&](const auto& change) { return change.second <= most; }));
            raw += totals.raw.input;
            sent += totals.sent.input;
        }
        CHECK((when == SavingTime::batched ? sent <= raw : sent < raw));
    }
}
