#include "error_text.hpp"
#include "text_shape.hpp"
#include "whittle/base/detail/json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace whittle::inline v0::detail {
namespace {

constexpr std::size_t short_text = 600;       // bytes: an error in words
constexpr std::size_t short_payload = 4'000;  // that quotes a server's answer
constexpr std::size_t short_page = 100'000;

/// The members of errors as servers write them, without '_' and '-'.
constexpr auto envelope_members = std::to_array<std::string_view>({"error",
                                                                   "errors",
                                                                   "errormessage",
                                                                   "errorcode",
                                                                   "errordescription",
                                                                   "errortype",
                                                                   "message",
                                                                   "msg",
                                                                   "messages",
                                                                   "code",
                                                                   "status",
                                                                   "statuscode",
                                                                   "statustext",
                                                                   "detail",
                                                                   "details",
                                                                   "type",
                                                                   "param",
                                                                   "fault",
                                                                   "faultstring",
                                                                   "exception",
                                                                   "requestid",
                                                                   "traceid",
                                                                   "timestamp",
                                                                   "path",
                                                                   "title",
                                                                   "reason",
                                                                   "success",
                                                                   "ok",
                                                                   "retryafter",
                                                                   "instance",
                                                                   "stack",
                                                                   "trace",
                                                                   "internalcode",
                                                                   "userid",
                                                                   "cause",
                                                                   "description",
                                                                   "helpurl",
                                                                   "documentationurl"});

/// At least one of these has to be among them.
constexpr auto error_members =
    std::to_array<std::string_view>({"error", "errors", "errormessage", "errorcode", "message", "msg", "detail",
                                     "fault", "exception", "statuscode", "faultstring", "reason", "status", "code"});

std::string plain_member(std::string_view name) {
    std::string plain = ascii_lower(name);
    std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
    return plain;
}

/// A summary in JSON, as a user's own instruction may want it, has other members too.
bool is_error_object(const JsonValue& json) {
    if (!json.is_object()) return false;
    bool is_error = false;
    for (const auto& [written, value] : json.members()) {
        const std::string name = plain_member(written);
        if (!is_one_of(name, envelope_members)) return false;
        is_error = is_error || is_one_of(name, error_members);
    }
    return is_error;
}

/// JSON with other quotes, or cut off: its first member says what it is.
bool opens_like_error_object(std::string_view text) {
    if (!text.starts_with('{')) return false;
    const std::size_t begin = text.find_first_not_of(" \t\r\n'\"", 1);
    if (begin == nowhere) return false;
    const std::size_t end = text.find_first_of("'\":, \n", begin);
    const std::string name = plain_member(text.substr(begin, std::min(end, begin + 40) - begin));
    return name == "error" || name == "errors" || name == "detail" || name == "fault" || name == "statuscode";
}

constexpr auto page_openings = std::to_array<std::string_view>(
    {"<!doctype", "<html", "<head", "<body", "<?xml", "<title", "<h1", "<center", "<error"});

constexpr auto words_behind_status = std::to_array<std::string_view>(
    {"bad",        "too",           "not",      "internal",     "service", "gateway",      "unauthorized", "forbidden",
     "request",    "payment",       "conflict", "error",        "server",  "client",       "timeout",      "method",
     "overloaded", "unprocessable", "content",  "payload",      "proxy",   "precondition", "gone",         "length",
     "status",     "upgrade",       "web",      "origin",       "site",    "connection",   "ssl",          "a",
     "unknown",    "bandwidth",     "network",  "insufficient", "invalid"});

/// "502 Bad Gateway", "HTTP/1.1 503", "429: ...".
bool opens_with_status(std::string_view lower) {
    if (lower.starts_with("http")) {
        const std::size_t space = lower.find(' ');
        lower = space == nowhere ? std::string_view{} : lower.substr(space + 1);
        if (lower.starts_with("status ")) lower.remove_prefix(7);
        if (lower.starts_with("error ")) lower.remove_prefix(6);
    }
    if (lower.size() < 3 || (lower[0] != '4' && lower[0] != '5') || !is_digit(lower[1]) || !is_digit(lower[2]))
        return false;
    lower.remove_prefix(3);
    if (lower.empty() || std::string_view(":-,;{[(<\n").find(lower[0]) != nowhere) return true;
    if (lower[0] != ' ') return false;
    const std::string_view rest = without_marks(lower);
    return rest.empty() || rest[0] == '{' || begins_with_any(rest, words_behind_status);
}

/// Words that are an error's name by themselves, with what may follow them.
constexpr auto error_words = std::to_array<std::string_view>({"error", "exception", "erreur", "fehler", "erro",
                                                              "errore", "错误", "錯誤", "エラー", "오류", "ошибка",
                                                              "异常", "错误码", "错误代码", "エラーコード", "failure"});
constexpr auto words_behind_error = std::to_array<std::string_view>(
    {"code",       "generating", "while",    "occurred",   "processing",  "calling",     "during",   "communicating",
     "connecting", "getting",    "fetching", "creating",   "summarizing", "summarising", "response", "message",
     "status",     "from",       "invoking", "contacting", "communicat",  "streaming"});

/// "Error: ...", "Error code: 429", "openai.RateLimitError: ...", "Error generating summary".
bool opens_with_error_word(std::string_view lower) {
    std::size_t end = 0;
    while (end < lower.size() && (is_letter(lower[end]) || lower[end] == '.' || lower[end] == '_' ||
                                  static_cast<unsigned char>(lower[end]) >= 0x80)) {
        if (lower.substr(end).starts_with("\uFF1A")) break;
        ++end;
    }
    const std::string_view word = lower.substr(0, end);
    const bool is_error = std::ranges::any_of(error_words, [&](std::string_view name) { return word.ends_with(name); });
    if (!is_error) return false;
    const std::string_view rest = lower.substr(end);
    if (rest.empty() || std::string_view(":-,;!.([{]*<\n").find(rest[0]) != nowhere || rest.starts_with("\uFF1A"))
        return true;
    const std::string_view next = without_marks(rest);
    return next.empty() || is_digit(next[0]) || next[0] == ':' || next[0] == '{' ||
           begins_with_any(next, words_behind_error);
}

constexpr auto error_phrases = std::to_array<std::string_view>({"internal server error",
                                                                "bad gateway",
                                                                "service unavailable",
                                                                "gateway time",
                                                                "too many requests",
                                                                "rate limit exceeded",
                                                                "rate limit reached",
                                                                "rate limited",
                                                                "ratelimit",
                                                                "overloaded",
                                                                "request timed out",
                                                                "request timeout",
                                                                "quota exceeded",
                                                                "your current quota",
                                                                "insufficient credit",
                                                                "credit balance",
                                                                "context length exceeded",
                                                                "maximum context length",
                                                                "prompt is too long",
                                                                "invalid api key",
                                                                "incorrect api key",
                                                                "invalid x-api-key",
                                                                "invalid authentication",
                                                                "not authorized to",
                                                                "connection refused",
                                                                "connection reset",
                                                                "connection error",
                                                                "failed to generate",
                                                                "failed to summar",
                                                                "could not generate",
                                                                "could not summar",
                                                                "couldn't generate",
                                                                "couldn't summar",
                                                                "unable to generate",
                                                                "unable to summar",
                                                                "unable to process",
                                                                "something went wrong",
                                                                "try again later",
                                                                "please try again",
                                                                "upstream connect",
                                                                "no healthy upstream",
                                                                "temporarily unavailable",
                                                                "at capacity",
                                                                "an error occurred",
                                                                "an error has occurred",
                                                                "an unexpected error",
                                                                "stream error",
                                                                "model not found",
                                                                "no response from",
                                                                "content filter",
                                                                "content management policy",
                                                                "high demand",
                                                                "under maintenance",
                                                                "model is loading"});
constexpr auto error_phrases_elsewhere = std::to_array<std::string_view>({"稍后重试",
                                                                          "稍后再试",
                                                                          "请求失败",
                                                                          "请求超时",
                                                                          "服务器繁忙",
                                                                          "服务不可用",
                                                                          "服务器错误",
                                                                          "服务器内部错误",
                                                                          "余额不足",
                                                                          "请求过于频繁",
                                                                          "エラーが発生しました",
                                                                          "もう一度お試し",
                                                                          "오류가 발생했습니다",
                                                                          "다시 시도",
                                                                          "ocurrido un error",
                                                                          "produjo un error",
                                                                          "producido un error",
                                                                          "inténtelo de nuevo",
                                                                          "une erreur s'est",
                                                                          "une erreur est",
                                                                          "veuillez réessayer",
                                                                          "ein fehler ist",
                                                                          "versuchen sie es",
                                                                          "ocorreu um erro",
                                                                          "tente novamente",
                                                                          "произошла ошибка",
                                                                          "попробуйте ещё"});

}  // namespace

