// What summaries hand on to the summaries that fold them again.
#include "support/catch.hpp"
#include "talk.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/summarization/summarization.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using M = ChatMessage;
using Texts = std::vector<std::string>;

/// A conversation that grows by whole turns, and a chain that folds it above 3,000 tokens.
struct Talk {
    explicit Talk(SummarizationConfig config, std::string answer = "<summary>THE GIST</summary>",
                  SummarizationCallbacks<M> callbacks = {}, ChainCallbacks<M> chain_callbacks = {})
        : model(std::make_shared<Summarizer<M>>(std::move(answer))),
          chain({}, std::move(chain_callbacks), Summarization<M>{model, std::move(config), std::move(callbacks)}) {
        push_all(c, {M::system("SYSTEM TEXT")});
    }

    void turn(const std::string& wish, std::size_t bytes = 14'000) {
        const std::string id = "c" + std::to_string(c.size()) + "_" + std::to_string(model->asked.size());
        push_all(c, {M::user(wish), M::assistant().call(id, "read", "{}"),
                     M::result(id, "read", std::string(bytes, 'x')), M::assistant("done")});
    }
    void skill(const std::string& name, const std::string& content) {
        push_all(c, {M::assistant().call("s_" + name, "skill", R"({"skill":")" + name + "\"}"),
                     M::result("s_" + name, "skill", content), M::assistant("loaded")});
    }
    const StageReport& ask() { return chain.before_model(c).stages.at(0); }
    bool folds() { return ask().outcome == Outcome::committed; }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::string& text : texts_of<M>(c.messages())) all += text + "\n";
        return all;
    }
    [[nodiscard]] bool has(std::string_view words) const { return text().find(words) != std::string::npos; }

    std::shared_ptr<Summarizer<M>> model;
    Chain<M> chain;
    Conversation<M> c{"carried"};
};

SummarizationConfig without_user_messages() {
    SummarizationConfig config = small_trigger();
    config.preserve_user_messages.enabled = false;
    return config;
}

ChainConfig plain_chain() { return {}; }

template <ToolMessage T>
void expect_one_system_summary() {
    INFO(Builder<T>::name);
    SummarizationConfig config = small_trigger();
    config.summary_role = SummaryRole::system;
    const auto model = std::make_shared<Summarizer<T>>(good_summary());
    const typename Chain<T>::Stages stages{std::make_shared<Summarization<T>>(model, config)};
    const Chain<T> chain(plain_chain(), stages);
    Conversation<T> c("conv");
    for (int i = 1; i <= 4; ++i) {
        History history = long_talk(1, 4, 3'000);
        if (i > 1) history.erase(history.begin());
        push_all(c, history);
        CHECK(chain.before_model(c).stages.at(0).outcome == Outcome::committed);
        CHECK(count_of(c, Origin::summary) == 1);
    }
    const std::size_t size = c.size();
    CHECK(chain.count_stable_messages(c) < size);
    while (c.undo()) {
    }
    CHECK(count_of(c, Origin::summary) == 0);
}

}  // namespace

TEST_CASE("a summary in the system role is folded by the next one, on each message type", "[summarization]") {
    expect_one_system_summary<ChatMessage>();
    expect_one_system_summary<openai::Message>();
    expect_one_system_summary<anthropic::Message>();
}

TEST_CASE("system text of the user, and a system summary of somebody else, stay", "[summarization]") {
    SummarizationConfig config = small_trigger();
    config.summary_role = SummaryRole::system;
    Talk talk(config);
    push_all(talk.c, {M::system("LATER SYSTEM TEXT"), M::system("SUMMARY OF ANOTHER")});
    talk.c.mark(2, {.origin = Origin::summary, .by = "another", .reason = "summary"});
    for (int i = 0; i < 3; ++i) {
        talk.turn("wish " + std::to_string(i));
        CHECK(talk.folds());
    }
    CHECK(talk.has("LATER SYSTEM TEXT"));
    CHECK(talk.has("SUMMARY OF ANOTHER"));
    CHECK(count_of(talk.c, Origin::summary) == 2);
}

TEST_CASE("the default finalizer keeps one summary in the system role", "[summarization]") {
    SummarizationConfig config = small_trigger();
    config.summary_role = SummaryRole::system;
    SummarizationCallbacks<M> callbacks;
    callbacks.finalize = [](const FinalizeContext& context, std::span<const M> originals, const M& summary) {
        std::vector<M> made = default_finalizer<M>()(context, originals, summary);
        made.push_back(originals.back());
        return made;
    };
    Talk talk(config, "<summary>THE GIST</summary>", callbacks);
    for (int i = 0; i < 3; ++i) {
        talk.turn("wish " + std::to_string(i));
        if (i == 0) push_all(talk.c, {M::system("LATER SYSTEM TEXT")});
        push_all(talk.c, {M::user("on")});
        CHECK(talk.folds());
        CHECK(talk.has("LATER SYSTEM TEXT"));
        CHECK(talk.has("SYSTEM TEXT"));
        CHECK(count_of(talk.c, Origin::summary) == 1);
    }
    CHECK(talk.has("- wish 0\n"));
}

