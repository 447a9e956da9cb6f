// What is done with a real model. The same functions run against the server and against its recordings.
#pragma once

#include <whittle/loop/agent_loop.hpp>
#include <whittle/openai/openai.hpp>
#include <whittle/provider/http_transport.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace real_model {

struct Server {
    std::shared_ptr<whittle::HttpTransport> transport{};
    std::string base_url{};
    std::string model{};
    std::string dialect = "llama_cpp";  ///< name of an `openai::Dialect`
    bool takes_tool_choice = true;      ///< a call can be demanded; else only a form of the text
};

/// One call of the model, as the agent's host sees it.
struct Call {
    std::string purpose{};  ///< empty: the agent's own
    std::optional<whittle::ModelErrorClass> failure{};
    whittle::Overflow overflow{};
    std::string text{};              ///< of the reply, or of the error
    std::int64_t prompt_tokens = 0;  ///< as the server counted them; 0: it did not say
    whittle::FinishReason finish = whittle::FinishReason::stop;
    std::optional<whittle::ServerTiming> timing{};
};

/// What the chain did when a request was refused.
struct Recovery {
    std::int64_t tokens_before = 0;  ///< by the chain's count
    std::int64_t tokens_after = 0;
    std::string report{};
};

struct Talk {
    std::vector<whittle::RunResult> runs{};  ///< one for each question
    std::vector<Call> calls{};
    std::vector<Recovery> recoveries{};
    std::vector<std::string> events{};      ///< warnings and errors
    std::vector<std::string> verdicts{};    ///< on each summary: "accepted", or why not
    std::vector<std::string> violations{};  ///< of the history at the end
    std::vector<whittle::openai::Message> messages{};
    std::int64_t window = 0;  ///< learnt; 0: none
};

/// How many tokens a reply may have.
inline constexpr std::int64_t reply_tokens = 64;

/// Asks the agent to read notes, one after the other, until the window has long overflowed. The chain does not know the
/// window. Old rounds are cleared when the server refuses a request.
[[nodiscard]] Talk talk_past_window(const Server& server, int questions, bool is_stream);

/// The same with a chain that folds old rounds into a summary by the same model, of at most `summary_tokens`, and
/// clears old rounds if there is no summary.
[[nodiscard]] Talk talk_with_summaries(const Server& server, int questions, std::int64_t summary_tokens);

/// The same with the preset `local`, which knows the window, and no model for summaries.
[[nodiscard]] Talk talk_with_preset(const Server& server, int questions);

/// What the scorer says of a server's log-probabilities.
struct Scoring {
    bool is_aligned = false;
    std::string refusal{};          ///< of the self-check
    double perplexity = 0.0;        ///< of the sample
    double perplexity_mixed = 0.0;  ///< of the same words in another order
    std::string kept{};             ///< the sample with half of its words
};

[[nodiscard]] std::string_view sample_text() noexcept;
[[nodiscard]] Scoring score_sample(const Server& server);

}  // namespace real_model