ErrorLook look_of_error(std::string_view text) {
    if (text.size() > short_payload) return ErrorLook::none;
    const std::string lower = lowered(text);
    const std::string_view start = without_marks(lower);
    if (start.starts_with("traceback (most recent call last)") || opens_like_error_object(start))
        return ErrorLook::opening;
    const bool has_payload = lower.find('{') < 300;
    if ((opens_with_error_word(start) || opens_with_status(start)) && (has_payload || text.size() <= short_text))
        return ErrorLook::opening;
    const std::string_view front = std::string_view(lower).substr(0, 250);  // later ones are in a tale
    const bool is_phrase =
        text.size() <= short_text && (holds_any(front, error_phrases) || holds_any(front, error_phrases_elsewhere));
    return is_phrase ? ErrorLook::phrase : ErrorLook::none;
}

bool is_page(std::string_view text) {
    const std::string_view body = text.substr(std::min(text.find_first_not_of(" \t\r\n`"), text.size()));
    return body.size() <= short_page && begins_with_any(ascii_lower(body.substr(0, 20)), page_openings);
}

bool is_error_json(std::string_view text) {
    const std::string_view body = text.substr(std::min(text.find_first_not_of(" \t\r\n`"), text.size()));
    if (!body.starts_with('{') || body.size() > short_payload) return false;
    return is_error_object(parse_json(body));
}

}  // namespace whittle::inline v0::detail
