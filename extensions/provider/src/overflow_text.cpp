#include "overflow_text.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace whittle::inline v0::detail {
namespace {

constexpr std::size_t longest_gap = 300;
constexpr int most_digits = 15;

// {L} limit, {U} used, {O} output on top of used, {T} both together, {N} of no interest: a number, perhaps 131,072;
// {*}: up to `longest_gap` other bytes. What gives more numbers stands first.
constexpr std::array<std::string_view, 68> sentences{
    // SiliconFlow, SambaNova, Groq's sisters, Snowflake, GitHub Models, Volcengine, vLLM where nothing is left for a
    // reply
    "length of prompt_tokens ({U}) must be less than max_seq_len ({L})",
    "provided prompt is {U} tokens long{*}maximum supported sequence length is just {L}",
    "input tokens exceed the configured limit of {L} tokens{*}resulted in {U} tokens",
    "total number of tokens in the prompt cannot exceed {L} - received {U}",
    "`inputs` must have less than {L} tokens. given: {U}",
    "max input tokens: {L}, request input token count: {U}",
    "max tokens of {L} exceeded",
    "request body too large for{*}max size: {L} tokens",
    "total tokens of image and text exceed max message tokens",
    "max_tokens must be at least 1, got -",
    "max_completion_tokens must be at least 1, got -",
    // vLLM
    "passed {U} input tokens and requested {O} output tokens{*}context length is only {L} tokens",
    "is too large: {O}. this model's maximum context length is {L} tokens and your request has {U} input tokens",
    "maximum context length is {L} tokens{*}your request has {U} input tokens",
    "context length is only {L} tokens",
    // OpenAI, DeepSeek, OpenRouter, Azure
    "maximum context length is {L} tokens{*}requested {T} tokens ({N} in the messages, {O} in the completion)",
    "maximum context length is {L} tokens{*}requested {T} tokens ({N} in the messages, {N} in the functions, {O} in "
    "the",
    "maximum context length is {L} tokens{*}requested {T} tokens ({N} in the messages, {N} in the functions, and {O} "
    "in",
    "maximum context length is {L} tokens{*}requested {T} tokens ({N} in your prompt; {O} for the completion)",
    "maximum context length is {L} tokens{*}requested about {T} tokens ({N} of text input, {O} in the output)",
    "maximum context length is {L} tokens{*}requested about {U} tokens",
    "maximum context length is {L} tokens{*}requested {U} tokens",
    "maximum context length is {L} tokens{*}resulted in {U} tokens",
    "maximum context length is {L} tokens",
    "exceeds the context window",
    "exceeded the context window",
    "context_length_exceeded",
    "context length exceeded",
    "input length {U} exceeds the maximum allowed input length of {L} tokens",
    // SGLang, Together
    "maximum context length of {L} tokens{*}requested a total of {U} tokens",
    "maximum context length of {L} tokens",
    "input ({U} tokens) is longer than the model's context length ({L} tokens)",
    // llama.cpp, LM Studio, Ollama
    "request ({U} tokens) exceeds the available context size ({L} tokens)",
    "exceeds the available context size",
    "context size has been exceeded",
    "prompt has {U} tokens, but the configured context size is {L} tokens",
    "loaded with context length of only {L} tokens",
    "greater than the context length",
    "prompt too long; exceeded max context length",
    "prompt too long; exceeded context length",
    "input length exceeds the context length",
    // Anthropic
    "prompt is too long: {U} tokens > {L} maximum",
    "exceed context limit: {U} + {O} > {L}",
    "prompt is too long",
    "model_context_window_exceeded",
    // Gemini
    "input token count ({U}) exceeds the maximum number of tokens allowed ({L})",
    "input token count exceeds the maximum number of tokens allowed {L}",
    "input token count{*}exceeds the maximum number of tokens",
    // Bedrock, xAI, Groq and Cerebras, Mistral, Kimi, Copilot, MiniMax, DashScope, Text Generation Inference
    "input is too long for requested model",
    "maximum prompt length is {L} but the request contains {U} tokens",
    "current length is {U} while limit is {L}",
    "reduce the length of the messages",
    "prompt contains {U} tokens{*}too large for model with {L} maximum context length",
    "too large for model with {L} maximum context length",
    "exceeded model token limit: {L} (requested: {U})",
    "prompt token count of {U} exceeds the limit of {L}",
    "context window exceeds limit",
    "range of input length should be [1, {L}]",
    "`inputs` tokens + `max_new_tokens` must be <= {L}. given: {U} `inputs` tokens and {O}",
    "context limit exceeded",
    "context window exceeded",
    "context overflow",
    "超出最大上下文",
    "超过最大长度",
    "输入过长",
    "request payload size exceeds the limit",
    "request entity too large",
    "payload too large",
};

std::optional<std::int64_t> take_number(std::string_view& text) noexcept {
    std::int64_t number = 0;
    int digits = 0;
    std::size_t at = 0;
    for (; at < text.size() && digits < most_digits; ++at) {
        if (is_digit(text[at])) {
            number = number * 10 + (text[at] - '0');
            ++digits;
        } else if (digits == 0 || text[at] != ',' || at + 1 >= text.size() || !is_digit(text[at + 1])) {
            break;
        }
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(at);
    return number;
}

std::string_view take_literal(std::string_view& sentence) noexcept {
    const std::string_view literal = sentence.substr(0, sentence.find('{'));
    sentence.remove_prefix(literal.size());
    return literal;
}

bool take_gap(std::string_view& text, std::string_view next) noexcept {
    const std::size_t at = text.substr(0, longest_gap + next.size()).find(next);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at);
    return true;
}

/// `text` and `sentence` begin behind the sentence's first literal.
std::optional<OverflowNumbers> read_rest(std::string_view text, std::string_view sentence) noexcept {
    OverflowNumbers numbers;
    bool has_total = false;
    while (!sentence.empty()) {
        const char tag = sentence[1];
        sentence.remove_prefix(3);
        const std::string_view next = take_literal(sentence);
        if (tag == '*') {
            if (!take_gap(text, next)) return std::nullopt;
        } else {
            const auto number = take_number(text);
            if (!number) return std::nullopt;
            if (tag == 'L') numbers.limit = *number;
            if (tag == 'U' || tag == 'T') numbers.input = *number;
            if (tag == 'O') numbers.output = *number;
            has_total = has_total || tag == 'T';
        }
        if (text.substr(0, next.size()) != next) return std::nullopt;
        text.remove_prefix(next.size());
    }
    if (has_total) numbers.input = std::max<std::int64_t>(numbers.input - numbers.output, 0);
    return numbers;
}

std::optional<OverflowNumbers> read_sentence(std::string_view text, std::string_view sentence) noexcept {
    const std::string_view first = take_literal(sentence);
    for (std::size_t at = text.find(first); at != std::string_view::npos; at = text.find(first, at + 1)) {
        if (auto numbers = read_rest(text.substr(at + first.size()), sentence)) return numbers;
    }
    return std::nullopt;
}

}  // namespace

std::optional<OverflowNumbers> read_overflow(std::string_view text) noexcept {
    for (const std::string_view sentence : sentences) {
        if (auto numbers = read_sentence(text, sentence)) return numbers;
    }
    return std::nullopt;
}

}  // namespace whittle::inline v0::detail
