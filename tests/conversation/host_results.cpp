#include "whittle/anthropic/anthropic.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/openai/openai.hpp"

#include "support/catch.hpp"
#include "support/errc_of.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::ordered_json;
using whittle::testing::errc_of;

namespace {

/// Shows the first ten bytes of each text, of which `storage`, if there is one, gets all.
class Ten final : public Middleware<openai::Message> {
public:
    explicit Ten(std::shared_ptr<Storage> storage) : storage_(std::move(storage)) {}
    std::string_view name() const noexcept override { return "ten"; }
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        CollectingSink whole;
        ToolOutcome outcome = next(context, whole);
        int number = 0;
        for (Part& part : whole.take()) {
            const std::string key = context.conversation_id + "/" + context.key_safe_call_id + std::to_string(++number);
            const std::string text = part.text;
            part.text.resize(std::min<std::size_t>(10, part.text.size()));
            out.push(part);
            if (text == part.text || !storage_) continue;
            storage_->put_if_absent(key, text);
            out.mark_stored({.key = key, .by = "ten", .storage = storage_});
        }
        return outcome;
    }

private:
    std::shared_ptr<Storage> storage_;
};

const std::string whole_a = "the first result, " + std::string(300, 'a');
const std::string whole_b = "the second result, " + std::string(300, 'b');

openai::Message two_calls() {
    return openai::Message::parse(
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}]})");
}

openai::Message host_result(const std::string& id, const std::string& text) {
    return openai::Message(ordered_json{{"tool_call_id", id}, {"mine", 1.0}, {"content", text}, {"role", "tool"}});
}

Chain<openai::Message> ten_of(std::shared_ptr<Storage> storage) {
    return Chain<openai::Message>(ChainConfig{}, {std::make_shared<Ten>(std::move(storage))});
}

Conversation<openai::Message> asked() {
    Conversation<openai::Message> c("host");
    c.push_back(message_traits<openai::Message>::make(Role::user, "do"));
    c.push_back(two_calls());
    return c;
}

ToolReturn shown_as(const std::string& id, std::vector<Part> parts) {
    return {.result = {.call_id = id, .tool = "x", .parts = std::move(parts)}};
}

std::string dump(const openai::Message& m) { return m.json().dump(); }

}  // namespace

TEST_CASE("a host's message with a whole result is shown with another text, and undone to its own bytes",
          "[conversation]") {
    for (const auto& storage : {memory_storage(), std::shared_ptr<Storage>()}) {
        auto c = asked();
        const std::vector<openai::Message> own{host_result("a", whole_a), host_result("b", "short")};
        c.push_tool_results(own, ten_of(storage).wrap_results(c, own));
        CHECK(dump(c.messages()[2]) == dump(host_result("a", whole_a.substr(0, 10))));
        CHECK(dump(c.messages()[3]) == dump(own[1]));
        CHECK(c.outline()[2].round_serial == c.outline()[1].serial);
        CHECK(c.outline()[2].parts[0].key_safe_call_id == c.outline()[1].parts[0].key_safe_call_id);
        REQUIRE(c.journal().size() == 1);
        REQUIRE(c.undo());
        CHECK(dump(c.messages()[2]) == dump(own[0]));
        CHECK(c.outline()[2].parts[0].key_safe_call_id == c.outline()[1].parts[0].key_safe_call_id);
        CHECK(c.outline()[2].parts[0].tool == "x");
    }
}

TEST_CASE("a text that a store has too leaves memory, if the store gives it back as it is", "[conversation]") {
    auto c = asked();
    const std::vector<openai::Message> own{host_result("a", whole_a)};
    const auto storage = memory_storage();
    c.push_tool_results(own, ten_of(storage).wrap_results(c, own));
    CHECK(dump(c.journal().front()->undo.front().messages.front()).size() < 100);
    CHECK(c.journal().front()->texts_in_store.size() == 1);

    auto other = asked();
    std::vector<ToolReturn> returns = ten_of(storage).wrap_results(other, own);
    storage->put_if_absent("elsewhere", "not what the tool gave");
    returns.front().stored.front().key = "elsewhere";
    other.push_tool_results(own, returns);
    CHECK(other.journal().front()->texts_in_store.empty());
    REQUIRE(other.undo());
    CHECK(dump(other.messages()[2]) == dump(own[0]));
}

