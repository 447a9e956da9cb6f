#include "support/catch.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/classify_error.hpp"

#include <chrono>
#include <string>
#include <string_view>

using namespace whittle;
using std::chrono::milliseconds;

namespace {

std::string class_of(int status, std::string_view body) {
    return std::string(to_string(classify_error(status, {}, body).error_class));
}

std::optional<milliseconds> wait_of(const HttpHeaders& headers, std::string_view body = "{}") {
    return classify_error(429, headers, body).retry_after;
}

}  // namespace

TEST_CASE("a status without a word tells the class", "[classify]") {
    const struct {
        int status;
        std::string_view error_class;
    } rows[] = {
        {0, "server"},       {200, "server"},   {301, "bad_request"}, {400, "overflow"},    {401, "auth"},
        {402, "auth"},       {403, "auth"},     {404, "bad_request"}, {405, "bad_request"}, {408, "server"},
        {409, "server"},     {413, "overflow"}, {418, "bad_request"}, {422, "bad_request"}, {425, "server"},
        {429, "rate_limit"}, {498, "server"},   {499, "server"},      {500, "server"},      {502, "server"},
        {503, "server"},     {504, "server"},   {529, "server"},      {-7, "server"},       {1'000'000, "server"}};
    for (const auto& row : rows) {
        CAPTURE(row.status);
        CHECK(class_of(row.status, "") == row.error_class);
    }
}

TEST_CASE("a code or type of the body tells the class, also inside a stream that began with 200", "[classify]") {
    const struct {
        int status;
        std::string_view body;
        std::string_view error_class;
    } rows[] = {
        {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", "server"},
        {200, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", "server"},
        {200, R"({"type":"error","error":{"type":"api_error","message":"Internal server error"}})", "server"},
        {200, R"({"type":"error","error":{"type":"rate_limit_error","message":"slow down"}})", "rate_limit"},
        {200, R"({"type":"error","error":{"type":"invalid_request_error","message":"bad image"}})", "bad_request"},
        {200, R"({"type":"error","error":{"type":"authentication_error","message":"key"}})", "auth"},
        {200, R"({"error":{"code":502,"message":"Provider disconnected"}})", "server"},
        {200, R"({"error":{"code":429,"message":"upstream is busy"}})", "rate_limit"},
        {200, R"({"error":{"code":404,"message":"no such model"}})", "bad_request"},
        {200, R"({"error":{"code":"429","message":"upstream is busy"}})", "rate_limit"},
        {200, R"({"error":{"message":"something"}})", "server"},
        {429,
         R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}})",
         "auth"},
        {400,
         R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}})",
         "auth"},
        {400,
         R"({"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"x","reason":"API_KEY_INVALID"}]}})",
         "auth"},
        {400,
         R"({"error":{"message":"Too many tokens, please wait before trying again.","type":"ServiceUnavailable"}})",
         "rate_limit"},
        {400, R"({"error":{"message":"Rate limit reached for m on tokens per min","type":"tokens"}})", "rate_limit"},
        {400,
         R"({"error":{"message":"Limit 9 tokens per min (TPM). Please reduce the length of the messages",)"
         R"("type":"invalid_request_error"}})",
         "rate_limit"},
        {403, R"({"error":{"message":"Rate limit exceeded for this key","code":403}})", "rate_limit"},
        {429, R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded"}})", "rate_limit"},
        {503, R"({"error":{"code":503,"status":"UNAVAILABLE","message":"The model is overloaded."}})", "server"},
        {400,
         R"({"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}})",
         "refusal"},
        {400,
         R"({"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error","code":"invalid_prompt"}})",
         "refusal"},
        {404, R"({"error":"model 'llama9' not found"})", "bad_request"},
        {404, R"({"error":{"message":"The model does not exist","code":"model_not_found"}})", "bad_request"},
        {422, R"({"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required","input":{}}]})",
         "bad_request"},
        {500, R"({"error":{"message":"unexpected","type":"invalid_request_error"}})", "bad_request"},
        {500, R"({"error":{"message":"litellm.BadRequestError: bad tool","type":"BadRequestError"}})", "bad_request"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.status, row.body);
        CHECK(class_of(row.status, row.body) == row.error_class);
    }
}

