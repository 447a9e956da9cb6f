// Log-probabilities of a prompt, as two kinds of servers tell them.
#include "whittle/servers/prompt_logprobs.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/scripted_transport.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::vector<std::string> texts_of(const std::string& body, std::string_view prompt, LogprobSource source) {
    std::vector<std::string> texts;
    for (const TokenLogprob& token : prompt_logprobs_of(body, prompt, source)) texts.push_back(token.text);
    return texts;
}

using Texts = std::vector<std::string>;

std::string vllm(const std::string& positions) {
    return R"({"choices":[{"text":"x","prompt_logprobs":[)" + positions + "]}]}";
}
std::string position(const std::string& text, double logprob) {
    return R"({"17":{"logprob":)" + std::to_string(logprob) + R"(,"rank":1,"decoded_token":")" + text + R"("}})";
}
std::string echo(const std::string& tokens, const std::string& numbers) {
    return R"({"choices":[{"text":"x","logprobs":{"tokens":[)" + tokens + R"(],"token_logprobs":[)" + numbers + "]}}]}";
}

}  // namespace

TEST_CASE("the tokens of vLLM's prompt_logprobs add up to the prompt", "[logprobs]") {
    const std::string body = vllm("null," + position(" big", -2.5) + "," + position(" cat", -0.5));
    const auto tokens = prompt_logprobs_of(body, "the big cat", LogprobSource::vllm_prompt);
    REQUIRE(tokens.size() == 3);
    CHECK(tokens[0].text == "the");  // the server says nothing of the first token
    CHECK(std::isnan(tokens[0].logprob));
    CHECK(tokens[1].logprob == -2.5);
    const std::string marked = vllm("null," + position("the", -9) + "," + position(" big", -2));
    CHECK(texts_of(marked, "the big", LogprobSource::vllm_prompt) == Texts{"", "the", " big"});  // a start mark
}

TEST_CASE("tokens that are shown without the space in front of them get it back", "[logprobs]") {
    const std::string body =
        vllm("null," + position("the", -9) + "," + position("big", -2) + "," + position("cat", -1));
    CHECK(texts_of(body, "the big cat", LogprobSource::vllm_prompt) == Texts{"", "the", " big", " cat"});
}

TEST_CASE("what was generated behind an echoed prompt is left out", "[logprobs]") {
    CHECK(texts_of(echo(R"("the"," big"," dog")", "null,-2,-3"), "the big", LogprobSource::echo) ==
          Texts{"the", " big"});
    CHECK(texts_of(echo(R"("the"," bag")", "null,-2"), "the big", LogprobSource::echo) ==
          Texts{"the", " bag"});  // the scorer refuses it
    CHECK(texts_of(echo(R"("<s>","the"," big"," dog")", "null,-1,-2,-3"), "the big", LogprobSource::echo) ==
          Texts{"the", " big"});
}

TEST_CASE("a response without log-probabilities is an error of the server", "[logprobs]") {
    for (const std::string& body : {std::string("{}"), std::string(R"({"choices":[{}]})"), vllm("").substr(1),
                                    echo(R"("a")", "1,2"), echo("1", "1"), std::string("<html>")}) {
        for (const LogprobSource source : {LogprobSource::vllm_prompt, LogprobSource::echo}) {
            if (source == LogprobSource::vllm_prompt && body.find("token_logprobs") != std::string::npos) continue;
            CHECK(errc_of([&] { (void)prompt_logprobs_of(body, "a", source); }) == Errc::model_failed);
        }
    }
}

TEST_CASE("a prompt is asked for with one token of output, and keys stay out of errors", "[logprobs]") {
    const auto transport = std::make_shared<ScriptedTransport>(std::vector{
        answer_json(echo(R"("hi")", "null")), answer_json(R"({"error":{"message":"bad key sk-secret"}})", 401)});
    const PromptLogprobs ask = http_prompt_logprobs(
        transport, {.model = "m", .base_url = "http://h/v1", .api_key = "sk-secret", .source = LogprobSource::echo});
    CHECK(ask("hi", {}).size() == 1);
    CHECK(transport->requests()[0].url == "http://h/v1/completions");
    CHECK(transport->requests()[0].body ==
          R"({"model":"m","prompt":"hi","max_tokens":1,"temperature":0,"echo":true,"logprobs":1})");
    try {
        (void)ask("hi", {});
        FAIL("nothing was thrown");
    } catch (const ModelError& error) {
        CHECK(error.error_class() == ModelErrorClass::auth);
        CHECK(std::string(error.what()).find("sk-secret") == std::string::npos);
    }
}

TEST_CASE("the scorer checks a server's log-probabilities before it uses them", "[logprobs]") {
    // A server that gives every token the same number: repeating a text changes nothing.
    class Flat final : public HttpTransport {
    public:
        HttpResponse send(const HttpRequest& request, const BodySink&) override {
            const auto body = nlohmann::ordered_json::parse(request.body);
            nlohmann::ordered_json logprobs{{"tokens", {body["prompt"]}}, {"token_logprobs", {-1.0}}};
            return {.status = 200,
                    .body = nlohmann::ordered_json{{"choices", {{{"text", ""}, {"logprobs", logprobs}}}}}.dump()};
        }
    };
    const WindowScorer score = logprob_scorer(http_prompt_logprobs(
        std::make_shared<Flat>(), {.model = "m", .base_url = "http://h", .source = LogprobSource::echo}));
    const std::vector<std::string_view> words{"some", "words"};
    CHECK(errc_of([&] { (void)score(WordWindow{.words = words}); }) == Errc::damaged);
}
