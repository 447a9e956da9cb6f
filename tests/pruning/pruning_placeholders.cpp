// Pruning<M>: what stands in place of a result, also of one that other middlewares had before.
#include "pruning_talk.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

TEST_CASE("the placeholder says tool, arguments, size, first line, place and reader", "[pruning]") {
    Conversation c = example();
    prune(c, {}, ChainConfig{.storage = memory_storage()}, {.tools = reader});
    const std::string key = pruned_key("conv", "a", output("a"));
    CHECK(text(c, 2) ==
          "[Old read_file result pruned: {\"path\":\"src/a.cpp\"}; 2012 bytes, 2 lines; starts \"output "
          "of a\"; read_offloaded(\"" +
              key + "\")]");
}

TEST_CASE("arguments and first line are cut short, on one line and valid", "[pruning]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "run", R"({"cmd":")" + std::string(300, 'y') + "\"}"));
    c.push_back(ChatMessage::result("a", "run", "\n\n\x1b[31mred\xff" + std::string(2'000, 'z')));
    c.push_back(ChatMessage::assistant("done"));
    prune(c, {.skip_boundary_turns = 0});
    CHECK(text(c, 2).size() < 350);
    CHECK(is_valid_utf8(text(c, 2)));
    CHECK(text(c, 2).find_first_of("\x1b\n") == std::string::npos);
    CHECK(text(c, 2).find(" [31mred\xef\xbf\xbdzzz") != std::string::npos);
}

TEST_CASE("in Chinese the placeholder is Chinese", "[pruning]") {
    Conversation c = example();
    prune(c, {}, ChainConfig{.language = Language::chinese});
    CHECK(text(c, 2).starts_with("[旧的 read_file 结果已移出"));
}

TEST_CASE("the plain form stands there word for word", "[pruning]") {
    Conversation c = example();
    prune(c, {.placeholder = std::string(tool_output_compacted)}, ChainConfig{.storage = memory_storage()});
    CHECK(text(c, 2) == "<tool-output-compacted />");
}

TEST_CASE("partial pruning keeps head and tail and cuts no character", "[pruning]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "run"));
    c.push_back(ChatMessage::result("a", "run", "head€" + std::string(2'000, 'x') + "€tail"));
    c.push_back(ChatMessage::assistant("done"));
    prune(c, {.skip_boundary_turns = 0, .placeholder = "<...>", .partial = true, .head_bytes = 6, .tail_bytes = 6});
    CHECK(text(c, 2) == "head\n<...>\ntail");
    const std::string once = text(c, 2);
    prune(c, {.skip_boundary_turns = 0, .placeholder = "<...>", .partial = true, .head_bytes = 2, .tail_bytes = 2});
    CHECK(text(c, 2) == once);
}

TEST_CASE("partial pruning keeps whole clusters, and as many lines as are asked for", "[pruning]") {
    const auto pruned_text = [](const std::string& result, PruningConfig config) {
        Conversation<> c("conv");
        c.push_back(ChatMessage::user("do"));
        c.push_back(ChatMessage::assistant().call("a", "run"));
        c.push_back(ChatMessage::result("a", "run", result));
        c.push_back(ChatMessage::assistant("done"));
        config.skip_boundary_turns = 0;
        config.placeholder = "<...>";
        config.partial = true;
        prune(c, config);
        return text(c, 2);
    };
    const std::string middle(2'000, 'x');
    CHECK(pruned_text("head👩‍🚀" + middle + "🇩🇪tail", {.head_bytes = 14, .tail_bytes = 11}) ==
          "head\n<...>\ntail");
    const std::string lines = "one\ntwo\nthree\n" + middle + "\nfour\nfive\n";
    CHECK(pruned_text(lines, {.head_lines = 2, .tail_lines = 1}) == "one\ntwo\n\n<...>\nfive\n");
    CHECK(pruned_text(lines, {.head_bytes = 5, .tail_bytes = 7, .head_lines = 2, .tail_lines = 9}) ==
          "one\nt\n<...>\nr\nfive\n");
}

TEST_CASE("a text that is hardly longer than head and tail stays whole", "[pruning]") {
    Conversation c = example();
    prune(c, {.partial = true, .head_bytes = 1'500, .tail_bytes = 505});
    CHECK(pruned(c).empty());
}

TEST_CASE("a pruned result records when, by whom, how and where", "[pruning]") {
    Conversation c = example();
    const auto clock = std::make_shared<ManualClock>(1'234'567);
    const auto storage = memory_storage();
    prune(c, {}, ChainConfig{.storage = storage, .clock = clock});
    const Mark mark = mark_of(c.outline()[2], 0);
    REQUIRE(mark);
    CHECK(mark->origin == Origin::placeholder);
    CHECK(mark->when == 1'234'567);
    CHECK(mark->by == "pruning");
    CHECK(mark->reason == "prune");
    REQUIRE(mark->stored_keys == std::vector{pruned_key("conv", "a", output("a"))});
    CHECK(storage->stat(mark->stored_keys.front())->bytes == 2'012);
    const std::vector<PrunedOutput> outputs = pruned_outputs(c);
    REQUIRE(outputs.size() == 1);
    CHECK(outputs[0].tool == "read_file");
    CHECK(outputs[0].compacted_at == 1'234'567);
    CHECK(outputs[0].by == "pruning");
    CHECK(outputs[0].bytes == 2'012);
    CHECK(outputs[0].stored == mark->stored_keys);
    REQUIRE(c.undo());
    CHECK(pruned_outputs(c).empty());
}

TEST_CASE("a result that was shortened on arrival goes, and the placeholder names the object that has it",
          "[pruning]") {
    const std::string placeholder = GENERATE("", "<tool-output-compacted />");
    const auto storage = memory_storage();
    storage->put_if_absent("conv/trunc/a", std::string(90'000, 'x'));
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "run"));
    const ToolResult shown{"a", "run", {{.kind = PartKind::text, .text = "front " + output("a")}}};
    const std::vector<ToolReturn> returns{
        {shown, {{.part = 0, .key = "conv/trunc/a", .by = "reduction", .storage = storage}}}};
    c.push_tool_results(returns);
    c.push_back(ChatMessage::assistant("done"));
    const auto before = text(c, 2);
    prune(c, {.skip_boundary_turns = 0, .placeholder = placeholder}, ChainConfig{.storage = storage});
    CHECK(text(c, 2).find("conv/trunc/a") != std::string::npos);
    CHECK(mark_of(c.outline()[2], 0)->stored_keys == std::vector<std::string>{"conv/trunc/a"});
    std::vector<std::string> keys;
    storage->list("", [&](const ObjectInfo& info) { return keys.push_back(info.key), true; });
    CHECK(keys == std::vector<std::string>{"conv/trunc/a"});
    REQUIRE(c.undo());
    CHECK(text(c, 2) == before);
    REQUIRE(c.undo());
    CHECK(text(c, 2) == std::string(90'000, 'x'));
}

TEST_CASE("what another middleware wrote and nobody stored stays", "[pruning]") {
    Conversation c = talk(2);
    auto edit = c.edit("other");
    edit.set_text(2, 0, output("short", 1'000), {.origin = Origin::placeholder, .reason = "shorten"});
    REQUIRE(edit.commit().committed());
    prune(c, {.skip_boundary_turns = 0});
    CHECK(pruned(c) == Indices{5});
}

TEST_CASE("an image in a pruned result becomes a reference, and undo brings it back", "[pruning]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "shot"));
    const Part image{.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "\x89PNG..."}};
    const ToolResult result{"a", "shot", {{.kind = PartKind::text, .text = output("a")}, image}};
    c.push_tool_results(std::vector{result});
    c.push_back(ChatMessage::assistant("done"));
    const ChatMessage before = c.messages()[2];
    const auto storage = memory_storage();
    prune(c, {.skip_boundary_turns = 0}, ChainConfig{.storage = storage});
    REQUIRE(c.messages()[2].parts.size() == 2);
    CHECK(c.messages()[2].parts[0].text.starts_with("[Old shot result pruned"));
    CHECK(c.messages()[2].parts[1].text.starts_with("[image: ref://conv/media/"));
    REQUIRE(c.undo());
    CHECK(c.messages()[2] == before);
}

TEST_CASE("a short text beside an image stays, the image goes", "[pruning]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "shot"));
    const Part image{.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "\x89PNG..."}};
    const ToolResult result{"a", "shot", {{.kind = PartKind::text, .text = "taken"}, image}};
    c.push_tool_results(std::vector{result});
    c.push_back(ChatMessage::assistant("done"));
    prune(c, {.skip_boundary_turns = 0}, ChainConfig{.storage = memory_storage()});
    CHECK(c.messages()[2].parts[0].text == "taken");
    CHECK(c.messages()[2].parts[1].text.starts_with("[image: ref://conv/media/"));
    c.notes("pruning").erase("seen_up_to");
    CHECK(outcome(prune(c, {.skip_boundary_turns = 0})) == Outcome::nothing);
}
