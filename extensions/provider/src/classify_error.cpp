#include "whittle/provider/classify_error.hpp"

#include "echoed_text.hpp"
#include "overflow_form.hpp"
#include "overflow_text.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "whittle/provider/detail/error_body.hpp"
#include "whittle/provider/detail/retry_after.hpp"
#include "whittle/provider/detail/url_text.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace whittle::inline v0 {
namespace {

using detail::ErrorBody;
using Class = ModelErrorClass;
using Phrases = std::span<const std::string_view>;

constexpr std::size_t most_message_bytes = 500;
constexpr std::size_t most_text_bytes = 16'384;

// What a code, type or state says by itself.
constexpr std::array<std::string_view, 5> refusal_words{"content_filter", "content_policy_violation",
                                                        "responsibleaipolicyviolation", "data_inspection_failed",
                                                        "datainspectionfailed"};
constexpr std::array<std::string_view, 8> overflow_words{"context_length_exceeded",
                                                         "exceed_context_size_error",
                                                         "model_context_window_exceeded",
                                                         "content_length_exceeds_threshold",
                                                         "1261",
                                                         "model_max_prompt_tokens_exceeded",
                                                         "tokens_limit_reached",
                                                         "request_too_large"};
constexpr std::array<std::string_view, 19> auth_words{"insufficient_quota",
                                                      "billing_error",
                                                      "billing_hard_limit_reached",
                                                      "billing_not_active",
                                                      "account_deactivated",
                                                      "invalid_api_key",
                                                      "authentication_error",
                                                      "invalid_authentication_error",
                                                      "permission_error",
                                                      "permission_denied",
                                                      "unauthenticated",
                                                      "unauthorized",
                                                      "api_key_invalid",
                                                      "access_denied",
                                                      "accessdeniedexception",
                                                      "unrecognizedclientexception",
                                                      "exceeded_current_quota_error",
                                                      "insufficient_balance",
                                                      "arrearage"};
constexpr std::array<std::string_view, 9> rate_words{
    "rate_limit_error",    "rate_limit_exceeded", "rate_limit_reached_error", "too_many_requests", "toomanyrequests",
    "throttlingexception", "throttling",          "resource_exhausted",       "ratelimitexceeded"};
constexpr std::array<std::string_view, 7> request_words{
    "invalid_request_error", "not_found_error", "invalid_argument", "badrequesterror",
    "validationexception",   "not_found",       "invalid_prompt"};

// Sentences of servers that give no code of their own.
constexpr std::array<std::string_view, 6> refusal_texts{
    "content management policy", "content_filter",        "flagged as potentially violating",
    "input was flagged",         "inappropriate content", "content policy violation"};
constexpr std::array<std::string_view, 6> auth_texts{"credit balance is too low", "insufficient balance",
                                                     "insufficient credits",      "api key not valid",
                                                     "invalid api key",           "incorrect api key"};
constexpr std::array<std::string_view, 3> sure_rate_texts{"please wait before trying again", "tokens per min",
                                                          "requests per min"};
constexpr std::array<std::string_view, 5> rate_texts{"rate limit", "rate_limit_exceeded", "too many requests",
                                                     "throttlingexception", "throttling error"};

bool mentions(std::string_view text, Phrases sentences) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [text](std::string_view sentence) { return text.find(sentence) != std::string_view::npos; });
}

/// Everything the decision rests on.
struct Evidence {
    int status;  ///< of HTTP, or the one that an error inside a stream names; 0: none
    const ErrorBody& body;
    std::string text;  ///< all sentences, ASCII lower case
    std::optional<detail::OverflowNumbers> overflow{};
    std::optional<detail::OverflowNumbers> above_rate{};

    [[nodiscard]] bool has(Phrases known) const {
        return std::any_of(body.words.begin(), body.words.end(),
                           [known](const std::string& word) { return detail::is_one_of(word, known); });
    }
    [[nodiscard]] bool mentions_any(Phrases sentences) const { return mentions(text, sentences); }
    [[nodiscard]] bool is_empty_refusal() const { return status == 400 && body.kind == ErrorBody::Kind::empty; }
    /// The output that was asked for would not fit by itself: a shorter history does not help.
    [[nodiscard]] bool is_output_too_large() const {
        return overflow && overflow->limit > 0 && overflow->output >= overflow->limit;
    }
};

std::string text_of(const ErrorBody& body) {
    std::string text;
    for (const std::string& message : body.messages) {
        text += detail::without_echoes(ascii_lower(message));
        text += '\n';
        if (text.size() > most_text_bytes) break;
    }
    return text;
}

Evidence gather(int status, const ErrorBody& body) {
    const bool is_inside_stream = status >= 200 && status < 300;
    const int named = body.code >= 400 ? static_cast<int>(body.code) : 0;
    Evidence evidence{is_inside_stream ? named : status, body, text_of(body)};
    evidence.overflow = detail::read_overflow(evidence.text);
    if (!evidence.overflow || evidence.overflow->limit == 0) {
        if (const auto by_form = detail::read_overflow_form(evidence.text)) evidence.overflow = by_form;
    }
    if (evidence.status == 429 || evidence.status == 413) evidence.above_rate = detail::read_above_rate(evidence.text);
    return evidence;
}

