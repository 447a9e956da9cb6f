#pragma once

#include "whittle/base/version.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::openai {

/// What a server that speaks chat completions takes. Data: copy the nearest and correct it where yours differs.
struct Dialect {
    std::string name = "openai";
    std::string max_tokens_field = "max_completion_tokens";  ///< what the output limit is called
    std::string system_role = "system";                      ///< of `ModelRequest::system`; "developer" for some models
    bool stream_usage = true;  ///< takes "stream_options":{"include_usage":true}; without it a stream has no usage
    bool null_content = true;  ///< takes "content":null beside calls; else an empty text is sent
    bool any_member = false;   ///< ignores members of messages that it does not know; else they are left out
    std::vector<std::string>
        further_members{};                     ///< of assistant messages, beyond OpenAI's, such as "reasoning_content"
    std::string key_header = "Authorization";  ///< gets "Bearer KEY"; a header of another name gets the key alone

    friend bool operator==(const Dialect&, const Dialect&) = default;
};

/// openai, azure, vllm, llama_cpp, llama_cpp_python, ollama, lm_studio, openrouter, litellm, deepseek, and compatible,
/// which sends only what all of them take. docs/openai.md has the table with its date.
[[nodiscard]] std::span<const Dialect> dialects();

/// The dialect of that name, or null.
[[nodiscard]] const Dialect* find_dialect(std::string_view name);

}  // namespace whittle::inline v0::openai
