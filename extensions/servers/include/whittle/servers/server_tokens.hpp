#pragma once

#include "whittle/base/event.hpp"
#include "whittle/model/model.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/servers/server_facts.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace whittle::inline v0 {

/// The tokens of a request as its server will read it, template and tools included: what it bills, and what it compares
/// with its window. Of llama-server by `/apply-template` and `/tokenize`, of vLLM by `/tokenize`; absent for others.
/// Throws what the transport throws, and ModelError of class server for an answer that is none.
[[nodiscard]] std::optional<std::int64_t> count_request(HttpTransport& transport, const ServerAddress& address,
                                                        ServerKind kind, const ModelRequest<openai::Message>& request);

/// Counts with the vocabulary of a server (`ServerFacts::has_tokenizer`): one question for each text that is new, whose
/// count is kept. A message has the tokens that the template writes around it beside, learnt from two requests: the
/// mean of a user's and an assistant's, rounded up. Where the server does not answer, `estimate_counter()` counts that
/// text, and `on_event` gets a warning "tokenizer_failed". Thread-safe. Throws Error(invalid_argument) without a
/// transport or for a server that counts for nobody, and what `count_request` throws while it learns.
[[nodiscard]] std::shared_ptr<const TokenCounter> server_counter(std::shared_ptr<HttpTransport> transport,
                                                                 ServerAddress address, ServerKind kind,
                                                                 EventSink on_event = {});

}  // namespace whittle::inline v0
