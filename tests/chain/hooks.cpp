#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/model/scripted_model.hpp"

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

using whittle::testing::errc_of;
using namespace whittle;

namespace {

using Log = std::vector<std::string>;

class Logger final : public Middleware<> {
public:
    Logger(std::string name, Log& log) : name_(std::move(name)), log_(log) {}
    std::string_view name() const noexcept override { return name_; }
    void before_agent(Turn<>&) override { log_.push_back("before_agent " + name_); }
    void before_model(Turn<>&) override { log_.push_back("before_model " + name_); }
    void after_model(Turn<>&) override { log_.push_back("after_model " + name_); }
    void after_agent(Turn<>&, RunOutcome) override { log_.push_back("after_agent " + name_); }
    Reply<ChatMessage> wrap_model(const ModelRequest<ChatMessage>& request,
                                  const ModelNext<ChatMessage>& next) override {
        log_.push_back("enter " + name_);
        auto reply = next(request);
        log_.push_back("leave " + name_);
        return reply;
    }

private:
    std::string name_;
    Log& log_;
};

/// Runs a function as its before_model.
class Doing final : public Middleware<> {
public:
    explicit Doing(std::function<void(Turn<>&)> work, std::string name = "doing")
        : work_(std::move(work)), name_(std::move(name)) {}
    std::string_view name() const noexcept override { return name_; }
    void before_model(Turn<>& turn) override { work_(turn); }

private:
    std::function<void(Turn<>&)> work_;
    std::string name_;
};

Conversation<> two_turns() {
    Conversation<> c("hooks");
    c.push_back(ChatMessage::user("first " + std::string(400, 'x')));
    c.push_back(ChatMessage::assistant("answer " + std::string(400, 'y')));
    c.push_back(ChatMessage::user("second"));
    return c;
}

}  // namespace

TEST_CASE("before-hooks run in order, after-hooks in reverse, wraps nest", "[chain]") {
    Log log;
    const Chain chain{ChainConfig{}, Logger("m1", log), Logger("m2", log), Logger("m3", log)};
    Conversation<> c = two_turns();
    ScriptedModel<ChatMessage> model(std::vector{ChatMessage::assistant("hi")});
    chain.before_agent(c);
    chain.before_model(c);
    (void)chain.generate(model, {.messages = c.messages()});
    chain.after_model(c);
    chain.after_agent(c, RunOutcome::answered);
    CHECK(log == Log{"before_agent m1", "before_agent m2", "before_agent m3", "before_model m1", "before_model m2",
                     "before_model m3", "enter m1", "enter m2", "enter m3", "leave m3", "leave m2", "leave m1",
                     "after_model m3", "after_model m2", "after_model m1", "after_agent m3", "after_agent m2",
                     "after_agent m1"});
}

TEST_CASE("an edited message stays in its place under its serial", "[chain]") {
    Conversation<> c = two_turns();
    const Chain chain{ChainConfig{}, Doing([](Turn<>& turn) {
                          auto edit = turn.edit();
                          edit.set_text(1, 0, "short", {.origin = Origin::placeholder, .reason = "test"});
                          edit.commit();
                      })};
    chain.before_model(c);
    REQUIRE(c.size() == 3);
    CHECK(c.messages()[1] == ChatMessage::assistant("short"));
    CHECK(c.outline()[1].serial == 2);
    CHECK(c.report().find("doing")->details->first_changed == 1);
}

TEST_CASE("a report names its conversation", "[chain]") {
    std::string told;
    const Chain chain{ChainConfig{},
                      ChainCallbacks<>{.on_report = [&told](const Report& report) { told = report.conversation; }},
                      Doing([](Turn<>&) {})};
    Conversation<> c("book");
    c.push_back(ChatMessage::user("hello"));
    chain.before_model(c);
    CHECK(told == "book");
    CHECK(c.report().conversation == told);
}

TEST_CASE("an edit of a message that is not there is an error and changes nothing", "[chain]") {
    Conversation<> c = two_turns();
    auto edit = c.edit("test");
    CHECK(errc_of([&] { edit.erase(3, {}); }) == Errc::invalid_argument);
    CHECK(edit.messages().size() == 3);
    CHECK(errc_of([&] { c.restore_and_pin(99); }) == Errc::not_found);
}

