#include "whittle/openai/openai_chat_model.hpp"

#include <algorithm>

namespace whittle::inline v0::openai {

std::span<const Dialect> dialects() {
    static const std::vector<Dialect> all{
        {},
        {.name = "azure", .key_header = "api-key"},
        {.name = "vllm", .max_tokens_field = "max_tokens", .ignores_unknown_fields = true},
        {.name = "llama_cpp", .max_tokens_field = "max_tokens", .ignores_unknown_fields = true},
        {.name = "llama_cpp_python",
         .max_tokens_field = "max_tokens",
         .null_content = false,
         .ignores_unknown_fields = true},
        {.name = "ollama", .max_tokens_field = "max_tokens", .ignores_unknown_fields = true},
        {.name = "lm_studio", .max_tokens_field = "max_tokens", .ignores_unknown_fields = true},
        {.name = "openrouter", .max_tokens_field = "max_tokens", .ignores_unknown_fields = true},
        {.name = "litellm", .max_tokens_field = "max_tokens", .ignores_unknown_fields = true},
        {.name = "deepseek", .max_tokens_field = "max_tokens", .extra_assistant_fields = {"reasoning_content"}},
        {.name = "mistral",
         .max_tokens_field = "max_tokens",
         .stream_usage = false,
         .null_content = false,
         .merge_users = true},
        {.name = "compatible",
         .max_tokens_field = "max_tokens",
         .stream_usage = false,
         .null_content = false,
         .merge_users = true},
    };
    return all;
}

const Dialect* find_dialect(std::string_view name) {
    const auto found = std::ranges::find(dialects(), name, &Dialect::name);
    return found == dialects().end() ? nullptr : &*found;
}

}  // namespace whittle::inline v0::openai
