// A server that leaves out the oldest messages of a request that is too large and says nothing.
#include "routed.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/preset/presets.hpp"
#include "whittle/servers/silent_truncation.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::json;
using openai::Message;

namespace {

/// As Ollama: drops messages from the front until the rest fits, but for system messages and the last one. Four bytes
/// are a token. A word that it read stands in its reply.
class CuttingServer {
public:
    explicit CuttingServer(std::int64_t window) : window_(window) {}

    HttpResponse operator()(const HttpRequest& request) {
        json messages = json::parse(request.body).at("messages");
        const auto size = [&] {
            std::int64_t bytes = 0;
            for (const json& message : messages) bytes += static_cast<std::int64_t>(message.dump().size());
            return bytes / 4;
        };
        const std::int64_t sent = size();
        while (size() > window_ && messages.size() > 1) {
            const std::size_t first = messages[0].at("role") == "system" ? 1 : 0;
            if (messages.size() == first + 1) break;
            messages.erase(first);
        }
        cut += size() < sent ? 1 : 0;
        knows_word = messages.dump().find("heron") != std::string::npos;
        const std::string number = std::to_string(++calls_);
        json message{{"role", "assistant"}, {"content", knows_word ? "The word is known." : "Which word?"}};
        if (calls_ <= 12)
            message = {{"role", "assistant"},
                       {"content", nullptr},
                       {"tool_calls",
                        {{{"id", "call_" + number},
                          {"type", "function"},
                          {"function", {{"name", "read"}, {"arguments", "{\"n\":" + number + "}"}}}}}}};
        const json answer{
            {"choices", {{{"index", 0}, {"finish_reason", "stop"}, {"message", message}}}},
            {"usage", {{"prompt_tokens", size()}, {"completion_tokens", 10}, {"total_tokens", size() + 10}}}};
        return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = answer.dump()};
    }

    int cut = 0;
    bool knows_word = false;

private:
    std::int64_t window_;
    int calls_ = 0;
};

std::string lines_of(std::size_t bytes, std::string_view mark = {}) {
    std::string text;
    while (text.size() < bytes) text.append(mark).append(std::to_string(text.size())).append(", word for word\n");
    text.resize(bytes);
    return text;
}

struct Ran {
    RunResult result{};
    int cut = 0;
    bool knows_word = false;
    std::vector<std::string> kinds{};
};

