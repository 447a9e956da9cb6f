#pragma once

#include "whittle/openai/openai_chat_model.hpp"

#include <string>

namespace whittle::inline v0::openai {

/// The body of POST {base}/chat/completions, as compact JSON. Members of messages that the dialect does not take are
/// left out, and null content of a reply that says nothing becomes ""; nothing else of a message changes.
/// `GenerateOptions` win over the configuration, the call's `extra` over both; "messages" and "stream" cannot be set
/// there, and its "tools" come behind those of the request. Text that is not UTF-8 goes with U+FFFD. Throws
/// ModelError(bad_request) for extra fields or tool parameters that are no JSON objects.
[[nodiscard]] std::string chat_body(const ModelRequest<Message>& request, const OpenAIModelConfig& config,
                                    bool is_stream);

}  // namespace whittle::inline v0::openai
