#include "reply_form.hpp"

#include "stems.hpp"
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
constexpr std::string_view envelope_members =
    " error errors errormessage errorcode errordescription errortype message msg messages code status statuscode "
    "statustext detail details type param fault faultstring exception requestid traceid timestamp path title reason "
    "success ok retryafter instance stack trace internalcode userid cause description helpurl documentationurl ";
/// At least one of these has to be among them.
constexpr std::string_view error_members =
    " error errors errormessage errorcode message msg detail fault exception statuscode faultstring reason status "
    "code ";
/// The first member of an error that is no JSON: cut off, or with other quotes.
constexpr std::string_view first_members = " error errors detail fault statuscode ";

bool is_listed(std::string_view member, std::string_view list) {
    std::string name = ascii_lower(member);
    std::erase_if(name, [](char c) { return c == '_' || c == '-' || c == ' '; });
    return !name.empty() && list.find(" " + name + " ") != nowhere;
}

bool opens_with_error_object(std::string_view text) {
    if (!text.starts_with('{')) return false;
    const std::size_t begin = text.find_first_not_of(" \t\r\n'\"", 1);
    if (begin == nowhere) return false;
    return is_listed(text.substr(begin, text.find_first_of("'\":, \n", begin) - begin), first_members);
}

/// "HTTP/1.1 503", "429: ...", "529 {...}"; with a name also "502 Bad Gateway", as "500 Euro" begins too.
bool opens_with_status(std::string_view text, bool with_name) {
    const bool is_http = same_word(text.substr(0, 4), "http");
    if (is_http) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
    if (text.size() < 3 || (text[0] != '4' && text[0] != '5') || !is_digit(text[1]) || !is_digit(text[2])) return false;
    const std::string_view rest = without_marks(text.substr(3));
    if (rest.empty()) return true;
    if (is_http || text[3] != ' ') return std::string_view(" :-,;{[(<\n").find(text[3]) != nowhere;
    return rest[0] == '{' || (with_name && is_upper(rest[0]));
}

/// What errors are called, alone or at the end of a name: RateLimitError.
constexpr auto error_words = std::to_array<std::string_view>(
    {"error", "exception", "timeout", "erreur", "fehler", "erro", "errore", "ошибка", "错误", "エラー", "오류"});

/// "Error: ...", "Error code: 429", "openai.RateLimitError: ...", "[ERROR] ...": a few words in front of a colon or a
/// bracket, the first of which is an error's name.
bool opens_with_error_name(std::string_view lower) {
    constexpr std::size_t longest_name = 60;
    const std::size_t end = std::min({lower.find_first_of(":]\n"), lower.find("\uFF1A"), lower.size()});
    const std::string_view name = lower.substr(0, end);
    if (end == lower.size() || end > longest_name || std::ranges::count(name, ' ') > 3) return false;
    const std::string_view first = name.substr(0, name.find(' '));
    return std::ranges::any_of(error_words, [&](std::string_view word) { return first.ends_with(word); });
}

constexpr auto page_openings = std::to_array<std::string_view>(
    {"<!doctype", "<html", "<head", "<body", "<?xml", "<title", "<h1", "<center", "<error"});

std::string_view without_fence(std::string_view text) noexcept {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n`"), text.size()));
}

}  // namespace

bool opens_with_error(std::string_view text) {
    if (text.size() > short_payload) return false;
    const std::string_view start = without_marks(text);
    const std::string lower = ascii_lower(start);
    if (lower.starts_with("traceback (most recent call last)") || opens_with_error_object(start)) return true;
    const bool has_payload = lower.find('{') < 300;
    return (has_payload || text.size() <= short_text) &&
           (opens_with_status(start, false) || opens_with_error_name(lower));
}

bool is_page(std::string_view text) {
    const std::string_view body = without_fence(text);
    return body.size() <= short_page && begins_with_any(ascii_lower(body.substr(0, 20)), page_openings);
}

bool is_error_json(std::string_view text) {
    const std::string_view body = without_fence(text);
    if (!body.starts_with('{') || body.size() > short_payload) return false;
    const JsonValue json = parse_json(body);
    if (!json.is_object()) return false;
    bool is_error = false;
    for (const auto& [member, value] : json.members()) {
        if (!is_listed(member, envelope_members)) return false;
        is_error = is_error || is_listed(member, error_members);
    }
    return is_error;
}

bool is_bare_heading(std::string_view text) noexcept {
    constexpr std::size_t longest_heading = 200;
    if (text.size() > longest_heading || text.find('\n') != nowhere) return false;
    return text.ends_with(':') || text.ends_with("\uFF1A");
}

namespace {

std::string_view without_signs(std::string_view text) noexcept {
    constexpr std::string_view signs = " \t\r\n.*`'\"!()";
    const std::size_t begin = std::min(text.find_first_not_of(signs), text.size());
    return text.substr(begin, text.find_last_not_of(signs) + 1 - begin);
}

constexpr auto empty_words = std::to_array<std::string_view>(
    {"null", "none", "nil", "undefined", "n/a", "nan", "[object object]", "[no content]"});

}  // namespace

bool is_empty_reply(std::string_view text) {
    return !has_letters(text) || is_one_of(ascii_lower(without_signs(text)), empty_words);
}

namespace {

// The least that tells the manners apart where a conversation is too short to be judged by its words.
constexpr auto of_errors =
    std::to_array<std::string_view>({"overload", "unavailable", "internal server", "upstream", "maximum context",
                                     "current quota", "credit balance", "un error", "une erreur", "ошибка", "稍后"});
constexpr auto of_refusals =
    std::to_array<std::string_view>({"sorry", "cannot", "unable", "not able", "decline", "lo siento", "es tut mir leid",
                                     "désolé", "не могу", "抱歉", "申し訳"});
constexpr auto of_greetings = std::to_array<std::string_view>({"hello", "please provide", "let me know", "i'll "});
constexpr auto assents = std::to_array<std::string_view>({"ok", "understood", "好的"});

}  // namespace

std::optional<Refusal> manner_of(std::string_view text) {
    const std::string lower = ascii_lower(text.substr(0, text.find('"')));  // what is quoted is not said
    if (opens_with_error(text) || opens_with_status(without_marks(text), true) || holds_any(lower, of_errors))
        return Refusal::error_text;
    if (holds_any(lower, of_refusals)) return Refusal::refusal;
    const bool asks = text.ends_with('?') || text.ends_with("\uFF1F");
    if (asks || holds_any(lower, of_greetings) || is_one_of(without_signs(lower), assents)) return Refusal::greeting;
    return std::nullopt;
}

}  // namespace whittle::inline v0::detail
