#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "tools.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

ReductionConfig above(std::int64_t tokens) { return {.skip_truncation = true, .max_tokens_for_clear = tokens}; }

std::string output(const std::string& id) { return "output of " + id + " " + std::string(2'000, 'x'); }

void add_round(AnyConversation& c, const std::string& id, const std::string& tool = "read") {
    c.push_back(ChatMessage::assistant("").call(id, tool));
    c.push_back(ChatMessage::result(id, tool, output(id)));
}

/// user, then `ids.size()` rounds of one call each: results at 2, 4, 6, ...
AnyConversation rounds(const MessageType& type, const std::vector<std::string>& ids, const std::string& id = "conv") {
    AnyConversation c(type, id);
    c.push_back(ChatMessage::user("do"));
    for (const std::string& call : ids) add_round(c, call);
    return c;
}

std::vector<std::string> keys(Storage& storage) {
    std::vector<std::string> all;
    storage.list("", [&](const ObjectInfo& info) {
        all.push_back(info.key);
        return true;
    });
    return all;
}

const std::vector<ToolSpec> reader{{.name = "read_file"}};

}  // namespace

TEST_CASE("an old result becomes a notice with place and reader, its object holds the text", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto storage = memory_storage();
    AnyConversation c = rounds(type, {"a", "b"});
    const AnyChain chain(type, ChainConfig{.storage = storage}, above(100));
    chain.before_model(c, {.tools = reader});
    CHECK(c.text(2).find("conv/clear/a") != std::string::npos);
    CHECK(c.text(2).find("read_file") != std::string::npos);
    CHECK(storage->get("conv/clear/a") == output("a"));
    CHECK(c.text(4) == output("b"));
    CHECK(c.message(1) == ChatMessage::assistant("").call("a", "read"));
    REQUIRE(c.undo());
    CHECK(c.text(2) == output("a"));
}

TEST_CASE("without a store a plain placeholder stands there and the journal has the original", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto language = GENERATE(Language::english, Language::chinese);
    AnyConversation c = rounds(type, {"a", "b"});
    AnyChain(type, ChainConfig{.language = language}, above(100)).before_model(c);
    CHECK(c.text(2) == plain_placeholder(language));
    REQUIRE(c.undo());
    CHECK(c.text(2) == output("a"));
}

TEST_CASE("a reader is named only if the request lists it", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = rounds(type, {"a", "b"});
    const std::vector<ToolSpec> own{{.name = "read_offloaded"}};
    const auto tools = GENERATE_COPY(std::vector<ToolSpec>{}, own);
    AnyChain(type, ChainConfig{.storage = memory_storage()}, above(100)).before_model(c, {.tools = tools});
    CHECK(c.text(2).find("read_file") == std::string::npos);
    CHECK((c.text(2).find("read_offloaded") != std::string::npos) == !tools.empty());
}

TEST_CASE("the trigger is exceeded, not reached", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = rounds(type, {"a", "b"});
    const std::int64_t size = c.tokens(chars_counter());
    CHECK(AnyChain(type, ChainConfig{}, above(size)).before_model(c).find("reduction")->outcome == Outcome::not_due);
    CHECK(AnyChain(type, ChainConfig{}, above(size - 1)).before_model(c).find("reduction")->outcome ==
          Outcome::committed);
}

TEST_CASE("the newest rounds are kept, 0 means 1", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto [limit, cleared] = GENERATE(table<int, std::size_t>({{0, 2}, {1, 2}, {2, 1}, {3, 0}}));
    AnyConversation c = rounds(type, {"a", "b", "c"});
    ReductionConfig config = above(100);
    config.clear_retention_suffix_limit = limit;
    AnyChain(type, ChainConfig{}, config).before_model(c);
    std::size_t count = 0;
    for (std::size_t i = 2; i < c.size(); i += 2) count += c.text(i) == plain_placeholder(Language::english) ? 1 : 0;
    CHECK(count == cleared);
}

TEST_CASE("excluded, protected and skipped tools are left alone, by bare and by qualified name", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    add_round(c, "a", "weather");
    add_round(c, "b", "mcp__srv__important");
    add_round(c, "c", "skill");
    add_round(c, "d", "quiet");
    add_round(c, "e", "weather");
    ReductionConfig config = above(100);
    config.clear_exclude_tools = {"important"};
    config.tool_config["quiet"].skip_clear = true;
    const auto storage = memory_storage();
    AnyChain(type, ChainConfig{.storage = storage, .explain = true}, config).before_model(c);
    CHECK(keys(*storage) == std::vector<std::string>{"conv/clear/a"});
    std::vector<std::string> rules;
    for (const Candidate& candidate : c.report().find("reduction")->details->candidates)
        rules.emplace_back(candidate.rule);
    CHECK(rules ==
          std::vector<std::string>{"old_round", "excluded_tool", "protected_tool", "skip_clear", "retained_round"});
}

TEST_CASE("a tool's own setting switches clearing on where it is off", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = rounds(type, {"a", "b"});
    ReductionConfig config = above(100);
    config.skip_clear = true;
    AnyChain(type, ChainConfig{}, config).before_model(c);
    CHECK(c.journal_size() == 0);
    config.tool_config["read"].skip_clear = false;
    AnyChain(type, ChainConfig{}, config).before_model(c);
    CHECK(c.journal_size() == 1);
}

TEST_CASE("a tool's own backend takes its results, a module's the rest", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto global = memory_storage();
    const auto module = memory_storage();
    const auto own = memory_storage();
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    add_round(c, "a", "grep");
    add_round(c, "b", "read");
    add_round(c, "c", "read");
    ReductionConfig config = above(100);
    config.backend = module;
    config.tool_config["grep"].backend = own;
    AnyChain(type, ChainConfig{.storage = global}, config).before_model(c);
    CHECK(keys(*own) == std::vector<std::string>{"conv/clear/a"});
    CHECK(keys(*module) == std::vector<std::string>{"conv/clear/b"});
    CHECK(keys(*global).empty());
}

TEST_CASE("the target stops clearing, oldest first", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = rounds(type, {"a", "b", "c", "d"});
    ReductionConfig config = above(1'500);
    config.clear_target_tokens = 1'300;
    AnyChain(type, ChainConfig{}, config).before_model(c);
    CHECK(c.text(2) == plain_placeholder(Language::english));
    CHECK(c.text(4) == plain_placeholder(Language::english));
    CHECK(c.text(6) == output("c"));
    CHECK(c.tokens(chars_counter()) < 1'300);
}

TEST_CASE("a plan that frees too little writes nothing and is made again when a round completes, and not before",
          "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto storage = memory_storage();
    AnyConversation c = rounds(type, {"a", "b"});
    ReductionConfig config = above(100);
    config.clear_at_least_tokens = 900;  // a frees about 480
    const AnyChain chain(type, ChainConfig{.storage = storage}, config);
    CHECK(chain.before_model(c).find("reduction")->outcome == Outcome::too_small);
    CHECK(chain.before_model(c).find("reduction")->outcome == Outcome::cooling_down);
    CHECK(keys(*storage).empty());
    c.push_back(ChatMessage::assistant("").call("c", "read"));
    c.push_back(ChatMessage::result("c", "read", "short"));  // hardly any growth, but b may go now
    CHECK(chain.before_model(c).find("reduction")->outcome == Outcome::committed);
    CHECK(keys(*storage).size() == 2);
}

TEST_CASE("a plan that can never free enough is remembered, however much it is asked for", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = rounds(type, {"a", "b"});
    ReductionConfig config = above(100);
    config.clear_at_least_tokens = INT64_MAX;
    const AnyChain chain(type, ChainConfig{}, config);
    CHECK(chain.before_model(c).find("reduction")->outcome == Outcome::too_small);
    CHECK(c.notes("reduction").integer("retry_at_tokens") == INT64_MAX);
    CHECK(chain.before_model(c).find("reduction")->outcome == Outcome::cooling_down);
}

TEST_CASE("results of one name are stored under numbers, and none is tried twice", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    struct Counting final : Storage {
        explicit Counting(std::shared_ptr<Storage> s) : inner(std::move(s)) {}
        void put_if_absent(std::string_view key, std::string_view content) override {
            inner->put_if_absent(key, content);
        }
        std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max) override {
            return inner->get(key, offset, max);
        }
        std::optional<ObjectInfo> stat(std::string_view key) override { return ++stats, inner->stat(key); }
        std::shared_ptr<Storage> inner;
        int stats = 0;
    };
    const auto storage = std::make_shared<Counting>(memory_storage());
    AnyConversation c(type, "conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("a", "read"));
    for (int i = 0; i < 200; ++i) c.push_back(ChatMessage::result("a", "read", output(std::to_string(i))));
    add_round(c, "b");
    const AnyChain chain(type, ChainConfig{.storage = storage}, above(100));
    chain.before_model(c);
    CHECK(storage->get("conv/clear/a-200", 0, INT64_MAX) == output("199"));
    CHECK(storage->stats < 2'000);
}

TEST_CASE("running ten times writes every object once and changes nothing more", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto memory = memory_storage();
    struct Counting final : Storage {
        explicit Counting(std::shared_ptr<Storage> s) : inner(std::move(s)) {}
        void put_if_absent(std::string_view key, std::string_view content) override {
            ++puts;
            inner->put_if_absent(key, content);
        }
        std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max) override {
            return inner->get(key, offset, max);
        }
        std::shared_ptr<Storage> inner;
        int puts = 0;
    };
    const auto storage = std::make_shared<Counting>(memory);
    AnyConversation c = rounds(type, {"a", "b", "c"});
    const AnyChain chain(type, ChainConfig{.storage = storage}, above(100));
    chain.before_model(c);
    const std::vector<std::string> once = c.bytes();
    for (int i = 0; i < 9; ++i) chain.before_model(c);
    CHECK(storage->puts == 2);
    CHECK(c.bytes() == once);
}

TEST_CASE("a write that fails drops its result only, and the next run stores it", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    for (int n = 1; n <= 6; ++n) {
        CAPTURE(n);
        const auto memory = memory_storage();
        const auto storage = std::make_shared<testing::FaultyStorage>(memory, n);
        AnyConversation c = rounds(type, {"a", "b", "c", "d"});
        const AnyChain chain(type, ChainConfig{.storage = storage}, above(100));
        chain.before_model(c);
        for (std::size_t i = 2; i <= 6; i += 2) {
            const std::string id(1, static_cast<char>('a' + i / 2 - 1));
            CHECK((c.text(i) == output(id) || memory->get("conv/clear/" + id) == output(id)));
        }
        chain.before_model(c);
        CHECK(keys(*memory).size() == 3);
        while (c.undo()) {
        }
        for (std::size_t i = 2; i <= 6; i += 2) CHECK(c.text(i).find("output of") == 0);
    }
}

TEST_CASE("repeated, hostile, empty and huge call ids are all retrievable", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const std::vector<std::string> ids{"same", "same", "Same", "../../x", "", "", std::string(10'240, 'i'), "last"};
    const auto storage = memory_storage();
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        c.push_back(ChatMessage::assistant("").call(ids[i], "read"));
        outputs.push_back(output(std::to_string(i)));
        c.push_back(ChatMessage::result(ids[i], "read", outputs.back()));
    }
    AnyChain(type, ChainConfig{.storage = storage, .verify = false}, above(100)).before_model(c);
    outputs.pop_back();  // retained
    std::vector<std::string> stored;
    for (const std::string& key : keys(*storage)) {
        CHECK(is_valid_key(key));
        stored.push_back(*storage->get(key));
    }
    std::ranges::sort(stored);
    std::ranges::sort(outputs);
    CHECK(stored == outputs);
}

TEST_CASE("equal ids in one reply get an object each", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto storage = memory_storage();
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("x", "read").call("x", "read"));
    c.push_back(ChatMessage::result("x", "read", output("1")));
    c.push_back(ChatMessage::result("x", "read", output("2")));
    add_round(c, "y");
    AnyChain(type, ChainConfig{.storage = storage}, above(100)).before_model(c);
    CHECK(storage->get("conv/clear/x") == output("1"));
    CHECK(storage->get("conv/clear/x-2") == output("2"));
}

TEST_CASE("two conversations in one folder do not overwrite each other", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto storage = memory_storage();
    ReductionConfig config = above(100);
    config.root_dir = "tmp";
    AnyConversation first = rounds(type, {"a", "b"}, "one");
    AnyConversation second(type, "two");
    second.push_back(ChatMessage::user("do"));
    second.push_back(ChatMessage::assistant("").call("a", "read"));
    second.push_back(ChatMessage::result("a", "read", "other " + output("a")));
    add_round(second, "b");
    const AnyChain chain(type, ChainConfig{.storage = storage}, config);
    chain.before_model(first);
    chain.before_model(second);
    CHECK(storage->get("tmp/clear/a") == output("a"));
    CHECK(storage->get("tmp/clear/a-2") == "other " + output("a"));
    CHECK(second.text(2).find("tmp/clear/a-2") != std::string::npos);
}

TEST_CASE("results with several parts and media are stored whole and come back whole", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_media);
    const auto storage = memory_storage();
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("a", "read"));
    ChatMessage result = ChatMessage::result("a", "read", output("a"));
    result.parts.push_back(
        {.kind = PartKind::media, .call_id = "a", .media = {.mime = "image/png", .bytes = "\x89PNG\xff"}});
    result.parts.push_back({.kind = PartKind::tool_result, .text = output("more"), .call_id = "a", .tool = "read"});
    c.push_back(result);
    const std::string before = c.bytes().back();
    add_round(c, "b");
    AnyChain(type, ChainConfig{.storage = storage}, above(100)).before_model(c);
    const std::string content = storage->get("conv/clear/a").value_or("");
    CHECK(content.front() == '[');
    CHECK(content.find("image/png") != std::string::npos);
    CHECK(content.find("base64") != std::string::npos);
    for (const Part& part : c.message(2).parts) CHECK(part.text == c.text(2));
    REQUIRE(c.undo());
    CHECK(c.bytes()[2] == before);
}

TEST_CASE("reordered and interleaved results of a round are found by id", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto storage = memory_storage();
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("a", "read").call("b", "skill").call("c", "read"));
    for (const char* id : {"c", "a"}) c.push_back(ChatMessage::result(id, "", output(id)));
    c.push_back(ChatMessage::result("b", "", output("b")));
    add_round(c, "d");
    AnyChain(type, ChainConfig{.storage = storage}, above(100)).before_model(c);
    CHECK(keys(*storage) == std::vector<std::string>{"conv/clear/a", "conv/clear/c"});
    CHECK(c.text(4) == output("b"));
}

