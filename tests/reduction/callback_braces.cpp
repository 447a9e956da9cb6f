// Callbacks of Reduction in braces and as objects.
#include "support/catch.hpp"
#include "whittle/reduction/reduction.hpp"

#include <map>
#include <string>
#include <type_traits>
#include <vector>

using namespace whittle;

namespace {

Conversation<> two_bash_rounds() {
    Conversation<> conversation("braces");
    conversation.push_back(ChatMessage::user("do"));
    for (const char* id : {"a", "b"}) {
        conversation.push_back(ChatMessage::assistant("").call(id, "bash"));
        conversation.push_back(ChatMessage::result(id, "bash", std::string(2'000, 'x')));
    }
    return conversation;
}

ClearResult cleared_by_handler(const ToolDetail&) {
    return {.need_clear = true, .replacement_parts = {{.text = "handled"}}};
}

const ReductionConfig clearing_all{.skip_truncation = true, .max_tokens_for_clear = 10};

template <typename Stage>
std::string first_result_after(Stage stage) {
    Conversation<> conversation = two_bash_rounds();
    Chain({}, std::move(stage)).before_model(conversation);
    return conversation.messages()[2].parts.front().text;
}

}  // namespace

TEST_CASE("handlers of tools are taken in braces, from objects and from a map", "[handlers]") {
    const ToolReductionCallbacks own{.clear_handler = cleared_by_handler};
    const std::map<std::string, ToolReductionCallbacks> tools{{"bash", own}};
    CHECK(first_result_after(Reduction{
              clearing_all, {.tool_config = {{"bash", {.clear_handler = cleared_by_handler}}}}}) == "handled");
    CHECK(first_result_after(Reduction{clearing_all, {.tool_config = {{"bash", own}}}}) == "handled");
    CHECK(first_result_after(Reduction{clearing_all, {.tool_config = tools}}) == "handled");
    ReductionCallbacks<> callbacks;
    callbacks.tool_config = tools;
    const Reduction typed{clearing_all, callbacks, "named"};
    STATIC_REQUIRE(std::is_same_v<decltype(typed), const Reduction<ChatMessage>>);
    CHECK(typed.name() == "named");
    CHECK(first_result_after(typed) == "handled");
}

TEST_CASE("an empty function in braces is none", "[handlers]") {
    const std::function<std::string(const ToolDetail&)> none;
    CHECK(
        first_result_after(Reduction{clearing_all, {.gen_clear_offload_file_path = none, .token_counter = nullptr}}) ==
        plain_placeholder(Language::english));
}
