// Thinking in transactions, and thinking that a provider binds to everything in front of it.
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/saved/side_table.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

using whittle::testing::errc_of;
using namespace whittle;

namespace {

ChatMessage thinking_call(const std::string& thought, const std::string& id) {
    ChatMessage m{Role::assistant, {{PartKind::thinking, thought}}};
    return m.call(id, "read", R"({"path": "a"})");
}

ChatMessage thinking_answer(const std::string& thought) {
    return {Role::assistant, {{PartKind::thinking, thought}, {PartKind::text, "an answer"}}};
}

/// 0 user, 1 thinks and calls, 2 result, 3 thinks and answers, 4 user, 5 thinks and calls, 6 result (open loop).
Conversation<> thoughtful() {
    Conversation<> c("thinking");
    c.push_back(ChatMessage::user("first"));
    c.push_back(thinking_call("one", "call_1"));
    c.push_back(ChatMessage::result("call_1", "read", std::string(4'000, 'x')));
    c.push_back(thinking_answer("two"));
    c.push_back(ChatMessage::user("second"));
    c.push_back(thinking_call("three", "call_2"));
    c.push_back(ChatMessage::result("call_2", "read", "short"));
    return c;
}

Provenance why() { return {.origin = Origin::placeholder, .reason = "test"}; }

/// Shortens the old result.
CommitResult cut_result(Conversation<>& c, EditEnvironment environment = {}) {
    auto edit = c.edit("test", std::move(environment));
    edit.set_text(2, 0, "[cut]", why());
    return edit.commit();
}

std::size_t count_thinking(const Conversation<>& c) {
    std::size_t count = 0;
    for (const ChatMessage& m : c.messages())
        count += static_cast<std::size_t>(std::ranges::count(m.parts, PartKind::thinking, &Part::kind));
    return count;
}

/// Runs a function as its before_model.
class Doing final : public Middleware<> {
public:
    explicit Doing(std::function<void(Turn<>&)> work) : work_(std::move(work)) {}
    std::string_view name() const noexcept override { return "doing"; }
    void before_model(Turn<>& turn) override { work_(turn); }

private:
    std::function<void(Turn<>&)> work_;
};

Doing cutting() {
    return Doing([](Turn<>& turn) {
        auto edit = turn.edit();
        if (edit.outline()[2].parts[0].text_bytes < 100) return;
        edit.set_text(2, 0, "[cut]", why());
        edit.commit();
    });
}

ChainConfig bound(ThinkingOnPrefixEdit thinking_on_prefix_edit, const ValidityProfile& validity = openai_chat()) {
    ChainConfig config;
    config.profile.validity = validity;
    config.profile.thinking_bound_to_prefix = true;
    config.thinking_on_prefix_edit = thinking_on_prefix_edit;
    return config;
}

}  // namespace

TEST_CASE("thinking is never edited, only erased", "[thinking]") {
    Conversation<> c = thoughtful();
    auto edit = c.edit("test");
    CHECK(errc_of([&] { edit.set_text(1, 0, "other", why()); }) == Errc::pinned);
    edit.allow_editing_pinned(true);
    CHECK(errc_of([&] { edit.set_text(1, 0, "other", why()); }) == Errc::pinned);
    edit.erase_part(1, 0, why());
    CHECK(edit.commit().committed());
    CHECK(count_thinking(c) == 2);
}

TEST_CASE("thinking of the open tool loop stays as it is", "[thinking]") {
    Conversation<> c = thoughtful();
    c.push_back(thinking_call("four", "call_3"));  // the round before is closed now, the loop is not
    auto edit = c.edit("test");
    CHECK(errc_of([&] { edit.erase_part(5, 0, why()); }) == Errc::pinned);
    CHECK(errc_of([&] { edit.set_text(5, 0, "x", why()); }) == Errc::pinned);
}

TEST_CASE("user text beside a result does not close the tool loop", "[thinking]") {
    Conversation<> c("beside");
    c.push_back(ChatMessage::user("go"));
    c.push_back(thinking_call("one", "a"));
    c.push_back(ChatMessage::result("a", "read", "1"));
    c.push_back(thinking_call("two", "b"));
    c.push_back({Role::user, {{PartKind::tool_result, "2", "b"}, {PartKind::text, "hurry"}}});
    c.push_back(thinking_call("three", "c"));
    c.push_back(ChatMessage::result("c", "read", "3"));
    auto edit = c.edit("test");
    CHECK(errc_of([&] { edit.erase_part(3, 0, why()); }) == Errc::pinned);
}

TEST_CASE("all thinking of a message goes in one commit, or none", "[thinking]") {
    Conversation<> c("two thoughts");
    c.push_back(ChatMessage::user("first"));
    const std::string thought(400, 't');
    c.push_back(
        {Role::assistant, {{PartKind::thinking, thought}, {PartKind::thinking, thought}, {PartKind::text, "a"}}});
    c.push_back(ChatMessage::user("second"));
    auto edit = c.edit("test");
    edit.erase_part(1, 0, why());
    CHECK(errc_of([&] { edit.commit(); }) == Errc::invalid_history);
    edit.erase_part(1, 0, why());
    CHECK(edit.commit().committed());
    CHECK(c.messages()[1].parts.size() == 1);
}

TEST_CASE("a message that takes another's place carries that one's thinking or none", "[thinking]") {
    Conversation<> c = thoughtful();
    auto edit = c.edit("test");
    CHECK(errc_of([&] { edit.replace_range(3, 4, {thinking_answer("invented")}, why()); }) == Errc::pinned);
    edit.replace_range(3, 4, {thinking_answer("two")}, why());
    edit.replace_range(3, 4, {ChatMessage::assistant("a")}, why());
    CHECK(edit.commit().committed());
}

TEST_CASE("an edit in front of kept thinking is remembered", "[thinking]") {
    Conversation<> c = thoughtful();
    CHECK_FALSE(c.thinking_prefix_edited());
    cut_result(c);
    CHECK(c.thinking_prefix_edited());
    CHECK(c.fork("copy").thinking_prefix_edited());
    const std::vector<ChatMessage> messages(c.messages().begin(), c.messages().end());
    CHECK(from_side_table(to_side_table(c), messages, nullptr).thinking_prefix_edited());
}

TEST_CASE("an edit behind all thinking is none in front of it", "[thinking]") {
    Conversation<> c("thinking");
    c.push_back(ChatMessage::user("first"));
    c.push_back(thinking_call("one", "call_1"));
    c.push_back(ChatMessage::result("call_1", "read", std::string(4'000, 'x')));
    c.push_back(ChatMessage::assistant("an answer without thinking"));
    CHECK(cut_result(c).committed());
    CHECK_FALSE(c.thinking_prefix_edited());
    CHECK(c.fork("copy").journal().size() == 1);
}

TEST_CASE("thinking may go from the start of the history, but not from its middle", "[thinking]") {
    Conversation<> c = thoughtful();
    auto edit = c.edit("test");
    edit.erase_part(1, 0, why());
    edit.commit();
    CHECK_FALSE(c.thinking_prefix_edited());
    edit.erase_part(3, 0, why());  // all in front of it is gone: the start again
    edit.commit();
    CHECK_FALSE(c.thinking_prefix_edited());

    Conversation<> other = thoughtful();
    auto middle = other.edit("test");
    middle.erase_part(3, 0, why());
    middle.commit();
    CHECK(other.thinking_prefix_edited());
}

TEST_CASE("undo makes thinking valid again, unless newer thinking was bound to the edit", "[thinking]") {
    Conversation<> c = thoughtful();
    cut_result(c);
    REQUIRE(c.undo());
    CHECK_FALSE(c.thinking_prefix_edited());

    c.unpin(3);
    cut_result(c);
    c.push_back(thinking_answer("written under the shortened result"));
    REQUIRE(c.undo());
    CHECK(c.thinking_prefix_edited());
}

TEST_CASE("a host that edits its list is seen too", "[thinking]") {
    Conversation<> c = thoughtful();
    std::vector<ChatMessage> host(c.messages().begin(), c.messages().end());
    host.push_back(thinking_answer("four"));
    c.sync(host);
    CHECK_FALSE(c.thinking_prefix_edited());
    host[0] = ChatMessage::user("first, otherwise");
    c.sync(host);
    CHECK(c.thinking_prefix_edited());
    REQUIRE(c.undo());
    CHECK_FALSE(c.thinking_prefix_edited());
}

TEST_CASE("marked: thinking stays, and the report and the next request say that it is void", "[thinking]") {
    // [mark]
    ChainConfig config;
    config.profile.thinking_bound_to_prefix = true;               // what the model is like
    config.thinking_on_prefix_edit = ThinkingOnPrefixEdit::mark;  // the default
    // [/mark]
    const Chain<> chain(config, {std::make_shared<Doing>(cutting())});
    Conversation<> c = thoughtful();
    const StageReport* stage = chain.before_model(c).find("doing");
    REQUIRE(stage->outcome == Outcome::committed);
    CHECK(stage->details->thinking_prefix_edited);
    CHECK(stage->details->thinking_parts_dropped == 0);
    CHECK(count_thinking(c) == 3);
    CHECK(c.thinking_prefix_edited());
    CHECK(to_text(c.report()).find("kept thinking is bound to what was edited") != std::string::npos);
}

TEST_CASE("the agent loop's requests carry the mark where thinking is bound, and only there", "[thinking]") {
    for (const bool is_bound : {true, false}) {
        std::vector<bool> seen;
        auto model = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>& request) {
            seen.push_back(request.thinking_prefix_edited);
            return Reply<ChatMessage>{ChatMessage::assistant("done")};
        });
        ChainConfig config = bound(ThinkingOnPrefixEdit::mark);
        config.profile.thinking_bound_to_prefix = is_bound;
        AgentLoop<ChatMessage> loop(model, {}, Chain<>(config, {std::make_shared<Doing>(cutting())}));
        Conversation<> c = thoughtful();
        loop.run(c, ChatMessage::user("third"));
        CHECK(seen == std::vector{is_bound});
    }
}

TEST_CASE("dropped: void thinking goes in the same commit, in the open loop too", "[thinking]") {
    Conversation<> c = thoughtful();
    const std::vector<ChatMessage> before(c.messages().begin(), c.messages().end());
    const Chain<> chain(bound(ThinkingOnPrefixEdit::drop), {std::make_shared<Doing>(cutting())});
    const StageReport* stage = chain.before_model(c).find("doing");
    REQUIRE(stage->outcome == Outcome::committed);
    CHECK(stage->details->thinking_parts_dropped == 2);
    CHECK_FALSE(stage->details->thinking_prefix_edited);
    CHECK_FALSE(c.thinking_prefix_edited());
    CHECK(c.messages()[1] == before[1]);  // in front of the edit
    CHECK(count_thinking(c) == 1);
    CHECK(c.journal().size() == 1);
    REQUIRE(c.undo());
    CHECK(std::vector<ChatMessage>(c.messages().begin(), c.messages().end()) == before);
}

TEST_CASE("dropped as far as the provider allows: an open loop that has to start with thinking is marked",
          "[thinking]") {
    Conversation<> c = thoughtful();
    ChainConfig config = bound(ThinkingOnPrefixEdit::drop, anthropic_thinking());
    config.verify = GENERATE(true, false);  // dropping keeps the rule where commits are not checked too
    const Chain<> chain(config, {std::make_shared<Doing>(cutting())});
    const StageReport* stage = chain.before_model(c).find("doing");
    REQUIRE(stage->outcome == Outcome::committed);
    CHECK(stage->details->thinking_parts_dropped == 1);
    CHECK(stage->details->thinking_prefix_edited);
    CHECK(c.thinking_prefix_edited());
    CHECK(c.messages()[5].parts[0].kind == PartKind::thinking);
}

TEST_CASE("a message that only thought goes as a whole", "[thinking]") {
    Conversation<> c = thoughtful();
    std::vector<ChatMessage> host(c.messages().begin(), c.messages().end());
    host.insert(host.begin() + 3, ChatMessage{Role::assistant, {{PartKind::thinking, "alone"}}});
    Conversation<> with_thought("alone");
    for (const ChatMessage& m : host) with_thought.push_back(m);
    EditEnvironment environment;
    environment.thinking_on_prefix_edit = ThinkingOnPrefixEdit::drop;
    CHECK(cut_result(with_thought, environment).committed());
    CHECK(with_thought.size() == c.size());
}

TEST_CASE("other tools or another system text void thinking as an edit does", "[thinking]") {
    const std::vector<ToolSpec> tools{{"read", "reads", "{}"}};
    const Chain<> chain(bound(ThinkingOnPrefixEdit::mark));
    Conversation<> c = thoughtful();
    chain.before_model(c, {.tools = tools, .system = "be brief"});
    chain.before_model(c, {.tools = tools, .system = "be brief"});
    CHECK_FALSE(c.thinking_prefix_edited());
    const std::vector<ChatMessage> messages(c.messages().begin(), c.messages().end());
    Conversation<> loaded = from_side_table(to_side_table(c), messages, nullptr);
    for (Conversation<>* each : {&c, &loaded}) {
        chain.before_model(*each, {.tools = tools, .system = "be long"});
        CHECK(each->thinking_prefix_edited());
    }

    Conversation<> dropping = thoughtful();
    const Chain<> drops(bound(ThinkingOnPrefixEdit::drop));
    drops.before_model(dropping, {.system = "be brief"});
    const Report& report = drops.before_model(dropping, {.tools = tools, .system = "be brief"});
    REQUIRE(report.find("thinking") != nullptr);
    CHECK(report.find("thinking")->details->thinking_parts_dropped == 3);
    CHECK(count_thinking(dropping) == 0);
    CHECK_FALSE(dropping.thinking_prefix_edited());
}

TEST_CASE("void thinking that cannot be dropped is marked, and a failure of the stage that drops it", "[thinking]") {
    Conversation<> c = thoughtful();
    const Chain<> chain(bound(ThinkingOnPrefixEdit::drop));
    chain.before_model(c, {.system = "be brief"});
    StopSource stop;
    stop.request_stop();
    const Report& report = chain.before_model(c, {.system = "be long", .stop = stop.get_token()});
    REQUIRE(report.find("thinking") != nullptr);
    CHECK(report.find("thinking")->outcome == Outcome::failed);
    CHECK_FALSE(report.find("thinking")->details->error.empty());
    CHECK(count_thinking(c) == 3);
    CHECK(c.thinking_prefix_edited());
}

TEST_CASE(
    "what a chain does itself is no stage that the host gave, and is reported only where there was something to do",
    "[thinking][repair]") {
    ChainConfig config = bound(ThinkingOnPrefixEdit::drop);
    config.repair = true;
    const Chain<> chain(config, {std::make_shared<Doing>([](Turn<>&) {})});
    REQUIRE(chain.stages().size() == 1);
    CHECK(chain.stages()[0]->name() == "doing");
    const auto names = [](const Report& report) {
        std::vector<std::string> all;
        for (const StageReport& stage : report.stages) all.emplace_back(stage.middleware);
        return all;
    };
    using Names = std::vector<std::string>;
    Conversation<> c = thoughtful();
    CHECK(names(chain.before_agent(c)) == Names{"doing"});
    CHECK(names(chain.before_model(c, {.system = "one"})) == Names{"repair", "doing"});
    CHECK(names(chain.before_model(c, {.system = "other"})) == Names{"repair", "thinking", "doing"});
    chain.on_overflow(c, {.context_limit_tokens = 10}, {.system = "other"});
    CHECK(names(c.report()) == Names{"repair", "doing"});
    CHECK(names(chain.after_model(c)) == Names{"doing"});
    Conversation<> empty("empty");
    CHECK(names(chain.before_model(empty)) == Names{"doing"});
}

TEST_CASE("a hook that fails leaves the mark as it was", "[thinking]") {
    ChainConfig config = bound(ThinkingOnPrefixEdit::mark);
    config.on_error = OnError::propagate;
    const Doing failing([](Turn<>& turn) {
        cut_result(turn.conversation);
        throw std::runtime_error("afterwards");
    });
    const Chain<> chain(config, {std::make_shared<Doing>(failing)});
    Conversation<> c = thoughtful();
    CHECK_THROWS_AS(chain.before_model(c), std::runtime_error);
    CHECK_FALSE(c.thinking_prefix_edited());
}

TEST_CASE("a dry run says what an edit would cost and leaves all as it is", "[thinking]") {
    ChainConfig config = bound(ThinkingOnPrefixEdit::drop);
    config.dry_run = true;
    const Chain<> chain(config, {std::make_shared<Doing>(cutting())});
    Conversation<> c = thoughtful();
    const StageReport* stage = chain.before_model(c).find("doing");
    CHECK(stage->outcome == Outcome::planned);
    CHECK(stage->details->thinking_parts_dropped == 2);
    CHECK(count_thinking(c) == 3);
}