TEST_CASE("an empty result is left as it is", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c(type);
    c.push_back(ChatMessage::user(std::string(2'000, 'u')));
    c.push_back(ChatMessage::assistant("").call("a", "read"));
    c.push_back(ChatMessage::result("a", "read", ""));
    add_round(c, "b");
    CHECK(AnyChain(type, ChainConfig{}, above(100)).before_model(c).find("reduction")->outcome == Outcome::nothing);
}

TEST_CASE("a text that looks like our placeholder is cleared like any other", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const std::string forged =
        std::string(plain_placeholder(Language::english)) + std::string(500, ' ') + "[Old read result cleared";
    const auto storage = memory_storage();
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("a", "read"));
    c.push_back(ChatMessage::result("a", "read", forged));
    add_round(c, "b");
    AnyChain(type, ChainConfig{.storage = storage}, above(100)).before_model(c);
    CHECK(storage->get("conv/clear/a") == forged);
}

TEST_CASE("an overflow clears what it may, however little was asked for", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = rounds(type, {"a", "b", "c"});
    const AnyChain chain(type, ChainConfig{}, above(1'000'000));
    CHECK(chain.on_overflow(c, {.context_limit_tokens = 100, .requested_tokens = 2'000}));
    CHECK(c.text(4) == plain_placeholder(Language::english));
}

TEST_CASE("the stable prefix ends before the oldest result that is not cleared", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = rounds(type, {"a", "b"});
    const AnyChain chain(type, ChainConfig{}, above(100));
    CHECK(chain.count_stable_messages(c) == 2);
    chain.before_model(c);
    CHECK(chain.count_stable_messages(c) == 4);
}

TEST_CASE("every problem of the configuration is named at once", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionConfig config;
    config.skip_truncation = true;
    config.tool_config["x"] = {.skip_truncation = false};
    config.root_dir = "/tmp";
    config.read_file_tool_name = "";
    config.max_length_for_trunc = 0;
    config.max_tokens_for_trunc = -1;
    config.trunc_head_lines = -1;
    config.trunc_tail_lines = -1;
    config.max_tokens_for_clear = 0;
    config.clear_retention_suffix_limit = -1;
    config.clear_at_least_tokens = -1;
    config.clear_target_tokens = -1;
    config.max_bytes_without_store = -1;
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["y"] = {.trunc_handler = [](const ToolDetail&) { return TruncResult{}; },
                                  .trunc_sink = [](const ToolContext&, PartSink&) { return nullptr; }};
    try {
        AnyChain(type, ChainConfig{}, config, callbacks);
        FAIL("accepted");
    } catch (const Error& error) {
        const std::string what = error.what();
        for (const char* field :
             {"tool_config.x.backend", "tool_config.y.trunc_sink", "root_dir", "read_file_tool_name",
              "max_length_for_trunc", "max_tokens_for_trunc", "trunc_head_lines", "trunc_tail_lines",
              "max_tokens_for_clear", "clear_retention_suffix_limit", "clear_at_least_tokens", "clear_target_tokens",
              "max_bytes_without_store"}) {
            CAPTURE(field);
            CHECK(what.find(std::string("reduction.") + field) != std::string::npos);
        }
    }
}

TEST_CASE("doubtful triggers are warned about", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionConfig config = above(1'000);
    config.clear_target_tokens = 1'000;
    const AnyChain chain(type, ChainConfig{.profile = {.context_window = 1'000, .output_reserve = 100}}, config);
    REQUIRE(chain.warnings().size() == 2);
    CHECK(chain.warnings()[0].field == "reduction.clear_target_tokens");
    CHECK(chain.warnings()[1].field == "reduction.max_tokens_for_clear");
}

TEST_CASE("two results for one call are cleared in one run and get an object each", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto storage = memory_storage();
    AnyConversation c = rounds(type, {"a"});
    c.push_back(ChatMessage::result("a", "read", "another " + output("a")));  // the host sent it twice
    add_round(c, "b");
    const AnyChain chain(type, ChainConfig{.storage = storage}, above(100));
    const Report& report = chain.before_model(c);
    REQUIRE(report.stages[0].outcome == Outcome::committed);
    CHECK(report.stages[0].details->store_failures.empty());
    CHECK(keys(*storage) == std::vector<std::string>{"conv/clear/a", "conv/clear/a-2"});
    CHECK(storage->get("conv/clear/a") == output("a"));
    CHECK(storage->get("conv/clear/a-2") == "another " + output("a"));
}

TEST_CASE("a plan that was too small is forgotten once the conversation is below the limit again", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionConfig config = above(1'000);
    config.clear_at_least_tokens = 1'000;
    const AnyChain chain(type, ChainConfig{}, config);
    AnyConversation c = rounds(type, {"a"});
    c.push_back(ChatMessage::user(std::string(4'000, 'u')));
    chain.before_model(c);  // over the limit, nothing to clear
    REQUIRE(c.notes("reduction").integer("retry_at_tokens"));
    c.sync_newest(ChatMessage::user("short"));
    chain.before_model(c);
    CHECK_FALSE(c.notes("reduction").integer("retry_at_tokens"));
}