TEST_CASE("a host's message that holds the shown text already is taken as it is, with a mark and a way back",
          "[conversation]") {
    auto c = asked();
    const std::vector<openai::Message> whole{host_result("a", whole_a)};
    const auto returns = ten_of(memory_storage()).wrap_results(c, whole);
    const std::vector<openai::Message> own{host_result("a", whole_a.substr(0, 10))};
    c.push_tool_results(own, returns);
    CHECK(dump(c.messages()[2]) == dump(own[0]));
    CHECK(origin_of(c.outline()[2].parts[0].mark) == Origin::placeholder);
    REQUIRE(c.undo());
    CHECK(dump(c.messages()[2]) == dump(whole[0]));

    auto kept = asked();
    ToolReturn in_memory = shown_as("a", {{.text = "ten"}});
    in_memory.original = OriginalParts{{{.text = whole_a}}, "ten"};
    kept.push_tool_results(std::vector{host_result("a", "ten")}, std::vector{in_memory});
    REQUIRE(kept.undo());
    CHECK(dump(kept.messages()[2]) == dump(whole[0]));
}

TEST_CASE("a host that joins the parts of a result gets them back joined", "[conversation]") {
    const auto storage = memory_storage();
    storage->put_if_absent("k", whole_a);
    ToolReturn two = shown_as("a", {{.text = "the first "}, {.text = "and more"}});
    two.stored.push_back({.part = 0, .key = "k", .by = "ten", .storage = storage});
    auto c = asked();
    c.push_tool_results(std::vector{host_result("a", "the first and more")}, std::vector{two});
    CHECK(dump(c.messages()[2]) == dump(host_result("a", "the first and more")));
    CHECK(origin_of(c.outline()[2].parts[0].mark) == Origin::placeholder);
    REQUIRE(c.undo());
    CHECK(dump(c.messages()[2]) == dump(host_result("a", whole_a + "and more")));
}

TEST_CASE("fewer or more texts than the host's message has are shown in its places", "[conversation]") {
    const auto texts = [](const std::vector<std::string>& all) {
        ordered_json content = ordered_json::array();
        for (const std::string& text : all) content.push_back({{"x", 1}, {"type", "text"}, {"text", text}});
        return openai::Message(ordered_json{{"content", content}, {"role", "tool"}, {"tool_call_id", "a"}});
    };
    const auto shown = [&](const std::vector<std::string>& own, const std::vector<Part>& parts) {
        auto c = asked();
        c.push_tool_results(std::vector{texts(own)}, std::vector{shown_as("a", parts)});
        std::string now = dump(c.messages()[2]);
        while (c.undo()) continue;
        CHECK(dump(c.messages()[2]) == dump(texts(own)));
        return now;
    };
    CHECK(shown({"one", "two"}, {{.text = "both"}}) == dump(texts({"both"})));
    CHECK(shown({"one", "two"}, {{.text = "1"}, {.text = "2"}, {.text = "3"}}) == dump(texts({"1", "23"})));
    CHECK(shown({"one", "", "two"}, {{.text = "1"}, {.text = "2"}}) == dump(texts({"1", "", "2"})));
    CHECK(shown({"one"}, {}) == dump(texts({""})));
    CHECK(shown({"one"}, {{.text = "one"}}) == dump(texts({"one"})));
}

