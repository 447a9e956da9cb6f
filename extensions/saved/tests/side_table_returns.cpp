#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/saved/side_table.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

TEST_CASE("a saved conversation keeps what came in shortened, what was read back and what a page left out",
          "[side_table]") {
    const auto store = memory_storage();
    const Chain chain{ChainConfig{.storage = store}, Reduction{{.max_length_for_trunc = 1'000}}};
    Conversation<> saved("conv");
    saved.push_back(ChatMessage::user("go"));
    const auto run = [&](const std::string& id, const std::string& tool, const std::string& arguments,
                         const std::vector<std::string>& texts) {
        saved.push_back(ChatMessage::assistant("").call(id, tool, arguments));
        const std::vector<ToolContext> calls = chain.pending_tool_calls(saved);
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(calls.at(0), sink, [&](const ToolContext&, PartSink& out) {
            for (const std::string& text : texts) out.push({.text = text});
            return ToolOutcome{};
        });
        saved.push_tool_results(std::vector{collect_tool_return(calls[0], sink, std::move(outcome))});
    };
    run("a", "tool", "{}", {std::string(5'000, 'x'), "short", std::string(4'000, 'y')});
    run("r", "read_file", R"({"path":"conv/trunc/a"})", {std::string(9'000, 'z')});

    const std::vector<ChatMessage> messages(saved.messages().begin(), saved.messages().end());
    Conversation<> loaded = from_side_table<ChatMessage>(to_side_table(saved), messages, store);
    CHECK(loaded.read_backs() == 1);
    CHECK(loaded.objects()->find("conv/trunc/a", store));
    while (loaded.undo()) {
    }
    CHECK(loaded.messages()[2].parts[0].text == std::string(5'000, 'x'));
    CHECK(loaded.messages()[2].parts[1].text == "short");
    CHECK(loaded.messages()[2].parts[2].text == std::string(4'000, 'y'));
    CHECK(loaded.messages()[4].parts[0].text == std::string(9'000, 'z'));
}