TEST_CASE("the provider's waiting time is taken from every header that names one", "[classify]") {
    CHECK(wait_of({}) == std::nullopt);
    CHECK(wait_of({{"Retry-After", "7"}}) == milliseconds(7'000));
    CHECK(wait_of({{"retry-after", " 0.25 "}}) == milliseconds(250));
    CHECK(wait_of({{"RETRY-AFTER", "0"}}) == milliseconds(0));
    CHECK(wait_of({{"retry-after-ms", "1500"}, {"retry-after", "2"}}) == milliseconds(1'500));
    CHECK(wait_of({{"retry-after", "-3"}}) == std::nullopt);
    CHECK(wait_of({{"retry-after", "soon"}}) == std::nullopt);
    CHECK(wait_of({{"retry-after", "3 minutes"}}) == std::nullopt);
    CHECK(wait_of({{"retry-after", "1e9"}}) == std::nullopt);
    CHECK(wait_of({{"retry-after", "99999999999999999999999"}}) == std::chrono::hours(24 * 365 * 10));
}

TEST_CASE("a date to wait for is counted from the answer's own date", "[classify]") {
    const auto until = [](std::string_view retry, std::string_view date) {
        return wait_of({{"Date", std::string(date)}, {"Retry-After", std::string(retry)}});
    };
    CHECK(until("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT") == milliseconds(30'000));
    CHECK(until("Sat, 01 Mar 2036 00:00:00 GMT", "Fri, 29 Feb 2036 23:59:59 GMT") == milliseconds(1'000));
    CHECK(until("Thu, 01 Jan 2026 00:00:01 GMT", "Wed, 31 Dec 2025 23:59:59 GMT") == milliseconds(2'000));
    CHECK(until("Sun, 06 Nov 1994 08:49:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT") == milliseconds(0));
    CHECK(until("Sun, 06 Nov 1994 08:49:37 GMT", "") == std::nullopt);
    CHECK(until("Sun, 06 Nix 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT") == std::nullopt);
    CHECK(until("Sun, 0x Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT") == std::nullopt);
}

TEST_CASE("Gemini's waiting time stands in the body", "[classify]") {
    constexpr std::string_view body =
        R"({"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074s"}]}})";
    CHECK(wait_of({}, body) == milliseconds(34'074));
    CHECK(wait_of({{"retry-after", "1"}}, body) == milliseconds(1'000));
}

TEST_CASE("the message is the provider's, on one line, with the status in front", "[classify]") {
    const auto message = [](int status, std::string_view body) { return classify_error(status, {}, body).message; };
    CHECK(message(404, R"({"error":{"message":"no such\r\n  model"}})") == "HTTP 404: no such model");
    CHECK(message(500, "  upstream\tdied\n") == "HTTP 500: upstream died");
    CHECK(message(502, "<!DOCTYPE html><html><head><TITLE>502 Bad Gateway</TITLE></head><body>x</body></html>") ==
          "HTTP 502: an HTML page: 502 Bad Gateway");
    CHECK(message(502, "<html>nothing</html>") == "HTTP 502: an HTML page");
    CHECK(message(400, "") == "HTTP 400 without a message");
    CHECK(message(400, R"({"error":{"code":"strange_thing"}})") == "HTTP 400: strange_thing");
    CHECK(message(400, R"({"unknown":["shape"]})") == R"(HTTP 400: {"unknown":["shape"]})");
    CHECK(
        message(400,
                R"({"error":{"message":"Provider returned error","metadata":{"raw":"{\"message\":\"bad seed\"}"}}})") ==
        "HTTP 400: Provider returned error: bad seed");
    CHECK(message(200, R"({"error":{"message":"broken"}})") == "an error in the answer: broken");
    CHECK(message(422, R"({"detail":[{"msg":"Field required"}]})") == "HTTP 422: Field required");
}

TEST_CASE("a message is bounded and valid UTF-8, whatever the body is", "[classify]") {
    for (const std::string& body : {std::string(5'000'000, 'x'), std::string(2'000, '\xE2'),
                                    std::string("\xFF\xFE{\"a\""), std::string(300'000, '['), std::string(300'000, '"'),
                                    "{\"error\":{\"message\":\"" + std::string(100'000, 'y') + "\"}}"}) {
        const ClassifiedError error = classify_error(500, {}, body);
        CHECK(error.message.size() <= 500);
        CHECK(is_valid_utf8(error.message));
        CHECK(error.error_class == ModelErrorClass::server);
    }
}

TEST_CASE("JSON with text that is not UTF-8 is still read", "[classify]") {
    CHECK(class_of(400, "{\"error\":{\"message\":\"\xFF\",\"code\":\"context_length_exceeded\"}}") == "overflow");
}

TEST_CASE("nesting of any depth is read without harm", "[classify]") {
    std::string nested = R"({"message":"deep"})";
    for (int i = 0; i < 20'000; ++i) nested = R"({"error":)" + std::move(nested) + "}";
    CHECK(class_of(400, nested) == "bad_request");

    std::string quoted = R"({"code":"content_filter"})";
    for (int i = 0; i < 3; ++i) {
        std::string inner;
        for (const char c : quoted) inner += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
        quoted = "{\"error\":\"" + inner + "\"}";
    }
    CHECK(class_of(400, quoted) == "refusal");
}

TEST_CASE("a redirect is told without what may be secret in its target", "[classify]") {
    const ClassifiedError error =
        classify_error(307, {{"location", "https://user:pass@login.example/sign-in?token=hush#x"}}, "");
    CHECK(error.error_class == ModelErrorClass::bad_request);
    CHECK(error.message == "HTTP 307: redirects to https://login.example/sign-in, and is not followed");
}

TEST_CASE("the request id comes from a header, else from the body", "[classify]") {
    const auto id = [](const HttpHeaders& headers, std::string_view body) {
        return classify_error(500, headers, body).request_id;
    };
    CHECK(id({{"X-Request-Id", "req_1"}}, "") == "req_1");
    CHECK(id({{"request-id", "req_2"}}, R"({"request_id":"req_3"})") == "req_2");
    CHECK(id({}, R"({"type":"error","error":{"message":"x"},"request_id":"req_3"})") == "req_3");
    CHECK(id({}, "{}").empty());
}

TEST_CASE("a classified error becomes the error to throw", "[classify]") {
    const ModelError overflow = to_model_error(
        classify_error(
            400, {{"request-id", "req_9"}},
            R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5 tokens > 4 maximum"}})"),
        "call Anthropic");
    CHECK(std::string(overflow.what()) ==
          "call Anthropic: HTTP 400: prompt is too long: 5 tokens > 4 maximum (request req_9)");
    CHECK(overflow.error_class() == ModelErrorClass::overflow);
    CHECK(overflow.overflow().context_limit_tokens == 4);
    CHECK(overflow.overflow().requested_tokens == 5);

    const ModelError busy = to_model_error(classify_error(529, {{"retry-after", "3"}}, ""), "call model");
    CHECK(busy.error_class() == ModelErrorClass::server);
    CHECK(busy.retry_after() == milliseconds(3'000));
    CHECK(busy.errc() == Errc::model_failed);
}