/// The host believes in a window that the server does not have.
Ran run_agent(bool is_watched, TruncationCheckConfig config = {}) {
    Ran ran;
    CuttingServer server(4'096);
    const auto transport = std::make_shared<RoutedTransport>();
    transport->on("POST /v1/chat/completions", [&](const HttpRequest& request) { return server(request); });
    std::shared_ptr<Model<Message>> model = std::make_shared<OpenAIChatModel>(
        transport, OpenAIModelConfig{.model = "m", .base_url = "http://127.0.0.1:1/v1"});
    config.on_event = [&](const Event& event) { ran.kinds.emplace_back(event.kind); };
    if (is_watched) model = with_truncation_check(model, config);
    const Tool read = text_tool("read", "Reads.", R"({"type":"object"})",
                                [](std::string_view arguments) { return lines_of(2'400, arguments); });
    AgentLoop<Message> loop{
        model, {read}, make_chain<Message>(preset_config(Preset::local, {.context_window = 128'000}))};
    Conversation<Message> conversation("cut");
    ran.result = loop.run(conversation, "The word of the day is heron. Read on.");
    ran.cut = server.cut;
    ran.knows_word = server.knows_word;
    return ran;
}

Reply<ChatMessage> reply_billed(std::int64_t input) {
    return {.message = ChatMessage::assistant("x"), .usage = Usage{.uncached_input = input, .output = 5}};
}

/// Bills what it is told to.
class Billing final : public Model<ChatMessage> {
public:
    explicit Billing(std::vector<std::int64_t> bills) : bills_(std::move(bills)) {}
    Reply<ChatMessage> generate(const ModelRequest<ChatMessage>&) override { return reply_billed(bills_.at(next_++)); }

private:
    std::vector<std::int64_t> bills_;
    std::size_t next_ = 0;
};

/// One message more with each bill.
int truncations_reported(std::vector<std::int64_t> bills, std::size_t bytes_each, std::int64_t window = 0,
                         PartKind kind = PartKind::text, const std::string& end = {}) {
    int reported = 0;
    const std::size_t calls = bills.size();
    const auto model = with_truncation_check(std::make_shared<Billing>(std::move(bills)),
                                             {.on_truncation = OnTruncation::accept,
                                              .reported_window_tokens = window,
                                              .on_event = [&](const Event&) { ++reported; }});
    std::vector<ChatMessage> messages;
    int without_usage = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        ChatMessage message = ChatMessage::assistant();
        message.parts.push_back(Part{.kind = kind, .text = lines_of(bytes_each) + end});
        messages.push_back(std::move(message));
        without_usage += model->generate({.messages = messages}).usage ? 0 : 1;
    }
    CHECK(without_usage == reported);
    return reported;
}

}  // namespace

TEST_CASE("an agent behind a server that cuts in silence forgets its task, and with a watch it does not", "[servers]") {
    const Ran blind = run_agent(false);
    CHECK(blind.cut > 0);
    CHECK_FALSE(blind.knows_word);
    CHECK(blind.result.text == "Which word?");

    const Ran watched = run_agent(true);
    CHECK(watched.cut == 1);  // the first one is seen, and the window is learnt from it
    CHECK(watched.knows_word);
    CHECK(watched.result.text == "The word is known.");
    CHECK(watched.kinds == std::vector<std::string>{"silent_truncation"});

    const Ran known = run_agent(true, {.reported_window_tokens = 4'096});
    CHECK(known.knows_word);

    const Ran reported = run_agent(true, {.on_truncation = OnTruncation::accept});
    CHECK(reported.kinds.size() >= 1);
    CHECK_FALSE(reported.knows_word);
}

TEST_CASE("a bill that falls, or does not grow with the request, is a cut", "[servers]") {
    CHECK(truncations_reported({1'000, 2'000, 1'900}, 4'000) == 1);
    CHECK(truncations_reported({1'000, 2'000, 2'100}, 4'000) == 1);  // 4,000 bytes more are 500 tokens at least
    CHECK(truncations_reported({1'000, 1'500, 2'000}, 4'000) == 0);
    CHECK(truncations_reported({400, 300, 200}, 40) == 0);  // too small to judge
    CHECK(truncations_reported({0, 0, 0}, 4'000) == 0);     // says nothing
}

TEST_CASE("thinking that a template leaves out later is no cut", "[servers]") {
    CHECK(truncations_reported({2'000, 3'000, 900}, 4'000, 0, PartKind::thinking) == 0);
    CHECK(truncations_reported({2'000, 3'000, 900}, 4'000, 0, PartKind::text, "</think>") ==
          0);  // a server that leaves it in
    CHECK(truncations_reported({2'000, 3'000, 900}, 4'000, 0, PartKind::text, "</thin>") == 1);
}

TEST_CASE("a long run of one character is next to nothing in a bill", "[servers]") {
    const auto reported = [](const std::string& text) {
        int cuts = 0;
        const auto model =
            with_truncation_check(std::make_shared<Billing>(std::vector<std::int64_t>{1'000, 1'005}),
                                  {.on_truncation = OnTruncation::accept, .on_event = [&](const Event&) { ++cuts; }});
        std::vector<ChatMessage> messages{ChatMessage::user("a")};
        (void)model->generate({.messages = messages});
        messages.push_back(ChatMessage::user(text));
        (void)model->generate({.messages = messages});
        return cuts;
    };
    CHECK(reported(std::string(4'000, ' ')) == 0);
    std::string rule;  // as tables are drawn with
    while (rule.size() < 4'000) rule += "\u2500";
    CHECK(reported(rule) == 0);
    CHECK(reported(lines_of(4'000)) == 1);
}

TEST_CASE("a request that was billed less than eight bytes a token come to is a cut, the first one too", "[servers]") {
    CHECK(truncations_reported({4'000}, 40'000, 4'096) == 1);
    CHECK(truncations_reported({4'000}, 40'000) == 1);         // whatever the window is
    CHECK(truncations_reported({9'000}, 40'000, 4'096) == 0);  // it was read whole: the window was wrong
    CHECK(truncations_reported({4'000}, 30'000, 4'096) == 0);  // may be eight bytes a token
    CHECK(truncations_reported({100}, 30'000, 4'096) == 1);    // its last message alone was read
    CHECK(truncations_reported({100}, 3'000, 4'096) == 0);     // too small to judge
}

TEST_CASE("each cut of a talk that goes on is seen, though a cut bill says nothing of the next", "[servers]") {
    CHECK(truncations_reported({1'000, 2'000, 1'900, 1'900, 1'900}, 4'000) == 3);
    CHECK(truncations_reported({1'000, 2'000, 1'900, 3'100}, 4'000) == 1);  // its window became larger
}

TEST_CASE("a recorded Ollama cuts a talk in silence, and the watch sees it by the bill", "[servers]") {
    int chat = 0;
    const auto transport = std::make_shared<RoutedTransport>();
    transport->on("POST /v1/chat/completions", [&](const HttpRequest&) {
        return HttpResponse{.status = 200, .body = server_reply("ollama_2026_chat_" + std::to_string(++chat))};
    });
    const auto model = with_truncation_check(std::make_shared<OpenAIChatModel>(
        transport, OpenAIModelConfig{.model = "smollm2", .base_url = "http://127.0.0.1:1/v1"}));
    const auto said = [](std::string_view role, const std::string& text) {
        return Message(nlohmann::ordered_json{{"role", role}, {"content", text}});
    };
    std::vector<Message> list{said("system", "You keep notes."),
                              said("user", "The word of the day is heron. Keep it.")};
    for (int note = 1; note <= 4; ++note) {  // as they were sent to it, in a window of 1,024 tokens
        std::string text = "Note " + std::to_string(note) + ":";
        for (int i = 0; i < 18; ++i)
            text += " item " + std::to_string(i) + " of entries " + std::to_string(i) + " has code K-" +
                    std::to_string(i * 37 % 1'000) + ".";
        list.push_back(said("user", text));
        if (note > 1 && note < 4) CHECK_NOTHROW(model->generate({.messages = list}));
        if (note == 4) {
            try {
                (void)model->generate({.messages = list});
                FAIL("the cut was not seen");
            } catch (const ModelError& error) {
                CHECK(error.error_class() == ModelErrorClass::overflow);
                CHECK(error.overflow().context_limit_tokens == 889);  // what was read of it
                CHECK(error.overflow().requested_tokens > 889);       // of the 1,186 or so that were sent
            }
        }
        list.push_back(said("assistant", "Kept."));
    }
}

TEST_CASE("a cut is an overflow with the window, or with what was read where no window is known", "[servers]") {
    const auto overflow_of = [](std::int64_t window) {
        const auto model = with_truncation_check(std::make_shared<Billing>(std::vector<std::int64_t>{3'000, 2'000}),
                                                 {.reported_window_tokens = window});
        std::vector<ChatMessage> messages{ChatMessage::user("a")};
        (void)model->generate({.messages = messages});
        messages.push_back(ChatMessage::user("b"));
        try {
            (void)model->generate({.messages = messages});
        } catch (const ModelError& error) {
            CHECK(error.error_class() == ModelErrorClass::overflow);
            return error.overflow();
        }
        return Overflow{};
    };
    CHECK(overflow_of(4'096).context_limit_tokens == 4'096);
    CHECK(overflow_of(0).context_limit_tokens == 2'000);
    CHECK(overflow_of(0).requested_tokens == 3'000);
    CHECK(errc_of([] { (void)with_truncation_check(std::shared_ptr<Billing>()); }) == Errc::invalid_argument);
}
