// Sentences of providers and servers that are told by their form: a size that was asked, a size that is allowed.
#include "support/catch.hpp"
#include "whittle/provider/classify_error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

using namespace whittle;

namespace {

struct Sentence {
    int status;
    std::string_view text;
    std::int64_t limit = 0;  ///< 0: not said
    std::int64_t used = 0;
};

ClassifiedError class_of_sentence(int status, std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '"' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return classify_error(status, {},
                          "{\"error\":{\"message\":\"" + escaped + "\",\"type\":\"invalid_request_error\"}}");
}

}  // namespace

TEST_CASE("a sentence that says what was asked and what is allowed is an overflow, whoever says it", "[classify]") {
    const Sentence sentences[] = {
        {400, "Prompt exceeds max length"},
        {400, "tokens in request more than max tokens allowed"},
        {400,
         "The decoder prompt (length 163840) is longer than the maximum model length of 131072. Make sure that "
         "`max_model_len` is no smaller than the number of text tokens.",
         131'072, 163'840},
        {400, "Input length (265330) exceeds model's maximum context length (262144).", 262'144, 265'330},
        {400, "The input is too long"},
        {400, "too many tokens: total tokens exceeds the model's max of 4096", 4'096},
        {400,
         "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4200. Try using a "
         "shorter prompt.",
         4'081, 4'200},
        {400, "too many tokens: size limit exceeded by 1204 tokens. Try using shorter or fewer inputs."},
        {400,
         "Unable to submit request because the input token count is 2000000 but model only supports up to 1048576. "
         "Reduce the input token count and try again.",
         1'048'576, 2'000'000},
        {400, "The prompt is too long: 140000, model maximum context length: 131072", 131'072, 140'000},
        {400, "Requested tokens (5000) exceed context window of 4096", 4'096, 5'000},
        {400, "Prompt length 5000 is greater than max_seq_len 4096", 4'096, 5'000},
        {400, "Prompt length (9000) exceeds maximum input length (8192).", 8'192, 9'000},
        {400, "length of prompt_tokens (140000) must be less than max_seq_len (131072).", 131'072, 140'000},
        {400,
         "Requested generation length 1 is not possible! The provided prompt is 9000 tokens long, so generating 1 "
         "tokens requires a sequence length of 9001, but the maximum supported sequence length is just 8192!",
         8'192, 9'000},
        {400,
         "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300125 tokens. Please "
         "reduce the length of the messages.",
         272'000, 300'125},
        {400, "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model", 4'096, 5'000},
        {400,
         "AiError: The estimated number of input and maximum output tokens (10000) exceeded this model context window "
         "limit (7968).",
         7'968, 10'000},
        {422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500", 1'024, 1'500},
        {400, "Too many input tokens. Max input tokens: 8192, request input token count: 9500", 8'192, 9'500},
        {400, "max tokens of 32768 exceeded", 32'768},
        {413, "Request body too large for gpt-4o model. Max size: 8000 tokens.", 8'000},
        {400, "Total tokens of image and text exceed max message tokens"},
        {400, "max_tokens must be at least 1, got -1204."},
        {400, "Your request exceeded model token limit: 8192", 8'192},
        {400, "Prompt tokens too long"},
        {400, "Your input prompt is too long"},
        {400, "Conversation is too long"},
        {400, "Input is too long."},
        {400, "input too long"},
        {400, "Prompt length exceeds maximum input length"},
        {400, "The total tokens of your messages exceed the model's limit"},
        {400, "The prompt has 70,500 tokens, which is more than the 65,536 tokens that this model supports", 65'536,
         70'500},
        {500, "the prompt of 9001 tokens does not fit the context window of 8192", 8'192, 9'001},
        {400, "Token count 131500 is larger than the maximum of 131072", 131'072, 131'500},
        {400, "Request exceeds the maximum number of tokens (200000)", 200'000},
        {400, "This model only supports 32768 tokens, but the prompt has 40000 tokens; larger than the limit", 32'768,
         40'000},
        {400, "messages exceed the context window"},
        {400, "Request payload size exceeds the limit: 20971520 bytes."},
        {429,
         "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 41211. "
         "The input or output tokens must be reduced in order to run successfully.",
         30'000, 41'211},
        {429,
         "Request too large for model `x` on tokens per minute (TPM): Limit 6,000, Requested 7,120, please reduce your "
         "message size and try again.",
         6'000, 7'120},
    };
    for (const Sentence& sentence : sentences) {
        CAPTURE(sentence.text);
        const ClassifiedError error = class_of_sentence(sentence.status, sentence.text);
        CHECK(to_string(error.error_class) == "overflow");
        CHECK(error.context_limit_tokens == sentence.limit);
        CHECK(error.requested_tokens == sentence.used);
    }
    const ClassifiedError coded = classify_error(400, {}, R"j({"error":{"code":"1261","message":"Prompt 超长"}})j");
    CHECK(to_string(coded.error_class) == "overflow");
}

TEST_CASE("sizes of other things than the text are no overflow", "[classify]") {
    const struct {
        int status;
        std::string_view text;
        std::string_view error_class;
    } rows[] = {
        {400,
         "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a "
         "string with length 41 instead.",
         "bad_request"},
        {400,
         "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 130 "
         "instead.",
         "bad_request"},
        {400, "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
         "bad_request"},
        {400, "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
         "bad_request"},
        {400, "too much media: 0 document pages + 101 images > 100", "bad_request"},
        {400, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for this model",
         "bad_request"},
        {400,
         "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided "
         "100000.",
         "bad_request"},
        {400, "max_tokens (100000) exceeds the maximum of 8192", "bad_request"},
        {400, "`max_tokens` must be greater than `thinking.budget_tokens`", "bad_request"},
        {400, "thinking.budget_tokens: Input should be greater than or equal to 1024", "bad_request"},
        {400, "A maximum of 4 blocks with cache_control may be provided. Found 5.", "bad_request"},
        {400, "The request exceeds the number of tools allowed (128)", "bad_request"},
        {400, "Number of messages (1200) exceeds the maximum of 1000", "bad_request"},
        {400, "Conversation exceeds the maximum of 500 messages", "bad_request"},
        {400, "messages exceed the maximum of 1000 allowed", "bad_request"},
        {400, "tools.0.custom.name: String should have at most 64 characters", "bad_request"},
        {400, "Invalid input: field user exceeds maximum length of 64", "bad_request"},
        {400, "prompt_cache_key exceeds max length 64", "bad_request"},
        {400, "tools.0.input_schema exceeds the maximum depth of 32", "bad_request"},
        {400, "The input audio is too long", "bad_request"},
        {400, "The input file exceeds the maximum size of 512 MB", "bad_request"},
        {400, "A maximum of 100 PDF pages may be provided.", "bad_request"},
        {400, "model gpt-4-32768 does not exist or exceeds your access", "bad_request"},
        {402,
         "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only "
         "afford 1234",
         "auth"},
        {500, "The request took too long to process", "server"},
        {504, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)", "server"},
        {500, "prompt processing exceeded the time limit of 600 seconds: timeout", "server"},
        {429,
         "Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000. Please try "
         "again in 6s.",
         "rate_limit"},
        {429, "Too many tokens, please wait before trying again.", "rate_limit"},
        {429, "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
         "rate_limit"},
        {429, "Requests: Limit 60, Requested 61", "rate_limit"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const ClassifiedError error =
            row.status == 400 ? class_of_sentence(row.status, row.text) : classify_error(row.status, {}, row.text);
        CHECK(to_string(error.error_class) == row.error_class);
        CHECK(error.context_limit_tokens == 0);
        CHECK(error.requested_tokens == 0);
    }
}

TEST_CASE("a request that is too large in bytes says nothing of tokens", "[classify]") {
    for (const std::string_view body :
         {"Request body too large: limit is 4194304 bytes, got 5242880 bytes", "Maximum request size is 32 MB",
          "Request exceeds the maximum allowed number of bytes. The maximum request size is 32 MB."}) {
        CAPTURE(body);
        const ClassifiedError error = classify_error(413, {}, body);
        CHECK(to_string(error.error_class) == "overflow");
        CHECK(error.context_limit_tokens == 0);
        CHECK(error.requested_tokens == 0);
    }
}