TEST_CASE("media that a return does not show leave the message, and such as the message lacks leave it as it is",
          "[conversation]") {
    const auto own = openai::Message::parse(
        R"({"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"https://e.org/a.png"}},{"type":"text","text":"seen"}]})");
    auto c = asked();
    c.push_tool_results(std::vector{own}, std::vector{shown_as("a", {{.text = "no image"}})});
    CHECK(dump(c.messages()[2]) ==
          R"({"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"no image"}]})");
    REQUIRE(c.undo());
    CHECK(dump(c.messages()[2]) == dump(own));

    auto other = asked();
    const Part picture{.kind = PartKind::media, .media = {.mime = "image/png", .url = "https://e.org/other.png"}};
    other.push_tool_results(std::vector{own}, std::vector{shown_as("a", {picture, {.text = "other"}})});
    CHECK(dump(other.messages()[2]) == dump(own));
    CHECK(other.journal().empty());
}

TEST_CASE("text in place of an image that was a result alone does not reach into the next result", "[conversation]") {
    const auto own = anthropic::Message::parse(
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"url","url":"https://e.org/a.png"}}]},{"type":"tool_result","tool_use_id":"b","content":"whole"}]})");
    Conversation<anthropic::Message> c("host");
    c.push_back(anthropic::Message::parse(
        R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}},{"type":"tool_use","id":"b","name":"y","input":{}}]})"));
    c.push_tool_results(std::vector{own},
                        std::vector{shown_as("a", {{.text = "an image"}}), shown_as("b", {{.text = "b"}})});
    const ordered_json& content = c.messages()[1].json()["content"];
    CHECK(content[0]["content"].dump() == R"([{"type":"text","text":"an image"}])");
    CHECK(content[1]["content"] == "b");
    REQUIRE(c.undo());
    CHECK(c.messages()[1].json().dump() == own.json().dump());
}

TEST_CASE("a return without its result is refused, and nothing has changed", "[conversation]") {
    auto c = asked();
    const std::uint64_t version = c.version();
    const std::vector<openai::Message> own{host_result("a", whole_a)};
    const std::vector<ToolReturn> returns{shown_as("a", {{.text = "ten"}}), shown_as("b", {{.text = "ten"}})};
    CHECK(errc_of([&] { c.push_tool_results(own, returns); }) == Errc::invalid_argument);
    CHECK(c.size() == 2);
    CHECK(c.version() == version);
    CHECK(c.journal().empty());
    CHECK(c.replacements_since(version).empty());
}

TEST_CASE("of one id, the first return is that of the first result", "[conversation]") {
    Conversation<openai::Message> c("host");
    c.push_back(openai::Message::parse(
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"r","type":"function","function":{"name":"x","arguments":"1"}},{"id":"r","type":"function","function":{"name":"x","arguments":"2"}}]})"));
    const std::vector<openai::Message> own{host_result("r", whole_a), host_result("r", whole_b)};
    const auto returns = ten_of(memory_storage()).wrap_results(c, own);
    REQUIRE(returns.size() == 2);
    c.push_tool_results(own, returns);
    CHECK(dump(c.messages()[1]) == dump(host_result("r", whole_a.substr(0, 10))));
    CHECK(dump(c.messages()[2]) == dump(host_result("r", whole_b.substr(0, 10))));
    while (c.undo()) continue;
    CHECK(dump(c.messages()[1]) == dump(own[0]));
    CHECK(dump(c.messages()[2]) == dump(own[1]));
}

TEST_CASE("a host that syncs its own list gives the returns with it, and takes the shown texts over",
          "[conversation]") {
    const auto chain = ten_of(memory_storage());
    auto c = asked();
    std::vector<openai::Message> list(c.messages().begin(), c.messages().end());
    list.push_back(host_result("a", whole_a));
    list.push_back(host_result("b", "short"));
    const std::vector<openai::Message> own = list;
    const auto returns = chain.wrap_results(c, std::span(list).subspan(2));
    const SyncResult synced = c.sync(list, returns);
    CHECK(synced.appended == 2);
    CHECK_FALSE(synced.diverged);
    c.apply_to(list, synced.version);
    CHECK(dump(list[2]) == dump(host_result("a", whole_a.substr(0, 10))));
    CHECK(dump(list[3]) == dump(own[3]));
    const SyncResult again = c.sync(list, returns);  // known by now
    CHECK_FALSE(again.diverged);
    CHECK(again.appended == 0);
    CHECK(again.common_prefix == 4);
    REQUIRE(c.undo());
    c.apply_to(list, again.version);
    CHECK(list == own);
}

