// Every callback of a summary sees where it is, and the stop token of its hook.
#include "whittle/summarization/summarization.hpp"

#include "support/catch.hpp"
#include "talk.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// What callbacks were told, by their names.
struct ToldWhere {
    explicit ToldWhere(StopToken of_hook) : stop(std::move(of_hook)) {}

    void note(const std::string& name, const CallbackContext& context) {
        std::string text(context.conversation_id);
        text +=
            " round " + std::to_string(context.round_serial) + ", " + std::to_string(context.tools.size()) + " tools";
        if (context.stop == stop) text += ", can be stopped";
        seen[name] = text;
    }

    StopToken stop;
    std::map<std::string, std::string> seen{};
};

SummarizationCallbacks<ChatMessage> watching(ToldWhere& told) {
    SummarizationCallbacks<ChatMessage> callbacks;
    callbacks.token_counter = [&](const CallbackContext& context, const Conversation<ChatMessage>& conversation) {
        told.note("token_counter", context);
        return static_cast<std::int64_t>(conversation.size()) * 1'000;
    };
    callbacks.flush_memory = [&](const CallbackContext& context, const auto&) { told.note("flush_memory", context); };
    callbacks.callback = [&](const CallbackContext& context, auto, auto) { told.note("callback", context); };
    callbacks.on_internal_event = [&](const CallbackContext& context, const auto&) { told.note("event", context); };
    callbacks.retry.should_retry = [&](const Attempt<ChatMessage>& attempt) {
        told.note("should_retry", attempt);
        return attempt.error != nullptr;
    };
    callbacks.retry.backoff = [&](const Attempt<ChatMessage>& attempt) {
        return told.note("backoff", attempt), std::chrono::milliseconds(1);
    };
    callbacks.failover.should_failover = [&](const Attempt<ChatMessage>& attempt) {
        return told.note("should_failover", attempt), attempt.error != nullptr;
    };
    callbacks.failover.get_failover_model = [&](const FailoverContext<ChatMessage>& context) {
        told.note("get_failover_model", context);
        return FailoverModel<ChatMessage>{std::make_shared<Summarizer<ChatMessage>>(good_summary())};
    };
    return callbacks;
}

/// What the callbacks were told that are no other's, each once.
std::map<std::string, std::string> told_by(const SummarizationCallbacks<ChatMessage>& callbacks, ToldWhere& told,
                                           StopToken stop) {
    SummarizationConfig config = small_trigger();
    config.emit_internal_events = true;
    config.retry = RetryConfig{1};
    config.failover = FailoverConfig{1};
    const auto failing = std::make_shared<Summarizer<ChatMessage>>(
        [](const auto&, int) -> Reply<ChatMessage> { throw Error({}, "down"); });
    const Chain<ChatMessage> chain(ChainConfig{.clock = std::make_shared<ManualClock>(1'000)},
                                   Summarization<ChatMessage>{failing, config, callbacks});
    Conversation<ChatMessage> conversation("conv");
    push_all(conversation, long_talk(3, 4, 2'000));
    const std::vector<ToolSpec> tools(2, ToolSpec{"read_file", "", "{}"});
    const Report& report = chain.before_model(conversation, {.tools = tools, .stop = std::move(stop)});
    REQUIRE(report.stages[0].outcome == Outcome::committed);
    return told.seen;
}

}  // namespace

TEST_CASE("callbacks of a summary see conversation, round and tools, and can be stopped", "[summarization]") {
    const StopSource stop;
    ToldWhere told(stop.get_token());
    SummarizationCallbacks<ChatMessage> callbacks = watching(told);
    std::vector<std::string> names{"token_counter", "flush_memory", "callback",        "event",
                                   "should_retry",  "backoff",      "should_failover", "get_failover_model"};
    SECTION("with an input and a finalizer of the user's") {
        names.insert(names.end(), {"gen_model_input", "finalize"});
        callbacks.gen_model_input = [&](const CallbackContext& context, const ChatMessage& system,
                                        const ChatMessage& task, const OriginalMessages<ChatMessage>&) {
            told.note("gen_model_input", context);
            return std::vector<ChatMessage>{system, task};
        };
        callbacks.finalize = [&](const FinalizeContext& context, auto, const ChatMessage& summary) {
            told.note("finalize", context);
            return std::vector<ChatMessage>{summary};
        };
    }
    SECTION("with what a summary carries along") {
        names.insert(names.end(), {"user_message_filter", "attach_files"});
        callbacks.user_message_filter = [&](const CallbackContext& context, const ChatMessage&) {
            return told.note("user_message_filter", context), true;
        };
        callbacks.attach_files = [&](const CallbackContext& context, auto) {
            return told.note("attach_files", context), std::vector<AttachedFile>{};
        };
    }
    const auto seen = told_by(callbacks, told, stop.get_token());
    for (const std::string& name : names) {
        INFO(name);
        REQUIRE(seen.contains(name));
        // The last of twelve rounds: behind a system text and, in each of three requests, a user's message.
        const bool before_fold = name != "callback" && name != "event";
        CHECK(seen.at(name) ==
              (before_fold ? "conv round 29, 2 tools, can be stopped" : "conv round 0, 2 tools, can be stopped"));
    }
    CHECK(seen.size() == names.size());
}

TEST_CASE("the filter of a default finalizer is told where that was called", "[summarization]") {
    std::string conversation;
    const auto finalize = default_finalizer<ChatMessage>({}, [&](const CallbackContext& context, const ChatMessage&) {
        conversation = context.conversation_id;
        return true;
    });
    const std::vector<ChatMessage> originals{ChatMessage::user("please")};
    finalize({{.conversation_id = "conv"}}, originals, ChatMessage::user("a summary"));
    CHECK(conversation == "conv");
}