TEST_CASE("a plan made before a pin or a new message does not go through", "[chain]") {
    Conversation<> c = two_turns();
    auto edit = c.edit("test");
    edit.set_text(1, 0, "short", {.reason = "test"});
    SECTION("pin") { CHECK(c.pin(2)); }
    SECTION("message") { c.push_back(ChatMessage::user("third")); }
    SECTION("mark") { c.mark(0, {.origin = Origin::summary}); }
    CHECK(errc_of([&] { edit.commit(); }) == Errc::conflict);
    CHECK(errc_of([&] { edit.set_text(1, 0, "shorter", {}); }) == Errc::conflict);
    CHECK(c.journal().empty());
}

TEST_CASE("what is pinned, system, newest user or open cannot be edited", "[chain]") {
    Conversation<> c("pins");
    c.push_back(ChatMessage::system("rules"));
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("an old answer"));
    c.push_back(ChatMessage::user("do more"));
    c.push_back(ChatMessage::assistant("").call("c1", "ls"));
    c.push_back(ChatMessage::result("c1", "ls", "out"));
    auto edit = c.edit("test");
    for (const std::size_t kept : {0u, 3u, 4u, 5u}) CHECK(errc_of([&] { edit.erase(kept, {}); }) == Errc::pinned);
    edit.erase(2, {.reason = "test"});
    CHECK(edit.commit().committed());
}

TEST_CASE("a commit that would break a rule is refused, and one that does not save is not made", "[chain]") {
    Conversation<> c("rules");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("c1", "ls"));
    c.push_back(ChatMessage::result("c1", "ls", std::string(100, 'x')));
    c.push_back(ChatMessage::assistant("done"));
    c.push_back(ChatMessage::user("thanks"));
    auto orphan = c.edit("test");
    orphan.erase(1, {.reason = "test"});
    CHECK(errc_of([&] { orphan.commit({.require_token_reduction = false}); }) == Errc::invalid_history);
    auto longer = c.edit("test");
    longer.set_text(3, 0, std::string(100, 'y'), {.reason = "test"});
    CHECK(longer.commit().outcome == Outcome::too_small);
    CHECK(longer.commit({.require_token_reduction = false}).committed());
}

TEST_CASE("a replaced call takes its results along", "[chain]") {
    Conversation<> c("regroup");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("long " + std::string(100, 'x')).call("c1", "ls"));
    c.push_back(ChatMessage::result("c1", "ls", "out"));
    c.push_back(ChatMessage::user("thanks"));
    c.push_back(ChatMessage::assistant("welcome"));
    auto edit = c.edit("test");
    edit.replace_range(1, 2, {ChatMessage::assistant("short").call("c1", "ls")}, {.reason = "test"});
    REQUIRE(edit.commit().committed());
    REQUIRE(c.outline().rounds().size() == 1);
    CHECK(c.outline().rounds()[0].results == std::vector<std::size_t>{2});
    CHECK(c.outline()[2].serial == 3);
}

TEST_CASE("erasing a part leaves a user message one of the user, with the references of what went", "[chain]") {
    Conversation<> c("erase");
    ChatMessage picture = ChatMessage::user("look");
    picture.parts.push_back({.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "PNG"}});
    c.push_back(picture);
    c.push_back(ChatMessage::assistant("nice"));
    c.push_back(ChatMessage::user("and?"));
    auto edit = c.edit("test");
    edit.erase_part(0, 1, {.origin = Origin::placeholder, .reason = "strip", .stored_keys = {"k"}});
    REQUIRE(edit.commit().committed());
    CHECK(is_original_user_message(c.outline()[0]));
    CHECK(c.outline()[0].mark->stored_keys == std::vector<std::string>{"k"});
}

