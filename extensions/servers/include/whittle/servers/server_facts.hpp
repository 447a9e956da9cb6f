#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/provider/http_transport.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Programs that serve models on your own machines.
enum class ServerKind { other, llama_server, ollama, vllm, lm_studio };

/// "other", "llama_server", "ollama", "vllm", "lm_studio"
[[nodiscard]] std::string_view to_string(ServerKind kind) noexcept;

/// Where a server is, and which of its models is meant.
struct ServerAddress {
    std::string base_url{};  ///< as a model is told it; a "/v1" at its end is left out where a question needs it
    std::string model{};     ///< its id there; empty: the only one that the server lists
    HttpHeaders headers{};   ///< with the key, where one is needed
    HttpLimits limits{.connect = std::chrono::seconds(3),
                      .first_byte = std::chrono::seconds(10),
                      .idle = std::chrono::seconds(10),
                      .total = std::chrono::seconds(20),
                      .max_response_bytes = 16 << 20};  ///< of each question
    StopToken stop{};                                   ///< ends a question that still waits
};

/// What a server says of itself and of one model. 0, or absent: it does not say.
struct ServerFacts {
    ServerKind kind = ServerKind::other;  ///< which server it is, as far as its answers tell
    int status = 0;                       ///< of the answer with its list of models
    bool is_loading = false;              ///< llama-server answers 503 until its model is in memory: ask again
    std::vector<std::string> models{};    ///< ids of the list
    std::int64_t context_window = 0;      ///< tokens of a request with its reply, as the server runs the model now
    std::int64_t trained_window = 0;      ///< tokens that the model was made for; a server may run it with less
    int slots = 0;                        ///< conversations that llama-server keeps side by side, each with that window
    std::optional<bool> renders_tools{};  ///< whether the model sees the tools of a request
    bool has_tokenizer = false;           ///< it counts tokens for others: `server_counter`, `count_request`
    bool truncates_silently = false;      ///< drops the oldest messages of a too large request: `with_truncation_check`

    friend bool operator==(const ServerFacts&, const ServerFacts&) = default;
};

/// Asks a server what it is: its list of models and, of llama-server, `/props`; of Ollama `/api/ps` and `/api/show`; of
/// LM Studio `/api/v0/models`. No model runs. An answer that is none of these, or no JSON, says nothing. Throws what
/// the transport throws. extensions/servers/README.md has what each server tells.
[[nodiscard]] ServerFacts probe_server(HttpTransport& transport, const ServerAddress& address);

/// `profile` with what was learnt: the window where it has none or a larger one, and the cache of a self-hosted server
/// where it has `no_cache`.
[[nodiscard]] ModelProfile profile_with(ModelProfile profile, const ServerFacts& facts);

/// `extra` (`OpenAIModelConfig::extra`) with the slot of llama-server that keeps this conversation, so that another one
/// does not take its place. Throws Error(invalid_argument) for a slot below 0 and for text that is no JSON object.
[[nodiscard]] std::string pinned_to_slot(std::string_view extra, int slot);

}  // namespace whittle::inline v0
