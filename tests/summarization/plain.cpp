// Summaries by rule: without a model, and where the model's failed.
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/summarization/summarization.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using whittle::testing::errc_of;
using namespace whittle;

namespace {

SummarizationConfig by_rule() {
    return {.trigger = {.context_tokens = 4'000}, .keep_recent_tokens = 500, .rule_based_summary_tokens = 600};
}

/// Twenty rounds of edits, about 400 tokens each.
Conversation<> edits() {
    Conversation<> conversation("by rule");
    conversation.push_back(ChatMessage::user("Never touch main.cpp. Mend the rest."));
    for (int i = 0; i < 20; ++i) {
        const std::string id = "e" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("The bug is in part " + id + ".")
                                   .call(id, "edit", "{\"path\":\"src/" + id + ".cpp\"}"));
        conversation.push_back(ChatMessage::result(id, "edit", std::string(1'500, 'x')));
    }
    conversation.push_back(ChatMessage::user("And now?"));
    return conversation;
}

Chain<> chain_with(std::shared_ptr<Model<ChatMessage>> model, SummarizationConfig config,
                   std::vector<std::string>* events = nullptr) {
    ChainConfig chain;
    chain.storage = memory_storage();
    ChainCallbacks<> callbacks;
    if (events != nullptr) callbacks.on_event = [events](const Event& event) { events->emplace_back(event.kind); };
    return Chain<>{chain, std::move(callbacks), {std::make_shared<Summarization<>>(std::move(model), config)}};
}

std::string text_of_all(const Conversation<>& conversation) {
    std::string text;
    for (const ChatMessage& message : conversation.messages()) text += text_of(message) + "\n";
    return text;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::shared_ptr<Model<ChatMessage>> failing(ModelErrorClass error_class) {
    return std::make_shared<ScriptedModel<ChatMessage>>(
        [error_class](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> {
            throw ModelError(error_class, "not today");
        });
}

}  // namespace

TEST_CASE("without a model old messages are folded into a summary by rule", "[summarization]") {
    Conversation<> conversation = edits();
    const std::size_t size = conversation.size();
    const Chain<> chain = chain_with(nullptr, by_rule());
    const Report& report = chain.before_model(conversation);
    REQUIRE(report.changed());
    CHECK(report.tokens_after < 4'000);
    const std::string text = text_of_all(conversation);
    CHECK(has(text, "Written without a model"));
    CHECK(has(text, "src/e17.cpp (written)"));
    CHECK(has(text, "Never touch main.cpp."));
    CHECK(validate(conversation.outline(), openai_chat()).empty());
    CHECK_FALSE(chain.before_model(conversation).changed());
    CHECK(conversation.undo());
    CHECK(conversation.size() == size);
}

TEST_CASE("what a summary by rule has kept word for word is one list", "[summarization]") {
    for (const std::int64_t retained : {0, 1'000}) {
        CAPTURE(retained);
        Conversation<> conversation("by rule");
        for (int i = 0; i < 60; ++i) {
            const std::string id = "e" + std::to_string(i);
            conversation.push_back(
                ChatMessage::user("Never touch https://example.org/part/" + id + "/index.html again."));
            conversation.push_back(ChatMessage::assistant("Then I leave " + id + ". " + std::string(400, 'x')));
        }
        SummarizationConfig config = by_rule();
        config.rule_based_summary_tokens = 300;
        config.retained_facts_tokens = retained;
        config.preserve_user_messages.enabled = false;
        REQUIRE(chain_with(nullptr, config).before_model(conversation).changed());
        const std::string text = text_of_all(conversation);
        constexpr std::string_view heading = "Kept word for word from that conversation";
        REQUIRE(has(text, heading));
        CHECK(text.find(heading) == text.rfind(heading));
        CHECK(has(text, "/part/e1/index.html") == (retained > 0));
    }
}

TEST_CASE("where the model's summary failed for good, one by rule takes its place and says why", "[summarization]") {
    std::vector<std::string> events;
    const Chain<> chain = chain_with(failing(ModelErrorClass::server), by_rule(), &events);
    Conversation<> conversation = edits();
    const Report& report = chain.before_model(conversation);
    REQUIRE(report.changed());
    CHECK(has(report.stages.front().details->error, "written without the model: "));
    CHECK(has(report.stages.front().details->error, "not today"));
    CHECK(std::ranges::count(events, "rule_based_summary") == 1);
    CHECK(has(text_of_all(conversation), "Written without a model"));
}

TEST_CASE("a refused reply, too, makes way for a summary by rule", "[summarization]") {
    const auto greeting = std::make_shared<ScriptedModel<ChatMessage>>([](const ModelRequest<ChatMessage>&) {
        return Reply<ChatMessage>{ChatMessage::assistant("Hello! How can I help you today?")};
    });
    Conversation<> conversation = edits();
    CHECK(chain_with(greeting, by_rule()).before_model(conversation).changed());
    CHECK(has(text_of_all(conversation), "Written without a model"));
}

TEST_CASE("a summary of a model that works is taken, and a stop ends both", "[summarization]") {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([](const ModelRequest<ChatMessage>&) {
        return Reply<ChatMessage>{ChatMessage::assistant(
            "<summary>The user asked to mend src/e1.cpp to src/e19.cpp; it was done.</summary>")};
    });
    Conversation<> conversation = edits();
    CHECK(chain_with(model, by_rule()).before_model(conversation).changed());
    CHECK_FALSE(has(text_of_all(conversation), "Written without a model"));

    Conversation<> stopped = edits();
    const Chain<> chain = chain_with(failing(ModelErrorClass::cancelled), by_rule());
    try {
        chain.before_model(stopped);
    } catch (const Error&) {
    }
    CHECK_FALSE(has(text_of_all(stopped), "Written without a model"));
}

TEST_CASE("without rule_based_summary_tokens a model is required, and a failed summary leaves the history",
          "[summarization]") {
    SummarizationConfig config = by_rule();
    config.rule_based_summary_tokens = 0;
    CHECK(errc_of([&] { chain_with(nullptr, config); }) == Errc::invalid_config);
    Conversation<> conversation = edits();
    CHECK_FALSE(chain_with(failing(ModelErrorClass::server), config).before_model(conversation).changed());
    config.rule_based_summary_tokens = -1;
    CHECK(errc_of([&] { chain_with(nullptr, config); }) == Errc::invalid_config);
}

TEST_CASE("a summary by rule goes on from the one before", "[summarization]") {
    Conversation<> conversation = edits();
    const Chain<> chain = chain_with(nullptr, by_rule());
    chain.before_model(conversation);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 12; ++i) {
            const std::string id = "n" + std::to_string(round * 12 + i);
            conversation.push_back(
                ChatMessage::assistant("").call(id, "edit", "{\"path\":\"src/new/" + id + ".cpp\"}"));
            conversation.push_back(ChatMessage::result(id, "edit", std::string(1'500, 'y')));
        }
        CHECK(chain.before_model(conversation).changed());
        CHECK(conversation.tokens(chars_counter()) < 4'000);
    }
    const std::string text = text_of_all(conversation);
    CHECK(has(text, "src/new/n30.cpp (written)"));
    CHECK(has(text, "- Never touch main.cpp. Mend the rest."));
    CHECK(validate(conversation.outline(), openai_chat()).empty());
}

TEST_CASE("calls that name nothing are folded by rule all the same, at every size of the summary", "[summarization]") {
    for (const std::int64_t tokens : {20, 200, 600, 3'000}) {
        for (const char* arguments : {"{}", "{\"x\":3,\"y\":4}", "{\"statement\":\"SELECT 1\"}"}) {
            CAPTURE(tokens, arguments);
            Conversation<> conversation("clicks");
            conversation.push_back(ChatMessage::user("Go."));
            for (int i = 0; i < 60; ++i) {
                const std::string id = "c" + std::to_string(i);
                conversation.push_back(ChatMessage::assistant("").call(id, "act", arguments));
                conversation.push_back(ChatMessage::result(id, "act", std::string(400, 'x')));
            }
            SummarizationConfig config = by_rule();
            config.rule_based_summary_tokens = tokens;
            std::vector<std::string> events;
            const Report& report = chain_with(nullptr, config, &events).before_model(conversation);
            CHECK(report.changed());
            CHECK(report.tokens_after < report.tokens_before / 2);
            CHECK(std::ranges::count(events, "rule_based_summary") == 0);
            if (tokens >= 200) CHECK(has(text_of_all(conversation), "- act: "));
        }
    }
}

TEST_CASE("where a server wants turns a fold leaves no second word of the user in a row, nor one behind a tool",
          "[summarization]") {
    for (const bool goes_on : {false, true}) {
        for (const bool has_last_word : {false, true}) {
            CAPTURE(goes_on, has_last_word);
            Conversation<> conversation("turns");
            conversation.push_back(ChatMessage::user("Mend it."));
            for (int i = 0; i < 30; ++i) {
                const std::string id = "e" + std::to_string(i);
                conversation.push_back(ChatMessage::assistant("").call(id, "edit", "{\"path\":\"src/a.cpp\"}"));
                conversation.push_back(ChatMessage::result(id, "edit", std::string(1'500, 'x')));
            }
            if (has_last_word) {
                conversation.push_back(ChatMessage::assistant("Done."));
                conversation.push_back(ChatMessage::user("And now?"));
            }
            SummarizationConfig config = by_rule();
            config.continue_message = goes_on;
            ChainConfig chain;
            chain.storage = memory_storage();
            chain.profile.validity = openai_compatible();
            const Chain<> strict{chain, Summarization<>{nullptr, config}};
            REQUIRE(strict.before_model(conversation).changed());
            for (std::size_t i = 1; i < conversation.size(); ++i) {
                const Role role = conversation.outline()[i].role;
                const Role before = conversation.outline()[i - 1].role;
                CHECK_FALSE((role == Role::user && (before == Role::user || before == Role::tool)));
            }
            CHECK_FALSE(strict.before_model(conversation).changed());
        }
    }
}