TEST_CASE("under skip a failing middleware is reported and the next one runs", "[chain]") {
    Conversation<> c = two_turns();
    bool ran = false;
    const Chain chain{ChainConfig{}, Doing([](Turn<>&) { throw 42; }, "bad"),
                      Doing([&](Turn<>&) { ran = true; }, "good")};
    const Report& report = chain.before_model(c);
    CHECK(report.find("bad")->outcome == Outcome::failed);
    CHECK(report.find("bad")->details->error == "an exception that is no std::exception");
    CHECK(ran);
}

TEST_CASE("the report of a failed middleware starts with its error and names no cut", "[chain]") {
    Conversation<> c = two_turns();
    const auto cut_and_fail = [](Turn<>& turn) {
        turn.report.ensure_details().candidates = {{2, 0, true, "oldest", 100}, {3, 0, false, "newest_user", 0}};
        auto edit = turn.edit();
        edit.erase(1, {.reason = "test"});
        edit.commit();
        edit.set_text(2, 0, "not allowed", {.origin = Origin::placeholder, .reason = "test"});
    };
    const Report& report = Chain{ChainConfig{}, Doing(cut_and_fail, "bad")}.before_model(c);
    CHECK(c.size() == 3);
    CHECK_FALSE(report.changed());
    const std::string text = to_text(report);
    const std::size_t title = text.find("bad: failed");
    REQUIRE(title != std::string::npos);
    CHECK(text.find("    error: ", title) == text.find('\n', title) + 1);
    CHECK(text.find("cut") == std::string::npos);
    CHECK(text.find("first change") == std::string::npos);
    CHECK(text.find("serial 2 part 0: kept (failed)\n") != std::string::npos);
    CHECK(text.find("serial 3 part 0: kept (newest_user)\n") != std::string::npos);
}

TEST_CASE("under propagate an error takes back what earlier middlewares committed, and the report says so of each",
          "[chain]") {
    Conversation<> c = two_turns();
    const auto erase = [](Turn<>& turn) {
        auto edit = turn.edit();
        edit.erase(1, {.reason = "test"});
        edit.commit();
    };
    const Chain chain{ChainConfig{.on_error = OnError::propagate}, Doing(erase, "first"),
                      Doing([](Turn<>&) { throw std::bad_alloc(); }, "bad")};
    CHECK_THROWS_AS(chain.before_model(c), std::bad_alloc);
    CHECK_FALSE(c.report().changed());
    CHECK(c.report().find("first")->outcome == Outcome::failed);
    CHECK(c.report().find("first")->details->error == "taken back, since \"bad\" failed");
    CHECK(c.report().find("bad")->outcome == Outcome::failed);
    CHECK(c.report().tokens_after == c.report().tokens_before);
    CHECK(c.size() == 3);
    CHECK(c.journal().empty());
    c.push_back(ChatMessage::assistant("the conversation is usable"));
}

TEST_CASE("a counter that throws does not stop an agent under skip", "[chain]") {
    bool is_broken = false;
    const auto counter = counter_from("broken", [&](std::string_view) -> std::int64_t {
        if (is_broken) throw Error(Errc::callback_failed, "counter");
        return 1;
    });
    Conversation<> c = two_turns();
    is_broken = true;
    CHECK_NOTHROW(Chain<>(ChainConfig{.token_counter = counter}).before_model(c));
    CHECK(errc_of([&] {
              Chain<>(ChainConfig{.token_counter = counter, .on_error = OnError::propagate}).before_model(c);
          }) == Errc::callback_failed);
}

