// What is taken for a summary, and what is not: texts of servers, clients and models beside short summaries of real
// work.
#include "support/catch.hpp"
#include "work.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using Texts = std::vector<std::string>;

/// A talk with a customer: no path and no code name in it.
Work plain_talk() {
    Work work;
    work.user("I would like to move my flight to Boston to Friday. " + std::string(3'000, '.'))
        .assistant("Friday has two flights, at nine and at noon. Which one? " + std::string(3'000, '.'))
        .user("The one at noon, please, and a window seat.");
    return work;
}

/// "aa", "ab", ...: names that differ in a number only count once.
std::string letters(int i) { return {static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26)}; }

/// A session that mends an upload client: its files, and the very errors of servers in its results.
Work coding_session() {
    Work work;
    work.user("Uploads fail with Error code: 429. Mend src/upload/client.py, never touch config/prod.yaml.");
    for (int i = 0; i < 30; ++i) {
        const std::string n = letters(i);
        work.round(
            "call_" + n, "read_file", R"({"path":"src/upload/part_)" + n + R"(.py"})",
            "def send_part_" + n +
                "(chunk_size): raise RateLimitError(\"Error code: 429 - {'error': {'message': "
                "'Rate limit reached for gpt-4o', 'type': 'rate_limit_error'}}\")\n<html>502 Bad Gateway</html>\n" +
                std::string(300, '-'));
    }
    work.assistant("retry_with_backoff() is in src/upload/retry.py; tests/test_retry.py passes.");
    return work;
}

std::optional<SummaryError> refusal_of(Work work, const std::string& reply) {
    return work.run([&](const Request&) { return say(reply); }).failure;
}

std::string kind_of(const std::optional<SummaryError>& failure) {
    if (!failure) return "accepted";
    return failure->refusal ? std::string(to_string(*failure->refusal)) : failure->message;
}

void expect(const std::string& kind, const Texts& replies) {
    for (const std::string& reply : replies) {
        CAPTURE(reply);
        CHECK(kind_of(refusal_of(plain_talk(), reply)) == kind);
        CHECK(kind_of(refusal_of(coding_session(), reply)) == kind);
        CHECK(kind_of(refusal_of(plain_talk(), "<analysis>\nhm\n</analysis>\n<summary>\n" + reply + "\n</summary>")) ==
              kind);
    }
}

}  // namespace

TEST_CASE("the error text of a server or a client is no summary, also where the session is about such errors",
          "[digest]") {
    expect("error_text",
           {"Error generating summary: Connection error.",
            "Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o', 'type': 'rate_limit_error'}}",
            "Overloaded",
            "overloaded_error: Overloaded",
            "**Error:** the model could not be reached.",
            "[ERROR] upstream request timeout",
            "openai.RateLimitError: Error code: 429",
            "litellm.Timeout: Request timed out. Error_str: Request timed out.",
            "HTTP 503",
            "HTTP/1.1 502 Bad Gateway\r\nServer: nginx",
            "502 Bad Gateway",
            "429 Too Many Requests: retry after 20 s",
            "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
            "Internal Server Error",
            "Service Unavailable. Please try again later.",
            "Sorry! The server is temporarily unavailable.",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
            "You exceeded your current quota, please check your plan and billing details.",
            "Traceback (most recent call last):\n  File \"/app/server.py\", line 3, in <module>\nKeyError: 'choices'",
            "Your credit balance is too low to access the API.",
            "The model is overloaded. Please try again later.",
            "错误：请求失败",
            "请求过于频繁，请稍后再试。",
            "服务器繁忙，请稍后重试",
            "エラー: リクエストがタイムアウトしました",
            "Se ha producido un error al generar la respuesta.",
            "Une erreur est survenue. Veuillez réessayer.",
            "Fehler: Zeitüberschreitung der Anforderung",
            "Произошла ошибка при обработке запроса."});
}

TEST_CASE("a page of HTML and the JSON of an error are no summaries, whatever stands in them", "[digest]") {
    expect(
        "error_text",
        {"<html>\r\n<head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></html>",
         "<!DOCTYPE html><html lang=\"en\"><head><title>example.com | 524: A timeout occurred</title>" +
             std::string(3'000, ' ') + "</html>",
         "<?xml version=\"1.0\"?><Error><Code>SlowDown</Code></Error>", R"({"error": {"code": 500}})",
         R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011"})",
         R"({"detail":"Not Found"})", R"({"message":"Too many requests","status":429})",
         R"({"statusCode": 503, "error": "Service Unavailable", "message": "x"})",
         R"({"errors":[{"message":"AiError: Capacity temporarily exceeded"}],"success":false,"messages":[]})",
         R"({"error": {"message": "Rate limit reached for gpt-4o in organi)",
         "{'error': {'message': 'Rate limit reached for gpt-4o', 'code': None}}"});
}

TEST_CASE("a model's refusal is no summary", "[digest]") {
    expect(
        "refusal",
        {"As an AI language model, I cannot do that.", "I\u2019m sorry, but I can\u2019t assist with that request.",
         "I cannot summarize this conversation.", "Unfortunately I am not able to provide a summary of this content.",
         "I apologize, but I'm unable to process this.", "I must decline to continue with this.",
         "抱歉，我无法总结这段对话。", "申し訳ありませんが、お手伝いできません。",
         "Lo siento, no puedo ayudar con eso.", "Es tut mir leid, dabei kann ich nicht helfen.",
         "Je suis désolé, je ne peux pas faire cela.", "К сожалению, я не могу помочь."});
}

TEST_CASE("a greeting, a question to the user, an offer and a bare assent are no summaries", "[digest]") {
    expect("greeting", {"I'm ready to help. What's the next step?", "Hello! How can I assist you today?",
                        "Sure, please provide the conversation you would like me to summarize.", "Understood.", "OK",
                        "Got it, I'll summarize it.", "Okay! What would you like to do next?",
                        "Of course. Let me know how you want to continue.", "你好！有什么可以帮您？", "好的",
                        "¡Hola! ¿En qué puedo ayudarte?", "Bonjour, comment puis-je vous aider ?",
                        "こんにちは。ご用件は何でしょうか？"});
}

TEST_CASE("what says nothing is empty, and a heading alone is cut off", "[digest]") {
    expect("empty",
           {"null", "None", "...", "\u2026", "\u3002", "\"\"", "undefined", "N/A", "{}", "[]", "---\n***", "`null`"});
    expect("cut_off", {"Here is the summary of the conversation:", "以下是对话摘要："});
}

TEST_CASE("short summaries are accepted, those about errors, refusals and greetings too", "[digest]") {
    const Texts of_a_talk{
        "The customer wants to fly to Boston on Friday at noon, with a window seat.",
        "Customer moved the Boston flight to Friday noon; window seat requested.",
        "Error code 429 came up when the customer paid; the agent retried, and the payment went through.",
        "The agent said it was sorry, but could not move the flight before Friday; the customer accepted that.",
        "The booking site answered \"Service Unavailable\" twice. The agent waited and then booked the noon flight.",
        "The customer greeted the agent and asked for help with a flight to Boston. Open: which seat?",
        "Sure, here is the summary. The customer asked for Boston on Friday, the agent offered two flights, and noon "
        "was "
        "accepted.",
        "用户想把飞往波士顿的航班改到星期五中午，并要靠窗座位。",
        "Der Kunde fliegt am Freitag mittag nach Boston, Fensterplatz.",
        "404 pages were printed for the customer before the flight was moved.",
        "Errors in the booking were corrected: the flight is on Friday.",
        "Rate limiting was added to the booking desk.",
        "The gist of it.",
        R"({"goal": "fly to Boston", "open": ["which seat"], "errors": []})",
        "<overview>\nFly to Boston on Friday.\n</overview>"};
    for (const std::string& summary : of_a_talk) {
        CAPTURE(summary);
        CHECK(kind_of(refusal_of(plain_talk(), summary)) == "accepted");
    }
    const Texts of_a_session{
        "Error code: 429 from the upload client: src/upload/client.py now calls retry_with_backoff().",
        "Error: RateLimitError in src/upload/client.py. Cause: send_part_ad had no pause. Not mended yet.",
        "429 errors in src/upload/client.py, mended with retry_with_backoff in src/upload/retry.py.",
        "Mended the rate limit in retry_with_backoff.",
        "I can't process parts yet: send_part_ad in src/upload/part_ad.py fails, send_part_ae and chunk_size are next.",
        R"({"error": "Error code: 429", "message": "raised in src/upload/part_ad.py, src/upload/client.py"})",
        "用户要求修复 src/upload/client.py 的 429 错误。"};
    for (const std::string& summary : of_a_session) {
        CAPTURE(summary);
        CHECK(kind_of(refusal_of(coding_session(), summary)) == "accepted");
    }
}

TEST_CASE("a summary that names nothing of many names is refused, one of a talk without names is not", "[digest]") {
    const std::string vague = "Several things were done and most of them work now. " + std::string(500, 'x');
    CHECK(kind_of(refusal_of(coding_session(), vague)) == "unrelated");
    CHECK(kind_of(refusal_of(coding_session(), vague + " See part_ah.py.")) == "accepted");
    CHECK(kind_of(refusal_of(plain_talk(), vague)) == "accepted");
    CHECK(kind_of(refusal_of(coding_session(), "Lo hizo todo y ahora funciona, 429 veces.")) == "unrelated");
}

TEST_CASE("a summary of something else is refused: many of its names stand nowhere", "[digest]") {
    std::string foreign = "Of src/upload/client.py:";
    for (int i = 0; i < 8; ++i) foreign += " lib/render/shader_" + std::to_string(i) + ".glsl";
    CHECK(kind_of(refusal_of(coding_session(), foreign)) == "invented");
    CHECK(kind_of(refusal_of(plain_talk(), foreign)) == "invented");
    SECTION("a few new names are plans") {
        CHECK(kind_of(refusal_of(coding_session(),
                                 "src/upload/client.py is mended. Next: src/upload/limits.py and "
                                 "tests/test_limits.py, with MAX_PARTS and part_limit().")) == "accepted");
    }
    SECTION("parts of paths, other case and line numbers are known") {
        std::string own = "Looked at";
        for (int i = 0; i < 20; ++i) own += " upload/part_" + letters(i) + ".py:12, Send_Part_" + letters(i);
        CHECK(kind_of(refusal_of(coding_session(), own)) == "accepted");
    }
    SECTION("what may stand in an image that the model saw is no invention") {
        Work work = plain_talk();
        work.callbacks.gen_model_input = [](const CallbackContext&, const auto&, const ChatMessage& instruction,
                                            const auto&) {
            ChatMessage image = ChatMessage::user("");
            image.parts.assign(1, {.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "PNG"}});
            return std::vector<ChatMessage>{image, instruction};
        };
        CHECK(kind_of(refusal_of(std::move(work), foreign)) == "accepted");
    }
    SECTION("what a user's instruction names is no invention") {
        Work work = plain_talk();
        std::string sections;
        for (int i = 0; i < 10; ++i) sections += "<section_name_" + std::to_string(i) + ">\n";
        work.config.user_instruction = "Write these sections:\n" + sections + "Be brief.";
        CHECK(kind_of(refusal_of(std::move(work), sections + "The customer flies to Boston.")) == "accepted");
    }
}

TEST_CASE("a reply that is a user's message is no summary", "[digest]") {
    Work work = plain_talk();
    const auto result = work.run([](const Request&) { return ChatReply{ChatMessage::user("The customer flies.")}; });
    REQUIRE(result.failure);
    CHECK(result.failure->refusal == Refusal::wrong_role);
}

TEST_CASE("the names in a request are looked for once a reply's form is in order, and once only", "[digest]") {
    const auto counter = chars_counter();
    int searches = 0;
    ShownNames names([&](ShownNames& all) {
        ++searches;
        all.add("src/upload/client.py");
    });
    const Acceptance rules{.counter = *counter, .shown = &names};
    SummaryError error;
    CHECK_FALSE(accept_reply({.text = " "}, rules, error));
    CHECK_FALSE(accept_reply({.text = "cut off in the mid", .finish = FinishReason::length}, rules, error));
    CHECK(searches == 0);
    CHECK(accept_reply({.text = "The upload in src/upload/client.py was mended, and all tests pass."}, rules, error));
    CHECK(accept_reply({.text = "The tests of src/upload/client.py were run, and all of them pass."}, rules, error));
    CHECK(searches == 1);
    CHECK(names.size() == 1);
}