TEST_CASE("a user's constraint and a written path stay over five summaries, byte for byte", "[summarization]") {
    for (const bool says_it_once : {false, true}) {
        Talk talk(without_user_messages(), says_it_once
                                               ? "The user must never touch the production database; see it in "
                                                 "src/deep/settled.hpp"
                                               : "THE GIST");
        const std::string constraint = "- the user asked: You must never touch <summary> of \"prod\".\n";
        talk.turn("You must never touch <summary> of \"prod\".", 100);
        push_all(talk.c, {M::assistant().call("w", "write_file", R"({"path":"src/made.cpp","text":"x"})"),
                          M::result("w", "write_file", "ok"), M::assistant("written")});
        for (int i = 0; i < 5; ++i) {
            talk.turn("go on " + std::to_string(i));
            REQUIRE(talk.folds());
            CHECK(talk.has("- the user asked: You must never touch &lt;summary> of \"prod\".\n"));
            CHECK(talk.has("- src/made.cpp (written)"));
        }
        CHECK(count_of(talk.c, Origin::summary) == 1);
    }
}

TEST_CASE("what only the first summary said is pinned when the second one leaves it out", "[summarization]") {
    Talk talk(without_user_messages());
    int fold = 0;
    talk.model = std::make_shared<Summarizer<M>>([&](const ModelRequest<M>&, int) {
        return Reply<M>{M::assistant(++fold == 1 ? "You must keep port 8443. See lib/found_by_model.hpp." : "GIST")};
    });
    Chain<M> chain({}, {}, Summarization<M>{talk.model, without_user_messages()});
    talk.turn("You must keep port 8443.", 100);
    for (int i = 0; i < 3; ++i) {
        talk.turn("go on " + std::to_string(i));
        REQUIRE(chain.before_model(talk.c).stages.at(0).outcome == Outcome::committed);
        CHECK(talk.has("You must keep port 8443."));
        CHECK(talk.has("lib/found_by_model.hpp"));
        CHECK(talk.has("- the user asked: ") == (i > 0));
    }
}

TEST_CASE("a fork still knows the facts", "[summarization]") {
    Talk talk(without_user_messages());
    talk.turn("You must never touch the production database.", 100);
    talk.turn("go on 1");
    REQUIRE(talk.folds());
    talk.turn("go on 2");
    REQUIRE(talk.folds());
    talk.c = talk.c.fork("copy");
    talk.turn("go on 3");
    REQUIRE(talk.folds());
    CHECK(talk.has("- the user asked: You must never touch the production database.\n"));
}

TEST_CASE("our own markup and the transcript's path never become facts", "[summarization]") {
    SummarizationConfig config = small_trigger();
    config.transcript_file_path = "/var/log/agent/transcript_of_it.jsonl";
    Talk talk(config, good_summary());
    for (int i = 0; i < 3; ++i) {
        talk.turn("look at src/real.cpp, part " + std::to_string(i));
        REQUIRE(talk.folds());
        CHECK_FALSE(talk.has("- /all_user_messages"));
        CHECK_FALSE(talk.has("- /var/log/agent/transcript_of_it.jsonl"));
        CHECK_FALSE(talk.has("- /summary"));
        const std::string text = talk.text();
        CHECK(text.find("transcript_of_it") == text.rfind("transcript_of_it"));
    }
}