TEST_CASE("a middleware that fails around a model call is passed over under skip; the model's own error is not",
          "[chain]") {
    struct Bad final : Middleware<> {
        bool after = false;
        std::string_view name() const noexcept override { return "bad"; }
        Reply<ChatMessage> wrap_model(const ModelRequest<ChatMessage>& request,
                                      const ModelNext<ChatMessage>& next) override {
            if (after) (void)next(request);
            throw Error(Errc::callback_failed, "bad");
        }
    };
    const auto bad = std::make_shared<Bad>();
    bad->after = GENERATE(false, true);
    int calls = 0;
    ScriptedModel<ChatMessage> model([&](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> {
        ++calls;
        return {ChatMessage::assistant("hi")};
    });
    CHECK(Chain<>(ChainConfig{}, {bad}).generate(model, {}).message == ChatMessage::assistant("hi"));
    CHECK(calls == 1);
    CHECK(errc_of([&] { (void)Chain<>(ChainConfig{.on_error = OnError::propagate}, {bad}).generate(model, {}); }) ==
          Errc::callback_failed);
    ScriptedModel<ChatMessage> empty(std::vector<ChatMessage>{});
    CHECK(errc_of([&] { (void)Chain<>(ChainConfig{}, {bad}).generate(empty, {}); }) == Errc::model_failed);
}

TEST_CASE("nothing but transactions changes a conversation inside a hook", "[chain]") {
    Conversation<> c = two_turns();
    const Chain chain{ChainConfig{.on_error = OnError::propagate}, Doing([](Turn<>& turn) {
                          Conversation<>& inner = turn.conversation;
                          CHECK(errc_of([&] { inner.push_back(ChatMessage::user("x")); }) == Errc::invalid_argument);
                          CHECK(errc_of([&] { inner.pin(1); }) == Errc::invalid_argument);
                          CHECK(errc_of([&] { inner.mark(0, {}); }) == Errc::invalid_argument);
                          CHECK(errc_of([&] { inner.undo(); }) == Errc::invalid_argument);
                          CHECK(errc_of([&] { (void)inner.fork("f"); }) == Errc::invalid_argument);
                          CHECK(errc_of([&] { inner.begin_turn(); }) == Errc::invalid_argument);
                          CHECK(errc_of([&] { inner.begin_run(); }) == Errc::invalid_argument);
                      })};
    chain.before_model(c);
    CHECK_NOTHROW(c.fork("f").push_back(ChatMessage::user("x")));
}

TEST_CASE("dry run plans, reports and changes nothing", "[chain]") {
    Conversation<> c = two_turns();
    const auto storage = memory_storage();
    const Chain chain{ChainConfig{.storage = storage, .dry_run = true}, Doing([](Turn<>& turn) {
                          auto edit = turn.edit();
                          edit.erase(1, {.reason = "test"});
                          edit.store_on_commit("k", "content");
                          CHECK(edit.commit().outcome == Outcome::planned);
                      })};
    const StageReport& report = *chain.before_model(c).find("doing");
    CHECK(report.details->tokens_after < report.details->tokens_before);
    CHECK(c.size() == 3);
    CHECK_FALSE(storage->stat("k"));
}

TEST_CASE("limits and a stop end a hook's work before the commit point", "[chain]") {
    Conversation<> c = two_turns();
    const auto storage = memory_storage();
    const auto clock = std::make_shared<ManualClock>();
    StopSource stop;
    const auto work = [&](Turn<>& turn) {
        auto edit = turn.edit();
        edit.erase(1, {.reason = "test"});
        edit.store_on_commit("k", "content");
        edit.commit();
    };
    SECTION("store bytes") {
        const Report& report =
            Chain<>(ChainConfig{.storage = storage, .limits = {.store_bytes = 3}}, {std::make_shared<Doing>(work)})
                .before_model(c);
        CHECK(report.find("doing")->outcome == Outcome::store_failed);
    }
    SECTION("deadline") {
        const auto late = [&](Turn<>& turn) {
            clock->advance(std::chrono::milliseconds(11));
            work(turn);
        };
        const Report& report =
            Chain<>(
                ChainConfig{.storage = storage, .limits = {.deadline = std::chrono::milliseconds(10)}, .clock = clock},
                {std::make_shared<Doing>(late)})
                .before_model(c);
        CHECK(report.find("doing")->outcome == Outcome::failed);
    }
    SECTION("stop") {
        stop.request_stop();
        const Report& report = Chain<>(ChainConfig{.storage = storage}, {std::make_shared<Doing>(work)})
                                   .before_model(c, {.stop = stop.get_token()});
        CHECK(report.find("doing")->outcome == Outcome::failed);
    }
    CHECK(c.size() == 3);
    CHECK_FALSE(storage->stat("k"));
}

TEST_CASE("an overflow is believed even if our own count is below the window", "[chain]") {
    struct Shrinker final : Middleware<> {
        std::string_view name() const noexcept override { return "shrinker"; }
        bool on_overflow(Turn<>& turn, const Overflow&) override {
            auto edit = turn.edit();
            edit.erase(1, {.reason = "test"});
            return edit.commit().committed();
        }
    };
    Conversation<> c = two_turns();
    const Chain chain{ChainConfig{.profile = {.context_window = 1'000'000}}, Shrinker{}};
    CHECK(chain.on_overflow(c, Overflow{}));
    CHECK(c.size() == 2);
    CHECK_THROWS_AS(Chain<>(ChainConfig{.on_error = OnError::propagate}, {std::make_shared<Shrinker>()})
                        .on_overflow(c, {.context_limit_tokens = 500}),
                    Error);
    CHECK(chain.context_window(c) == 500);
    CHECK(c.fork("f").middleware_notes().find("chain", "window") != nullptr);
}

TEST_CASE("a middleware learns in our own tokens what a request too large has to come to", "[chain]") {
    struct Told final : Middleware<> {
        std::int64_t count = 0;
        std::int64_t threshold = 0;
        std::string_view name() const noexcept override { return "told"; }
        bool on_overflow(Turn<>& turn, const Overflow&) override {
            count = turn.report.count;
            threshold = turn.report.threshold;
            return false;
        }
    };
    const auto told = std::make_shared<Told>();
    Conversation<> c = two_turns();
    const std::int64_t ours = c.context(chars_counter(), {}, {}).total;
    const auto overflow = [&](const ChainConfig& config, const Overflow& refused) {
        *told = Told{};
        CHECK_FALSE(Chain<>(config, {told}).on_overflow(c, refused));
    };
    SECTION("the provider counts twice as much") {
        overflow({}, {.context_limit_tokens = ours, .requested_tokens = 2 * ours});
        CHECK(told->threshold == ours / 2);
    }
    SECTION("we count more than the provider") {
        overflow({}, {.context_limit_tokens = ours / 4, .requested_tokens = ours / 2});
        CHECK(told->threshold == ours / 4);
    }
    SECTION("the reply needs room") {
        overflow({.profile = {.output_reserve = ours / 4}},
                 {.context_limit_tokens = ours, .requested_tokens = 2 * ours});
        CHECK(told->threshold == (ours - ours / 4) / 2);
    }
    SECTION("nobody knows the window") {
        overflow({}, {});
        CHECK(told->threshold == ours / 2);
    }
    CHECK(told->count == ours);
}

TEST_CASE("a request that the provider counts below its own limit is left alone", "[chain]") {
    Conversation<> c = two_turns();
    Log log;
    struct Asked final : Middleware<> {
        explicit Asked(Log& to) : log(to) {}
        Log& log;
        std::string_view name() const noexcept override { return "asked"; }
        bool on_overflow(Turn<>&, const Overflow&) override { return log.emplace_back("asked"), false; }
    };
    CHECK_FALSE(Chain<>(ChainConfig{}, {std::make_shared<Asked>(log)})
                    .on_overflow(c, {.context_limit_tokens = 9'000, .requested_tokens = 100}));
    CHECK(log.empty());
}

TEST_CASE("a chain of a list of stages and callbacks deduces its message type", "[chain]") {
    const std::vector<std::shared_ptr<Middleware<ChatMessage>>> stages{};
    const Chain chain(ChainConfig{}, ChainCallbacks<ChatMessage>{}, stages);
    STATIC_REQUIRE(std::is_same_v<decltype(chain), const Chain<ChatMessage>>);
    CHECK(chain.stages().empty());
}

TEST_CASE("every problem of a chain's configuration is named at once", "[chain]") {
    try {
        Chain<>(ChainConfig{.token_counter = nullptr,
                            .profile = {.context_window = -1},
                            .limits = {.deadline = std::chrono::milliseconds(0)}},
                {nullptr});
        FAIL("accepted");
    } catch (const Error& error) {
        const std::string text = error.what();
        for (const char* field : {"token_counter", "profile.context_window", "limits.deadline", "middlewares"}) {
            CAPTURE(field);
            CHECK(text.find(field) != std::string::npos);
        }
    }
}
