#include "support/catch.hpp"
#include "whittle/provider/classify_error.hpp"

#include <string>
#include <string_view>

using namespace whittle;

namespace {

struct Wording {
    std::string_view server;
    int status;
    std::string_view body;
    std::int64_t limit;  ///< 0: the body does not say
    std::int64_t used;
};

}  // namespace

TEST_CASE("every server's way to say that the request is too large is an overflow with its numbers", "[classify]") {
    const Wording refusals[] =
        {
            {"OpenAI", 400,
             R"j({"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})j",
             8192, 8545},
            {"OpenAI, with the completion", 400,
             R"j({"error":{"message":"This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10341 in your prompt; 5 for the completion). Please reduce your prompt; or completion length.","type":"invalid_request_error","param":null,"code":null}})j",
             8191, 10346},
            {"OpenAI, newer", 400,
             R"j({"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}})j",
             0, 0},
            {"OpenAI, code alone", 400, R"j({"error":{"message":"no","code":"context_length_exceeded"}})j", 0, 0},
            {"vLLM 0.16, code is a number", 400,
             R"j({"error":{"message":"You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=1015)","type":"BadRequestError","param":"input_tokens","code":400}})j",
             1024, 1025},
            {"vLLM, older, without the wrapper", 400,
             R"j({"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5096 tokens (4096 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400})j",
             4096, 5096},
            {"vLLM, input alone", 400,
             R"j({"object":"error","message":"This model's maximum context length is 2048 tokens. However, your request has 4012 input tokens. Please reduce the length of the input messages.","type":"BadRequestError","code":400})j",
             2048, 4012},
            {"vLLM, output leaves too little room", 400,
             R"j({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 200 input tokens (4000 > 4096 - 200).","type":"BadRequestError","code":400}})j",
             4096, 4200},
            {"llama.cpp", 400,
             R"j({"error":{"code":400,"message":"request (351 tokens) exceeds the available context size (256 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}})j",
             256, 351},
            {"llama.cpp, by its type and fields", 400,
             R"j({"error":{"code":400,"message":"nope","type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}})j",
             256, 351},
            {"llama.cpp, older", 500,
             R"j({"error":{"code":500,"message":"the request exceeds the available context size, try increasing the context size or enable context shift","type":"server_error"}})j",
             0, 0},
            {"Ollama, JSON inside a string", 400,
             R"j({"error":"{\"error\":{\"code\":400,\"message\":\"request (351 tokens) exceeds the available context size (256 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":351,\"n_ctx\":256}}"})j",
             256, 351},
            {"Ollama, other words", 400, R"j({"error":"prompt too long; exceeded max context length by 4096 tokens"})j",
             0, 0},
            {"LM Studio", 400,
             R"j({"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."})j",
             4096, 0},
            {"Anthropic", 400,
             R"j({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"},"request_id":"req_011"})j",
             200'000, 213'462},
            {"Anthropic, with the output", 400,
             R"j({"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}})j",
             200'000, 210'000},
            {"Anthropic, 32 MB", 413,
             R"j({"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}})j",
             0, 0},
            {"Gemini", 400,
             R"j({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."}})j",
             1'048'575, 1'196'265},
            {"Gemini, streamed: in an array", 400,
             R"j([{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count exceeds the maximum number of tokens allowed 1048576."}}])j",
             1'048'576, 0},
            {"Bedrock", 400, R"j({"message":"Input is too long for requested model."})j", 0, 0},
            {"Bedrock, typed", 400,
             R"j({"__type":"ValidationException","message":"Input is too long for requested model."})j", 0, 0},
            {"xAI", 400,
             R"j({"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."})j",
             131'072, 537'812},
            {"Groq", 400,
             R"j({"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})j",
             0, 0},
            {"Groq, larger than a minute's tokens: waiting does not help", 413,
             R"j({"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}})j",
             6000, 7000},
            {"Mistral", 400,
             R"j({"object":"error","message":{"detail":[{"msg":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}]},"type":"invalid_request_error","code":null})j",
             32'768, 40'000},
            {"OpenRouter", 400,
             R"j({"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 537812 tokens (537000 of text input, 812 in the output). Please reduce the length of either one.","code":400}})j",
             131'072, 537'812},
            {"OpenRouter, the provider's own words inside", 400, R"j({"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}})j",
             200'000, 213'462},
            {"LiteLLM, an error pasted into a sentence", 400,
             R"j({"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}","type":null,"param":null,"code":"400"}})j",
             200'000, 213'462},
            {"Kimi", 400,
             R"j({"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)","type":"invalid_request_error"}})j",
             262'144, 300'000},
            {"Cerebras", 400,
             R"j({"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"})j",
             8192, 9000},
            {"Cerebras, without a body", 400, "", 0, 0},
            {"a gateway, without a body", 413, " \r\n", 0, 0},
            {"nginx", 413, "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body></body></html>",
             0, 0},
            {"Together", 400,
             R"j({"error":{"message":"The input (265330 tokens) is longer than the model's context length (262144 tokens).","type":"invalid_request_error"}})j",
             262'144, 265'330},
            {"Copilot, thousands with commas", 400,
             R"j({"error":{"message":"prompt token count of 145,000 exceeds the limit of 128,000","code":"model_max_prompt_tokens_exceeded"}})j",
             128'000, 145'000},
            {"Text Generation Inference", 422,
             R"j({"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`","error_type":"validation"})j",
             8193, 9512},
            {"DashScope", 400,
             R"j({"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]","type":"invalid_request_error","code":"invalid_parameter_error"}})j",
             129'024, 0},
            {"OpenAI, behind a quoted value", 400,
             R"j({"error":{"message":"Invalid value for 'messages': maximum context length is 4096 tokens, however you requested 5000 tokens","type":"invalid_request_error"}})j",
             4096, 5000},
            {"behind words about a value, with an apostrophe", 400,
             R"j({"error":{"message":"Invalid value for max_tokens: This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).","type":"invalid_request_error"}})j",
             8192, 9000},
            {"plain text, behind words about a value", 400,
             "Invalid value: the model's context is full: prompt is too long: 213462 tokens > 200000 maximum", 200'000,
             213'462},
            {"behind an input in brackets", 400,
             R"j({"message":"litellm.BadRequestError: {\"input\":[{\"a\":1}],\"error\":\"prompt is too long: 213462 tokens > 200000 maximum\"}"})j",
             200'000, 213'462},
            {"OpenAI, with functions", 400,
             R"j({"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7000 in the messages, 1000 in the functions, and 1000 in the completion).","code":"context_length_exceeded"}})j",
             8192, 9000},
            {"plain text", 400, "Error: maximum context length is 4096 tokens, however you requested 5000 tokens", 4096,
             5000},
            {"inside a stream", 200,
             R"j({"error":{"message":"Context size has been exceeded.","type":"server_error","code":500}})j", 0, 0},
            {"inside a stream, Anthropic", 200,
             R"j({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5 tokens > 4 maximum"}})j",
             4, 5},
        };
    for (const Wording& refusal : refusals) {
        CAPTURE(refusal.server);
        const ClassifiedError error = classify_error(refusal.status, {}, refusal.body);
        CHECK(to_string(error.error_class) == "overflow");
        CHECK(error.context_limit_tokens == refusal.limit);
        CHECK(error.requested_tokens == refusal.used);
    }
}

TEST_CASE("what speaks of tokens or length and is no overflow is not taken for one", "[classify]") {
    const struct {
        std::string_view server;
        int status;
        std::string_view body;
        std::string_view error_class;
    } rows[] = {
        {"Bedrock throttling", 429, R"j({"message":"Too many tokens, please wait before trying again."})j",
         "rate_limit"},
        {"Bedrock throttling as 400", 400,
         R"j({"__type":"ThrottlingException","message":"Too many tokens, please wait before trying again."})j",
         "rate_limit"},
        {"Bedrock throttling, text alone", 400, "Too many tokens, please wait before trying again.", "rate_limit"},
        {"OpenAI, tokens per minute", 429,
         R"j({"error":{"message":"Rate limit reached for gpt-4 in organization org-x on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000. Please try again in 6s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}})j",
         "rate_limit"},
        {"Anthropic, tokens per minute", 429,
         R"j({"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute"}})j",
         "rate_limit"},
        {"a 429 whose text names a context length", 429,
         R"j({"error":{"message":"Rate limit: requests near the maximum context length is 8192 tokens are limited"}})j",
         "rate_limit"},
        {"OpenAI, output limit", 400,
         R"j({"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}})j",
         "bad_request"},
        {"Anthropic, output limit", 400,
         R"j({"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for this model"}})j",
         "bad_request"},
        {"Groq, output limit", 400,
         R"j({"error":{"message":"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model","type":"invalid_request_error"}})j",
         "bad_request"},
        {"vLLM, the output alone is larger than the window", 400,
         R"j({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 20 input tokens (5000 > 4096 - 20).","type":"BadRequestError","code":400}})j",
         "bad_request"},
        {"OpenAI, the output alone is larger than the window", 400,
         R"j({"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 20100 tokens (100 in the messages, 20000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":null}})j",
         "bad_request"},
        {"OpenAI, the same with its code and functions", 400,
         R"j({"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 20100 tokens (60 in the messages, 40 in the functions, and 20000 in the completion).","type":"invalid_request_error","code":"context_length_exceeded"}})j",
         "bad_request"},
        {"OpenAI completions, the same", 400,
         R"j({"error":{"message":"This model's maximum context length is 4097 tokens, however you requested 5010 tokens (10 in your prompt; 5000 for the completion).","type":"invalid_request_error"}})j",
         "bad_request"},
        {"OpenRouter, the same", 400,
         R"j({"error":{"message":"This endpoint's maximum context length is 8192 tokens. However, you requested about 20100 tokens (100 of text input, 20000 in the output).","code":400}})j",
         "bad_request"},
        {"pydantic, a user's words", 400,
         R"j({"error":{"message":"1 validation error for ChatCompletionRequest\nmessages.0.content\n  Input should be a valid list [type=list_type, input_value='see the docs: maximum context length is 16 tokens', input_type=str]","type":"BadRequestError","code":400}})j",
         "bad_request"},
        {"pydantic, a list of a user's words", 400,
         R"j({"object":"error","message":"[{'type': 'list_type', 'loc': ('body', 'messages'), 'msg': 'Input should be a valid list', 'input': {'role': 'user', 'content': \"it's: prompt is too long: 9 tokens > 16 maximum\"}}]","type":"BadRequestError","code":400})j",
         "bad_request"},
        {"pydantic, an object of a user's words", 422,
         R"j({"detail":"bad [type=x, input_value={'a': 'the prompt is too long'}, input_type=dict]"})j", "bad_request"},
        {"OpenAI, a user's words", 400,
         R"j({"error":{"message":"Invalid value: 'don't say: maximum context length is 16 tokens'. Supported values are: 'text' and 'image_url'.","type":"invalid_request_error","param":"messages[0].content[0].type","code":"invalid_value"}})j",
         "bad_request"},
        {"OpenAI, a pattern", 400,
         R"j({"error":{"type":"invalid_request_error","message":"tools.0.name: String should match pattern; got \"prompt is too long: 90000 tokens > 80000 maximum\""}})j",
         "bad_request"},
        {"OpenAI, a user's question about rates", 400,
         R"j({"error":{"message":"Invalid value: 'how do I raise the rate limit'. Supported values are: 'text'.","type":"invalid_request_error"}})j",
         "bad_request"},
        {"an invalid request that speaks of rates without quotes", 400,
         R"j({"error":{"message":"messages.0: unexpected text: what is a rate limit?","type":"invalid_request_error"}})j",
         "bad_request"},
        {"Anthropic, an image", 400,
         R"j({"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"}})j",
         "bad_request"},
        {"an unknown tool", 400,
         R"j({"error":{"message":"Tool argument validation failed: input length exceeds 1000 characters","type":"invalid_request_error"}})j",
         "bad_request"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.server);
        const ClassifiedError error = classify_error(row.status, {}, row.body);
        CHECK(to_string(error.error_class) == row.error_class);
        CHECK(error.context_limit_tokens == 0);
        CHECK(error.requested_tokens == 0);
    }
}

TEST_CASE("a number that no window has is read without harm", "[classify]") {
    const auto overflow = [](std::string_view numbers) {
        return classify_error(400, {}, "prompt is too long: " + std::string(numbers) + " maximum");
    };
    CHECK(overflow("5 tokens > 4").context_limit_tokens == 4);
    CHECK(overflow("99999999999999999999999999 tokens > 99999999999999999999999999").error_class ==
          ModelErrorClass::overflow);
    CHECK(overflow("-5 tokens > -4").context_limit_tokens == 0);
    CHECK(overflow("5, tokens > 4").context_limit_tokens == 0);
    CHECK(overflow(" tokens > ").error_class == ModelErrorClass::overflow);
    CHECK(
        classify_error(400, {}, R"j({"error":{"type":"exceed_context_size_error","n_ctx":-3,"n_prompt_tokens":1e30}})j")
            .context_limit_tokens == 0);
    CHECK(classify_error(400, {}, R"j({"error":{"type":"exceed_context_size_error","n_ctx":18446744073709551615}})j")
              .context_limit_tokens >= 0);
}
