#pragma once

#include "whittle/anthropic/anthropic_model.hpp"

#include <string>
#include <vector>

namespace whittle::inline v0::anthropic {

enum class RequestBodyKind { whole, stream, count };

/// A request without its transport.
struct RequestText {
    std::string body{};                ///< compact JSON
    std::vector<std::string> betas{};  ///< of the configuration, and what this request needs on top
};

/// The body of POST {base}/v1/messages (whole, stream) or .../count_tokens (count). System text stands beside the
/// messages; of a message, role and content are sent. Of replies, blank text blocks and thinking at the end are left
/// out, and replies without any other content whole: the API gives such, but does not take them back. Cache
/// breakpoints: the host's own stay; as many of ours as there is room for are put, in the request only, on the system
/// text (else the last tool), behind the stable prefix, on the last message and on the user's message before it. A
/// request with a purpose gets those of the system text and of a stable prefix it names. With `thinking_prefix_edited`
/// and thinking in the messages, the provider is asked to pass over what does not fit. `GenerateOptions` win over the
/// configuration, the call's `extra` over both; "messages", "system" and "stream" cannot be set there, and its "tools"
/// come behind those of the request. Text that is not UTF-8 goes with U+FFFD. Throws ModelError(bad_request) for extra
/// fields or tool parameters that are no JSON objects.
[[nodiscard]] RequestText messages_request(const ModelRequest<Message>& request, const AnthropicModelConfig& config,
                                           RequestBodyKind kind);

}  // namespace whittle::inline v0::anthropic