/// A limit per minute is no window, whatever its sentence says of tokens. A request that was found invalid is no matter
/// of rates, whatever the message quotes from it.
bool is_rate_limit(const Evidence& evidence) {
    if (evidence.status == 429 || evidence.has(rate_words) || evidence.mentions_any(sure_rate_texts)) return true;
    const bool is_invalid = (evidence.status == 400 || evidence.status == 422) && evidence.has(request_words);
    return !is_invalid && evidence.mentions_any(rate_texts);
}

Class class_of_status(const Evidence& evidence) {
    const int status = evidence.status;
    if (status == 403) return Class::auth;
    if (status >= 500 || status < 300) return evidence.has(request_words) ? Class::bad_request : Class::server;
    const bool may_pass = status == 408 || status == 409 || status == 425 || status == 498 || status == 499;
    return may_pass ? Class::server : Class::bad_request;
}

/// From what is certain to what is only a number.
Class class_of(const Evidence& evidence) {
    if (evidence.has(refusal_words)) return Class::refusal;
    if (evidence.is_output_too_large()) return Class::bad_request;
    if (evidence.has(overflow_words) || evidence.status == 413 || evidence.is_empty_refusal()) return Class::overflow;
    if (evidence.status == 401 || evidence.status == 402 || evidence.has(auth_words)) return Class::auth;
    if (evidence.above_rate) return Class::overflow;
    if (is_rate_limit(evidence)) return Class::rate_limit;
    if (evidence.overflow) return Class::overflow;
    if (evidence.mentions_any(refusal_texts)) return Class::refusal;
    if (evidence.mentions_any(auth_texts)) return Class::auth;
    return class_of_status(evidence);
}

std::string describe_status(int status, const HttpHeaders& headers) {
    if (status >= 200 && status < 300) return "an error in the answer";
    if (status < 300 || status >= 400) return fmt::format("HTTP {}", status);
    const auto location = find_header(headers, "location");
    if (!location) return fmt::format("HTTP {}: a redirect, which is not followed", status);
    return fmt::format("HTTP {}: redirects to {}, and is not followed", status, detail::without_secrets(*location));
}

std::string describe_body(const ErrorBody& body) {
    std::string text;
    std::string_view last;
    for (const std::string& message : body.messages) {
        if (message != last) text += ": " + message.substr(0, most_message_bytes * 4);
        last = message;
    }
    if (body.messages.empty() && !body.words.empty()) text = ": " + body.words.back();
    return text;
}

std::string describe(int status, const HttpHeaders& headers, const ErrorBody& body) {
    const bool is_redirect = status >= 300 && status < 400;
    std::string text = describe_status(status, headers) + (is_redirect ? std::string() : describe_body(body));
    if (body.messages.empty() && body.words.empty() && !is_redirect) text += " without a message";
    return detail::one_line(text, most_message_bytes);
}

std::string request_id_of(const HttpHeaders& headers, const ErrorBody& body) {
    for (const std::string_view name :
         {"request-id", "x-request-id", "apim-request-id", "x-amzn-requestid", "cf-ray"}) {
        if (const auto value = find_header(headers, name)) return detail::one_line(*value, 100);
    }
    return body.request_id;
}

void set_numbers(const Evidence& evidence, ClassifiedError& error) {
    if (const auto& found = evidence.above_rate ? evidence.above_rate : evidence.overflow) {
        error.context_limit_tokens = found->limit;
        if (found->input > 0) error.requested_tokens = found->input + found->output;
    }
    if (evidence.body.context_size > 0) error.context_limit_tokens = evidence.body.context_size;
    if (evidence.body.prompt_tokens > 0) error.requested_tokens = evidence.body.prompt_tokens;
}

}  // namespace

ClassifiedError classify_error(int status, const HttpHeaders& headers, std::string_view body) {
    const ErrorBody found = detail::read_error_body(body);
    const Evidence evidence = gather(status, found);
    ClassifiedError error;
    error.error_class = class_of(evidence);
    if (error.error_class == ModelErrorClass::overflow) set_numbers(evidence, error);
    error.retry_after = detail::read_retry_after(headers);
    if (!error.retry_after) error.retry_after = found.retry_delay;
    error.message = describe(status, headers, found);
    error.request_id = request_id_of(headers, found);
    return error;
}

ModelError to_model_error(const ClassifiedError& error, std::string_view operation) {
    std::string text = fmt::format("{}: {}", operation, error.message);
    if (!error.request_id.empty()) text += fmt::format(" (request {})", error.request_id);
    if (error.error_class == ModelErrorClass::overflow)
        return {
            Overflow{.context_limit_tokens = error.context_limit_tokens, .requested_tokens = error.requested_tokens},
            std::move(text)};
    return {error.error_class, error.retry_after, std::move(text)};
}

}  // namespace whittle::inline v0
