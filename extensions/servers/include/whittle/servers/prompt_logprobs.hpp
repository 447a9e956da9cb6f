#pragma once

#include "whittle/provider/http_transport.hpp"
#include "whittle/token_saving/classifiers.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// How a completions server tells the log-probabilities of a prompt.
enum class LogprobSource {
    vllm_prompt,  ///< vLLM: "prompt_logprobs"
    echo,         ///< "echo" with "logprobs": llama-cpp-python, older OpenAI-compatible servers, vLLM too
};

/// Which server and model is asked for the probabilities of a prompt's tokens.
struct PromptLogprobsConfig {
    std::string model{};                                ///< required
    std::string base_url{};                             ///< required: the path to "/completions"
    std::string api_key{};                              ///< secret, never in an error; empty: none is sent
    LogprobSource source = LogprobSource::vllm_prompt;  ///< how the server is asked
    HttpHeaders headers{};                              ///< further headers
    /// Of each exchange.
    HttpLimits limits{};

    friend bool operator==(const PromptLogprobsConfig&, const PromptLogprobsConfig&) = default;
};

/// Asks POST {base}/completions; what `logprob_scorer` takes. One token is generated and dropped: some servers take 0
/// for no limit. Thread-safe. Throws Error(invalid_config), Error(invalid_argument) without a transport; a call throws
/// ModelError.
[[nodiscard]] PromptLogprobs http_prompt_logprobs(std::shared_ptr<HttpTransport> transport,
                                                  PromptLogprobsConfig config);

/// The tokens of `prompt` in the body of a response, in order; those that were generated are left out. Servers show
/// some tokens without the space in front of them, and say nothing of the first: both are filled in from the prompt
/// where only one reading is possible. Throws ModelError of class server for anything else than such a response.
[[nodiscard]] std::vector<TokenLogprob> prompt_logprobs_of(std::string_view body, std::string_view prompt,
                                                           LogprobSource source);

}  // namespace whittle::inline v0