TEST_CASE("a host whose list holds the shown text already sees no divergence", "[conversation]") {
    const auto chain = ten_of(memory_storage());
    auto c = asked();
    std::vector<openai::Message> list(c.messages().begin(), c.messages().end());
    const auto returns = chain.wrap_results(c, std::vector{host_result("b", whole_b)});
    list.push_back(host_result("b", whole_b.substr(0, 10)));
    list.push_back(message_traits<openai::Message>::make(Role::user, "and hurry"));
    const SyncResult synced = c.sync(list, returns);
    CHECK(synced.appended == 2);
    CHECK_FALSE(synced.diverged);
    CHECK(c.replacements_since(synced.version).empty());
    CHECK_FALSE(c.sync(list).diverged);
    REQUIRE(c.undo());
    CHECK(dump(c.messages()[2]) == dump(host_result("b", whole_b)));
}

TEST_CASE("a list that diverged in front of new results keeps the marks of both", "[conversation]") {
    const auto chain = ten_of(memory_storage());
    auto c = asked();
    std::vector<openai::Message> list(c.messages().begin(), c.messages().end());
    list.push_back(host_result("a", whole_a));
    SyncResult synced = c.sync(list, chain.wrap_results(c, std::span(list).subspan(2)));
    c.apply_to(list, synced.version);
    list[0] = message_traits<openai::Message>::make(Role::user, "do it");  // the host edits its question
    list.push_back(host_result("b", whole_b));
    synced = c.sync(list, chain.wrap_results(c, std::span(list).subspan(3)));
    CHECK(synced.diverged);
    CHECK(synced.appended == 1);
    CHECK(c.size() == 4);
    for (const std::size_t i : {2U, 3U}) CHECK(origin_of(c.outline()[i].parts[0].mark) == Origin::placeholder);
    c.apply_to(list, synced.version);
    CHECK(std::ranges::equal(list, c.messages()));
}

TEST_CASE("a list of another type takes over what changed", "[conversation]") {
    const auto chain = ten_of(memory_storage());
    auto c = asked();
    std::vector<nlohmann::json> list;  // its members are sorted
    for (const openai::Message& m : c.messages()) list.push_back(m.json());
    list.push_back({{"role", "tool"}, {"tool_call_id", "a"}, {"content", whole_a}});
    std::vector<openai::Message> now(list.begin(), list.end());
    const SyncResult synced = c.sync(now, chain.wrap_results(c, std::span(now).subspan(2)));
    CHECK_FALSE(synced.diverged);
    c.apply_to(list, synced.version, [](const openai::Message& m) { return nlohmann::json(m.json()); });
    CHECK(list[2] == nlohmann::json{{"role", "tool"}, {"tool_call_id", "a"}, {"content", whole_a.substr(0, 10)}});
    now = std::vector<openai::Message>(list.begin(), list.end());
    CHECK_FALSE(c.sync(now).diverged);
}

TEST_CASE("a result that shows stored text again is marked so in the host's message", "[conversation]") {
    auto c = asked();
    ToolReturn page = shown_as("a", {{.text = "a page"}});
    page.read_back = {"host/clear/a"};
    c.push_tool_results(std::vector{host_result("a", "a page")}, std::vector{page});
    REQUIRE(c.outline()[2].parts[0].mark);
    CHECK(c.outline()[2].parts[0].mark->reason == "read_back");
    CHECK(c.read_backs() == 1);
    CHECK(c.journal().empty());
}
