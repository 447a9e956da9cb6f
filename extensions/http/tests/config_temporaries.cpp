// As tests/loop/config_temporaries.cpp: that this file compiles is the test.
#include "support/catch.hpp"

#include <whittle/anthropic/anthropic_model.hpp>
#include <whittle/http/curl_transport.hpp>
#include <whittle/model/failover_model.hpp>
#include <whittle/model/retry_model.hpp>
#include <whittle/openai/openai_chat_model.hpp>
#include <whittle/provider/sse_parser.hpp>
#include <whittle/servers/prompt_logprobs.hpp>

#include <cstddef>

using namespace whittle;

namespace {

template <typename... Configs>
std::size_t number_of(const Configs&...) {
    return sizeof...(Configs);
}

#define WHITTLE_TEST_HTTP_CONFIGS                                                                              \
    OpenAIModelConfig{}, openai::Dialect{}, AnthropicModelConfig{}, RetryModelConfig{}, RetryModelCallbacks{}, \
        FailoverModelCallbacks{}, PromptLogprobsConfig{}, CurlOptions{}, HttpLimits{}, HttpRequest{}, SseLimits {}

template <typename T>
std::size_t made_in_a_template() {
    return number_of(WHITTLE_TEST_HTTP_CONFIGS);
}

}  // namespace

TEST_CASE("every configuration of a model over HTTP can be made as a temporary in a template and in a generic lambda",
          "[backend]") {
    const auto made_in_a_lambda = [](auto) { return number_of(WHITTLE_TEST_HTTP_CONFIGS); };
    CHECK(made_in_a_template<int>() == made_in_a_lambda(0));
}
