#include "whittle/servers/prompt_logprobs.hpp"

#include "whittle/provider/detail/check_endpoint.hpp"
#include "whittle/provider/detail/json_body.hpp"
#include "whittle/provider/detail/model_exchange.hpp"
#include "whittle/provider/detail/reply_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace whittle::inline v0 {

namespace {

using detail::find_member;
using detail::find_string;
using nlohmann::ordered_json;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void fail(std::string_view reason) {
    throw ModelError(ModelErrorClass::server, fmt::format("read log-probabilities: {}", reason));
}

double number_of(const ordered_json* value) {
    return value != nullptr && value->is_number() ? value->get<double>() : unknown;
}

const ordered_json& first_choice(const ordered_json& answer) {
    const ordered_json* choices = find_member(answer, "choices");
    if (choices == nullptr || !choices->is_array() || choices->empty()) fail("there is no choice");
    return choices->front();
}

/// One object per token, by token id: the prompt's own token is the first. Null for the first position.
std::vector<TokenLogprob> read_vllm(const ordered_json& choice) {
    const ordered_json* list = find_member(choice, "prompt_logprobs");
    if (list == nullptr || !list->is_array()) fail("there are no prompt_logprobs");
    std::vector<TokenLogprob> tokens;
    for (const ordered_json& position : *list) {
        TokenLogprob& token = tokens.emplace_back(TokenLogprob{.logprob = unknown});
        if (!position.is_object() || position.empty()) continue;
        const ordered_json& own = position.front();
        token.text = find_string(own, "decoded_token").value_or("");
        token.logprob = number_of(find_member(own, "logprob"));
    }
    return tokens;
}

std::vector<TokenLogprob> read_echo(const ordered_json& choice) {
    const ordered_json* logprobs = find_member(choice, "logprobs");
    const ordered_json* texts = logprobs != nullptr ? find_member(*logprobs, "tokens") : nullptr;
    const ordered_json* numbers = logprobs != nullptr ? find_member(*logprobs, "token_logprobs") : nullptr;
    if (texts == nullptr || !texts->is_array() || numbers == nullptr || !numbers->is_array() ||
        texts->size() != numbers->size())
        fail("there are no tokens with as many numbers");
    std::vector<TokenLogprob> tokens;
    for (std::size_t i = 0; i < texts->size(); ++i) {
        if (!(*texts)[i].is_string()) fail("a token is no text");
        tokens.push_back({(*texts)[i].get<std::string>(), number_of(&(*numbers)[i])});
    }
    return tokens;
}

/// Gives tokens the white space in front of them that the server does not show. How many of them make up the whole
/// prompt; nullopt if they do not.
std::optional<std::size_t> fit(std::span<TokenLogprob> tokens, std::string_view prompt) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::string& text = tokens[i].text;
        if (at == prompt.size() && !text.empty()) return i;
        if (!prompt.substr(at).starts_with(text)) {
            const std::size_t word = std::min(prompt.find_first_not_of(" \n\t", at), prompt.size());
            if (word == at || !prompt.substr(word).starts_with(text)) return std::nullopt;
            text.insert(0, prompt.substr(at, word - at));
        }
        at += text.size();
    }
    return at == prompt.size() ? std::optional(tokens.size()) : std::nullopt;
}

/// The prompt's own tokens, without what was generated behind them and a start mark in front; as they are if no reading
/// adds up to the prompt.
std::vector<TokenLogprob> fitted(const std::vector<TokenLogprob>& tokens, std::string_view prompt) {
    for (std::size_t first = 0; first < std::min<std::size_t>(2, tokens.size()); ++first) {
        std::vector<TokenLogprob> read(tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.end());
        const auto count = fit(read, prompt);
        if (!count) continue;
        read.resize(*count);
        return read;
    }
    return tokens;
}

/// Whether the first token is one that the server says nothing of, and that is no start mark: then it is what stands in
/// front of the others.
void name_first(std::vector<TokenLogprob>& tokens, std::string_view prompt) {
    if (tokens.empty() || !tokens.front().text.empty()) return;
    std::size_t others = 0;
    for (const TokenLogprob& token : tokens) others += token.text.size();
    if (others >= prompt.size()) return;
    std::string rest;
    for (const TokenLogprob& token : tokens) rest += token.text;
    if (prompt.ends_with(rest)) tokens.front().text = prompt.substr(0, prompt.size() - rest.size());
}

std::string request_body(const PromptLogprobsConfig& config, std::string_view prompt) {
    ordered_json body{{"model", config.model}, {"prompt", prompt}, {"max_tokens", 1}, {"temperature", 0}};
    if (config.source == LogprobSource::vllm_prompt) {
        body["prompt_logprobs"] = 0;
    } else {
        body["echo"] = true;
        body["logprobs"] = 1;
    }
    return detail::render(body);
}

void check(const PromptLogprobsConfig& config) {
    Problems problems;
    detail::check_endpoint(config.model, config.base_url, "logprobs", problems);
    problems.throw_if_errors("ask for log-probabilities");
}

}  // namespace

std::vector<TokenLogprob> prompt_logprobs_of(std::string_view body, std::string_view prompt, LogprobSource source) {
    const ordered_json answer = detail::read_answer(body);
    const bool is_vllm = source == LogprobSource::vllm_prompt;
    std::vector<TokenLogprob> tokens = is_vllm ? read_vllm(first_choice(answer)) : read_echo(first_choice(answer));
    if (is_vllm) name_first(tokens, prompt);
    return fitted(tokens, prompt);
}

PromptLogprobs http_prompt_logprobs(std::shared_ptr<HttpTransport> transport, PromptLogprobsConfig config) {
    if (!transport) throw Error(Errc::invalid_argument, "ask for log-probabilities: there is no transport");
    check(config);
    config.api_key = detail::trimmed(config.api_key);
    return [transport = std::move(transport), config = std::move(config)](std::string_view text, StopToken stop) {
        HttpHeaders own;
        if (!config.api_key.empty()) own.emplace_back("Authorization", "Bearer " + config.api_key);
        try {
            const HttpResponse response =
                transport->send({.url = detail::join_url(config.base_url, "/completions"),
                                 .headers = detail::make_headers(false, std::move(own), config.headers),
                                 .body = request_body(config, text),
                                 .limits = config.limits,
                                 .stop = std::move(stop)});
            if (!detail::is_success(response.status))
                detail::throw_refusal(response, "ask " + config.model + " for log-probabilities");
            return prompt_logprobs_of(response.body, text, config.source);
        } catch (const Error&) {
            detail::rethrow_without({config.api_key, config.headers, config.base_url});
        }
    };
}

}  // namespace whittle::inline v0
