// Every callback of clearing sees where it is, and the stop token of its hook.
#include "whittle/reduction/reduction.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace whittle;

namespace {

Conversation<> three_reads() {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("read them"));
    for (const char* id : {"a", "b", "c"}) {
        c.push_back(ChatMessage::assistant("").call(id, "read_file"));
        c.push_back(ChatMessage::result(id, "read_file", std::string(4'000, 'x')));
    }
    return c;
}

std::string told(const CallbackContext& context, const StopToken& stop) {
    return std::string(context.conversation_id) + " " + std::string(context.key_safe_call_id) + " round " +
           std::to_string(context.round_serial) + ", " + std::to_string(context.tools.size()) + " tools" +
           (context.stop == stop ? ", can be stopped" : "");
}

}  // namespace

TEST_CASE("the rewriter sees the round that it gets, counter and post-process the newest one", "[reduction]") {
    const StopSource stop;
    std::vector<std::string> rewritten;
    std::string counted;
    std::string cleared;
    ReductionCallbacks<> callbacks;
    callbacks.token_counter = [&](const CallbackContext& context, const Conversation<>&) {
        return counted = told(context, stop.get_token()), std::int64_t{5'000};
    };
    callbacks.clear_message_rewriter = [&](const CallbackContext& context, const ChatMessage&, auto) {
        rewritten.push_back(told(context, stop.get_token()));
        return std::vector{ChatMessage::user("it was read")};
    };
    callbacks.clear_post_process = [&](const CallbackContext& context, const Conversation<>& c, const StageReport&) {
        cleared = told(context, stop.get_token()) + ", " + std::to_string(c.size()) + " messages";
    };
    Conversation<> c = three_reads();
    const Chain<> chain(ChainConfig{.storage = memory_storage()},
                        Reduction<>{{.max_tokens_for_clear = 100}, callbacks});
    const std::vector<ToolSpec> tools{{"read_file", "", "{}"}};
    chain.before_model(c, {.tools = tools, .stop = stop.get_token()});
    CHECK(rewritten == std::vector<std::string>{"conv a round 2, 1 tools, can be stopped",
                                                "conv b round 4, 1 tools, can be stopped"});
    CHECK(counted == "conv  round 6, 1 tools, can be stopped");
    CHECK(cleared == "conv  round 6, 1 tools, can be stopped, 5 messages");
}