TEST_CASE("a skill that found no room is older than those beside it", "[summarization]") {
    SummarizationConfig config = small_trigger();
    config.preserve_skills.max_skills = 2;
    config.preserve_user_messages.enabled = false;
    Talk talk(config);
    talk.skill("A", "AAAA " + std::string(10'000, 'a'));
    talk.skill("B", "BBBB " + std::string(3'000, 'b'));
    talk.turn("one");
    REQUIRE(talk.folds());
    REQUIRE(talk.has("BBBB"));
    REQUIRE_FALSE(talk.has("AAAA"));  // carried only
    talk.skill("C", "CCCC " + std::string(100, 'c'));
    talk.turn("two");
    REQUIRE(talk.folds());
    CHECK(talk.has("BBBB"));
    CHECK(talk.has("CCCC"));
    CHECK_FALSE(talk.has("AAAA"));
}

TEST_CASE("a condition that no summary can help does not block the other one", "[summarization]") {
    const auto open_round = [](Talk& talk) {
        M calls = M::assistant();
        for (int i = 0; i < 9; ++i) calls.call("o" + std::to_string(i), "read", "{}");
        push_all(talk.c, {std::move(calls)});
        for (int i = 0; i < 9; ++i) push_all(talk.c, {M::result("o" + std::to_string(i), "read", "short")});
    };
    SummarizationConfig by_tokens{.trigger = {.context_tokens = 6'000, .context_messages = 8}, .keep_recent_tokens = 0};
    Talk tokens_help(by_tokens);
    tokens_help.turn("a", 30'000);
    push_all(tokens_help.c, {M::user("read nine files")});
    open_round(tokens_help);
    CHECK(tokens_help.folds());
    CHECK(tokens_help.c.tokens(chars_counter()) < 6'000);

    SummarizationConfig by_messages{.trigger = {.context_tokens = 1'000, .context_messages = 8},
                                    .keep_recent_tokens = 0};
    Talk messages_help(by_messages);
    messages_help.turn("a", 2'000);
    messages_help.turn("b", 2'000);
    push_all(messages_help.c, {M::user(std::string(8'000, 'u'))});
    CHECK(messages_help.folds());
    CHECK(messages_help.c.size() <= 8);

    Talk nothing_helps({.trigger = {.context_tokens = 1'000, .context_messages = 8}, .keep_recent_tokens = 0});
    nothing_helps.turn("a", 2'000);
    push_all(nothing_helps.c, {M::user(std::string(8'000, 'u'))});
    open_round(nothing_helps);
    CHECK(nothing_helps.ask().outcome == Outcome::nothing);
    CHECK(nothing_helps.model->asked.empty());
}

TEST_CASE("a finalizer that changes nothing is a failure", "[summarization]") {
    SummarizationCallbacks<M> callbacks;
    callbacks.finalize = [](const FinalizeContext&, std::span<const M> originals, const M&) {
        return std::vector<M>(originals.begin(), originals.end());
    };
    Talk talk(small_trigger(), "GIST", callbacks);
    talk.turn("one");
    const StageReport& report = talk.ask();
    CHECK(report.outcome == Outcome::failed);
    CHECK(report.details->error.find("finalize: it gave the same list back") != std::string::npos);
    CHECK(talk.c.journal().empty());
}

TEST_CASE("without another new message a finalizer's system text carries the user's messages; without any it is told",
          "[summarization]") {
    Texts told;
    ChainCallbacks<M> chain_callbacks;
    chain_callbacks.on_event = [&](const Event& event) {
        if (event.kind == "nothing_carries") told.emplace_back(event.text);
    };
    SummarizationCallbacks<M> callbacks;
    callbacks.finalize = [](const FinalizeContext&, std::span<const M> originals, const M& summary) {
        return std::vector{originals[0], M::system("so far: " + text_of(summary)), originals.back()};
    };
    Talk talk(small_trigger(), "GIST", callbacks, chain_callbacks);
    talk.turn("one");
    push_all(talk.c, {M::user("two")});
    REQUIRE(talk.folds());
    REQUIRE(talk.c.size() == 3);
    REQUIRE(talk.c.outline()[1].mark);
    CHECK(talk.c.outline()[1].mark->verbatim_user_messages == Texts{"one"});
    CHECK(told.empty());

    callbacks.finalize = [](const FinalizeContext&, std::span<const M> originals, const M&) {
        return std::vector{originals[0], originals.back()};
    };
    Talk losing(small_trigger(), "GIST", callbacks, chain_callbacks);
    losing.turn("one");
    push_all(losing.c, {M::user("two")});
    REQUIRE(losing.folds());
    REQUIRE(told.size() == 1);
    CHECK(told[0].find("1 user messages and 0 skills") != std::string::npos);
}

namespace {

/// `chars` under another name, which tells how often it was asked.
class Watched final : public TokenCounter {
public:
    [[nodiscard]] std::string_view id() const noexcept override { return "watched"; }
    [[nodiscard]] std::int64_t measure_units(std::string_view text) const override {
        ++asked;
        return chars_counter()->measure_units(text);
    }
    [[nodiscard]] std::int64_t to_tokens(std::int64_t units) const noexcept override {
        return chars_counter()->to_tokens(units);
    }

    mutable int asked = 0;
};

}  // namespace

TEST_CASE("a hook under a floor that is too high counts only what is new", "[summarization]") {
    const auto counter = std::make_shared<Watched>();
    ChainConfig config;
    config.token_counter = counter;
    const Chain<M> chain(config, {}, Summarization<M>{std::make_shared<Summarizer<M>>("GIST"), small_trigger()});
    Conversation<M> c("conv");
    push_all(c, long_talk(20, 4, 100));
    push_all(c, {M::user(std::string(20'000, 'u'))});
    CHECK(chain.before_model(c).stages.at(0).outcome == Outcome::nothing);
    CHECK(counter->asked >= static_cast<int>(c.size()));
    counter->asked = 0;
    CHECK(chain.before_model(c).stages.at(0).outcome == Outcome::cooling_down);
    CHECK(counter->asked < 10);
}

TEST_CASE("a part summary of half the room goes into the next request whole", "[summarization]") {
    const auto render = [](std::size_t) {
        return std::vector<SummaryEntry>{{.label = "<message", .body = std::string(40'000, 'm')}};
    };
    const auto counter = chars_counter();
    SummaryRequests requests(ChunkPlanner({{.serial = 1}, {.serial = 2}}, render, *counter), *counter, {});
    const std::string so_far = std::string(10'000, 'a') + "MIDDLE" + std::string(10'000, 'b');  // 5,000 tokens
    const auto whole = requests.build({.message = 1}, so_far, 10'000);
    REQUIRE(whole);
    CHECK(whole->data.find(so_far) != std::string::npos);
    const auto cut = requests.build({.message = 1}, so_far, 6'000);
    REQUIRE(cut);
    CHECK(cut->data.find(so_far) == std::string::npos);
}
