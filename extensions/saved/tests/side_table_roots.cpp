// What a loaded conversation may read back: a side table is untrusted, and cannot name another conversation's objects.
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/temp_dir.hpp"
#include "whittle/conversation/read_offloaded.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/saved/side_table.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using whittle::testing::errc_of;
using whittle::testing::TempDir;

namespace {

const std::vector<ToolSpec> reader_listed{{"read_offloaded", "reads", "{}"}};

Chain<> clearing_into(std::shared_ptr<Storage> storage, std::string root_dir = {}) {
    return Chain<>{
        ChainConfig{.storage = std::move(storage)},
        Reduction<>{{.skip_truncation = true, .root_dir = std::move(root_dir), .max_tokens_for_clear = 300}}};
}

/// One old result of `text`, cleared, and a call that is open.
Conversation<> cleared(const std::string& id, const std::string& text, const Chain<>& chain) {
    Conversation<> c(id);
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant().call("c1", "read", "{}"));
    c.push_back(ChatMessage::result("c1", "read", text + std::string(2'000, '.')));
    c.push_back(ChatMessage::assistant().call("c2", "read", "{}"));
    chain.before_model(c, {.tools = reader_listed});
    REQUIRE(c.journal().size() == 1);
    return c;
}

std::vector<ChatMessage> copied(const Conversation<>& c) { return {c.messages().begin(), c.messages().end()}; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// What the tool answers to the open call, if its arguments name `reference`.
std::string read_back(const Conversation<>& c, const Chain<>& chain, const std::string& reference) {
    ToolContext context = chain.pending_tool_calls(c, {.tools = reader_listed}).at(0);
    context.arguments = R"({"reference":")" + reference + R"("})";
    CollectingSink sink;
    (void)read_offloaded_tool().invoke(context, sink);
    return sink.take().at(0).text;
}

}  // namespace

TEST_CASE("a forged side table gives a conversation no other conversation's objects", "[side_table]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_into(storage);
    const Conversation<> victim = cleared("victim", "the secret", chain);
    const Conversation<> mallory = cleared("mallory", "nothing", chain);
    const std::string forged = replaced(to_side_table(mallory), "mallory/clear/c1", "victim/clear/c1");
    REQUIRE(forged != to_side_table(mallory));
    Conversation<> loaded = from_side_table<ChatMessage>(forged, copied(mallory), storage);
    chain.before_model(loaded);

    CHECK(read_back(loaded, chain, "victim/clear/c1").find("names nothing that was stored") != std::string::npos);
    CHECK_FALSE(loaded.objects()->find("victim/clear/c1", storage));
    CHECK(errc_of([&] { loaded.undo(); }) == Errc::not_found);
    CHECK(errc_of([&] { loaded.restore_and_pin(3); }) == Errc::not_found);
    CHECK(errc_of([&] { (void)to_side_table(loaded, storage.get()); }) == Errc::not_found);

    const Conversation<> fork = loaded.fork("mallory2", storage);
    CHECK_FALSE(fork.objects()->find("victim/clear/c1", storage));
    Conversation<> again = from_side_table<ChatMessage>(to_side_table(fork), copied(fork), storage);
    CHECK_FALSE(again.objects()->find("victim/clear/c1", storage));
    CHECK(victim.objects()->find("victim/clear/c1", storage));
}

TEST_CASE("a loaded conversation reads what lies below its id", "[side_table]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_into(storage);
    const Conversation<> c = cleared("mine", "my text", chain);
    Conversation<> loaded = from_side_table<ChatMessage>(to_side_table(c), copied(c), storage);
    CHECK(read_back(loaded, chain, "mine/clear/c1").starts_with("my text"));
    CHECK(loaded.undo());
}

TEST_CASE("what lies below a configured root_dir is read by the chain that has it, and where loading names it",
          "[side_table]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_into(storage, "shared/results");
    CHECK(chain.extra_readable_roots() == std::vector<std::string>{"shared/results"});
    const Conversation<> c = cleared("mine", "my text", chain);
    const std::string table = to_side_table(c);

    Conversation<> loaded = from_side_table<ChatMessage>(table, copied(c), storage);
    CHECK_FALSE(loaded.objects()->find("shared/results/clear/c1", storage));
    CHECK(errc_of([&] { loaded.undo(); }) == Errc::not_found);
    CHECK(read_back(loaded, chain, "shared/results/clear/c1").starts_with("my text"));

    Conversation<> named = from_side_table<ChatMessage>(
        table, copied(c), storage, {.expected_id = "mine", .extra_readable_roots = chain.extra_readable_roots()});
    CHECK(named.undo());
    CHECK_FALSE(from_side_table<ChatMessage>(table, copied(c), storage, {.extra_readable_roots = {"shared/res"}})
                    .objects()
                    ->find("shared/results/clear/c1", storage));
}

TEST_CASE("a side table of another conversation than the host asked for is refused", "[side_table]") {
    const Chain<> chain = clearing_into(memory_storage());
    const Conversation<> c = cleared("victim", "the secret", chain);
    const auto load = [&](const LoadOptions& options) {
        (void)from_side_table<ChatMessage>(to_side_table(c), copied(c), chain.config().storage, options);
    };
    CHECK(errc_of([&] { load({.expected_id = "mallory"}); }) == Errc::damaged);
    CHECK_NOTHROW(load({.expected_id = "victim"}));
}

TEST_CASE("what a side table brings itself is read, and nothing below it", "[side_table]") {
    const Chain<> chain = clearing_into(memory_storage());
    const Conversation<> c = cleared("mine", "my text", chain);
    std::string table = to_side_table(c, chain.config().storage.get());
    table = replaced(std::move(table), "mine/clear/c1", "theirs/c");
    const auto storage = memory_storage();
    storage->put_if_absent("theirs/c/deep", "the secret");
    const Conversation<> loaded = from_side_table<ChatMessage>(table, copied(c), storage);
    CHECK(loaded.objects()->find("theirs/c", storage));
    CHECK_FALSE(loaded.objects()->may_read("theirs/c/deep", storage));
}

TEST_CASE("a saved fork reads what its origin had stored, and another conversation does not", "[side_table]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_into(storage);
    const Conversation<> origin = cleared("origin", "from before the fork", chain);
    const Conversation<> first = origin.fork("branch");
    const Conversation<> second = first.fork("branch-of-branch");
    for (const Conversation<>* fork : {&first, &second}) {
        Conversation<> loaded = from_side_table<ChatMessage>(to_side_table(*fork), copied(*fork), storage);
        CHECK(read_back(loaded, chain, "origin/clear/c1").starts_with("from before the fork"));
        CHECK(loaded.undo());
    }
    const Conversation<> loaded = from_side_table<ChatMessage>(to_side_table(first), copied(first), storage);
    const Conversation<> third = loaded.fork("branch-after-loading", storage);
    CHECK(third.objects()->find("origin/clear/c1", storage));
    CHECK(from_side_table<ChatMessage>(to_side_table(third), copied(third), storage)
              .objects()
              ->find("origin/clear/c1", storage));
    const std::string stolen = replaced(to_side_table(first), R"("branch")", R"("stranger")");
    const Conversation<> stranger = from_side_table<ChatMessage>(stolen, copied(first), storage);
    REQUIRE(stranger.id() == "stranger");
    CHECK_FALSE(stranger.objects()->find("origin/clear/c1", storage));
}

TEST_CASE("two forks to one id are both readable", "[side_table]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_into(storage);
    const Conversation<> one = cleared("one", "of one", chain).fork("both");
    const Conversation<> two = cleared("two", "of two", chain).fork("both");
    const auto load = [&](const Conversation<>& c) {
        return from_side_table<ChatMessage>(to_side_table(c), copied(c), storage);
    };
    CHECK(load(one).objects()->find("one/clear/c1", storage));
    CHECK(load(two).objects()->find("two/clear/c1", storage));
}

TEST_CASE("nothing but a fork writes the list of what a fork may read", "[side_table]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_into(storage);
    const Conversation<> c = cleared("mallory", "text", chain);
    std::string key;
    (void)c.fork("branch");
    storage->list("branch/", [&](const ObjectInfo& object) {
        key = object.key;
        return true;
    });
    REQUIRE(whittle::detail::is_roots_key(key));
    key = "mallory" + key.substr(key.find('/'));
    const std::string table = replaced(to_side_table(c, storage.get()), "mallory/clear/c1", key);
    CHECK(errc_of([&] { (void)from_side_table<ChatMessage>(table, copied(c), storage); }) == Errc::parse_failed);

    Conversation<> host("host");
    auto edit = host.edit("test", {.storage = storage});
    CHECK(errc_of([&] { edit.store_on_commit(key, "victim/\n"); }) == Errc::invalid_key);
    CHECK(errc_of([&] { (void)to_key(key, "gen_clear_offload_file_path"); }) == Errc::invalid_key);
}

TEST_CASE("a store that refuses the list of a fork refuses the fork", "[side_table]") {
    const auto storage = memory_storage({.max_bytes = 2'050});
    const Conversation<> c = cleared("full", "text", clearing_into(storage));
    storage->put_if_absent("rest", std::string(40, 'x'));
    CHECK(errc_of([&] { (void)c.fork("branch"); }) == Errc::storage_failed);
}

TEST_CASE("a conversation reads its references after its store was moved, also those from before", "[side_table]") {
    const TempDir dir;
    const auto before = file_storage(dir / "before");
    const Conversation<> c = cleared("moved", "my text", clearing_into(before));
    const std::string placeholder = text_of(c.messages()[2], 0);
    CHECK(placeholder.find(R"(; read_offloaded("moved/clear/c1")])") !=
          std::string::npos);  // as read_offloaded is listed
    CHECK(placeholder.find(dir.path().string()) == std::string::npos);
    const std::string old_path = before->locate("moved/clear/c1");

    std::filesystem::rename(dir / "before", dir / "after");
    const auto after = file_storage(dir / "after");
    const Chain<> chain = clearing_into(after);
    const Conversation<> loaded = from_side_table<ChatMessage>(to_side_table(c), copied(c), after);
    for (const std::string& reference : {std::string("moved/clear/c1"), old_path, after->locate("moved/clear/c1")})
        CHECK(read_back(loaded, chain, reference).starts_with("my text"));
    for (const char* reference : {"/etc/moved/clear", "/x/../moved/clear/c1", "../moved/clear/c1", "x/moved/clear/c1"})
        CHECK(read_back(loaded, chain, reference).find("names nothing") != std::string::npos);
}

TEST_CASE("the model is told the shown root, the key by the library's own tool, and both are read",
          "[read_offloaded]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store", {.shown_root = "/workspace/store/"});
    storage->put_if_absent("c/clear/a", "text");
    CHECK(storage->locate("c/clear/a") == "/workspace/store/c/clear/a");
    CHECK(storage->get("c/clear/a") == "text");
    CHECK(reference_to(*storage, "c/clear/a", "read_offloaded") == "c/clear/a");
    CHECK(reference_to(*storage, "c/clear/a", "read_file") == "/workspace/store/c/clear/a");
    CHECK(reference_to(*storage, "c/clear/a", "") == "/workspace/store/c/clear/a");
    StoredObjects objects("c");
    objects.add("c/clear/a", storage);
    CHECK(objects.find("c/clear/a", nullptr)->key == "c/clear/a");
    CHECK(objects.find("/workspace/store/c/clear/a", nullptr)->key == "c/clear/a");
}
