#include "error_text.hpp"
#include "text_shape.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace whittle::inline v0::detail {
namespace {

constexpr std::size_t short_refusal = 600;  // bytes
constexpr std::size_t short_greeting = 400;

constexpr auto inabilities = std::to_array<std::string_view>(
    {"i can't",       "i cannot",     "i can not",   "i'm unable",     "i am unable",       "i'm not able",
     "i am not able", "i won't",      "i will not",  "i must decline", "i have to decline", "i'm afraid",
     "i am afraid",   "i couldn't",   "i could not", "i'm sorry",      "i am sorry",        "sorry,",
     "sorry but",     "my apologies", "i apologize", "i apologise"});
constexpr auto services = std::to_array<std::string_view>(
    {"help",        "assist",       "comply",       "provide",      "fulfil",    "summar",   "do that",
     "do this",     "continue",     "process",      "answer",       "generate",  "engage",   "complete",
     "discuss",     "support",      "create",       "share",        "access",    "produce",  "respond",
     "participate", "that request", "this request", "your request", "with that", "with this"});
constexpr auto refusal_openings = std::to_array<std::string_view>({"as an ai",
                                                                   "as a language model",
                                                                   "as a large language model",
                                                                   "i'm just an ai",
                                                                   "i am an ai",
                                                                   "i'm an ai",
                                                                   "抱歉",
                                                                   "很抱歉",
                                                                   "对不起",
                                                                   "我无法",
                                                                   "我不能",
                                                                   "作为一个ai",
                                                                   "作为一个人工智能",
                                                                   "作为人工智能",
                                                                   "作为ai",
                                                                   "無法",
                                                                   "申し訳",
                                                                   "すみません",
                                                                   "죄송",
                                                                   "lo siento",
                                                                   "no puedo",
                                                                   "desculpe",
                                                                   "lamento,",
                                                                   "não posso",
                                                                   "sinto muito",
                                                                   "désolé",
                                                                   "je suis désolé",
                                                                   "je ne peux pas",
                                                                   "es tut mir leid",
                                                                   "tut mir leid",
                                                                   "ich kann leider",
                                                                   "ich kann nicht",
                                                                   "ich kann dabei",
                                                                   "ich kann diese",
                                                                   "leider kann ich",
                                                                   "mi dispiace",
                                                                   "non posso",
                                                                   "извините",
                                                                   "к сожалению, я",
                                                                   "я не могу"});

}  // namespace

bool looks_like_refusal(std::string_view text) {
    if (text.size() > short_refusal) return false;
    const std::string lower = lowered(text);
    const std::string_view start = without_marks(lower);
    if (begins_with_any(start, refusal_openings)) return true;
    const std::string_view front = start.substr(0, 160);
    return std::ranges::any_of(inabilities, [&](std::string_view inability) {
        const std::size_t at = front.find(inability);
        if (at == nowhere || (at > 0 && is_letter(front[at - 1]))) return false;
        return holds_any(start.substr(at + inability.size(), 60), services);
    });
}

namespace {

constexpr auto greetings = std::to_array<std::string_view>({"hello",        "hi",
                                                            "hey",          "greetings",
                                                            "good morning", "good afternoon",
                                                            "welcome",      "i'm ready",
                                                            "i am ready",   "ready to",
                                                            "ready when",   "how can i",
                                                            "how may i",    "what would you",
                                                            "what can i",   "what do you",
                                                            "what's next",  "what is next",
                                                            "sure",         "certainly",
                                                            "of course",    "absolutely",
                                                            "understood",   "got it",
                                                            "okay",         "ok",
                                                            "alright",      "thanks",
                                                            "thank you",    "please provide",
                                                            "please share", "please let me",
                                                            "please paste", "could you",
                                                            "can you",      "let me know",
                                                            "i'd be happy", "i would be happy",
                                                            "i'd be glad",  "i'll",
                                                            "i will",       "happy to help",
                                                            "great",        "no problem",
                                                            "acknowledged", "noted"});
constexpr auto greetings_elsewhere = std::to_array<std::string_view>(
    {"¡hola",        "¿en qué",      "你好",     "您好",       "好的",      "明白",         "当然",
     "收到",         "请提供",       "请问",     "有什么可以", "没问题",    "hola",         "claro",
     "por supuesto", "bonjour",      "bien sûr", "d'accord",   "hallo",     "gerne",        "natürlich",
     "verstanden",   "olá",          "ciao",     "certo",      "привет",    "здравствуйте", "конечно",
     "こんにちは",   "了解しました", "承知",     "안녕",       "알겠습니다"});
constexpr auto offers = std::to_array<std::string_view>(
    {"help",         "assist",   "provide", "share",       "let me know",   "would you like", "next step",
     "do for you",   "can i do", "ready",   "i'll summar", "i will summar", "i can summar",   "please send",
     "please paste", "请提供",   "帮您",    "帮你",        "帮助您",        "お手伝い"});

bool begins_with_word_of(std::string_view start) {
    return std::ranges::any_of(greetings, [&](std::string_view word) {
        return start.starts_with(word) && (start.size() == word.size() || !is_letter(start[word.size()]));
    });
}

}  // namespace

bool looks_like_greeting(std::string_view text) {
    if (text.size() > short_greeting) return false;
    const std::string lower = lowered(text);
    const std::string_view start = without_marks(lower);
    if (!begins_with_word_of(start) && !begins_with_any(start, greetings_elsewhere)) return false;
    constexpr std::size_t bare_assent = 40;
    const bool asks = lower.find('?') != nowhere || lower.find("\uFF1F") != nowhere;
    return asks || start.size() <= bare_assent || holds_any(start, offers);
}

bool is_bare_heading(std::string_view text) noexcept {
    constexpr std::size_t longest_heading = 200;
    if (text.size() > longest_heading || text.find('\n') != nowhere) return false;
    return text.ends_with(':') || text.ends_with("\uFF1A");
}

namespace {

constexpr auto empty_words = std::to_array<std::string_view>(
    {"null",    "none",        "nil",        "undefined",       "n/a",        "na",
     "nan",     "true",        "false",      "[object object]", "no content", "no response",
     "empty",   "no output",   "no summary", "(no content)",    "void",       "not available",
     "unknown", "placeholder", "无"});

/// A letter of ASCII or a digit, or anything else but signs: of UTF-8, U+2000 to U+2BFF and U+3000 to U+301F are
/// spaces, punctuation and arrows.
bool says_something(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto lead = static_cast<unsigned char>(text[at]);
        if (is_letter(text[at]) || is_digit(text[at])) return true;
        if (lead < 0x80) continue;
        const auto byte_at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
        const bool is_sign = (lead == 0xE2 && byte_at(at + 1) <= 0xAF) ||
                             (lead == 0xE3 && byte_at(at + 1) == 0x80 && byte_at(at + 2) < 0xA0);
        if (!is_sign) return true;
        at += 2;
    }
    return false;
}

}  // namespace

bool is_empty_reply(std::string_view text) {
    if (!says_something(text)) return true;
    constexpr std::size_t longest_word = 40;
    if (text.size() > longest_word) return false;
    std::string word = ascii_lower(text);
    std::erase_if(word, [](char c) { return std::string_view("\t\r\n.*`'\"!()[]").find(c) != nowhere; });
    return is_one_of(word, empty_words);
}

namespace {

constexpr auto verbs_of_failure = std::to_array<std::string_view>(
    {"exceeded",   "failed",      "limited",      "overloaded",   "refused",     "closed",        "denied",
     "timed",      "expired",     "rejected",     "supported",    "required",    "allowed",       "provided",
     "reached",    "blocked",     "disabled",     "deprecated",   "aborted",     "cancelled",     "canceled",
     "terminated", "interrupted", "needed",       "occurred",     "received",    "expected",      "unexpected",
     "malformed",  "throttled",   "disconnected", "detected",     "established", "specified",     "returned",
     "connected",  "encountered", "resulted",     "unauthorized", "authorized",  "authenticated", "suspended",
     "restricted", "invalidated"});
constexpr auto doers =
    std::to_array<std::string_view>({"user", "customer", "assistant", "agent", "client", "developer"});
constexpr auto tale_elsewhere =
    std::to_array<std::string_view>({"用户", "助手", "修复", "添加", "完成", "要求", "ユーザー", "修正", "사용자",
                                     "пользователь", "usuario", "utilisateur"});

bool tells(std::string_view word) noexcept {
    if (is_one_of(word, doers)) return true;
    return word.size() >= 5 && word.ends_with("ed") && !is_one_of(word, verbs_of_failure);
}

}  // namespace

int words_of_a_tale(std::string_view text) {
    constexpr std::size_t read_bytes = 4'000;
    const std::string lower = ascii_lower(text.substr(0, read_bytes));
    int found = 0;
    for (std::size_t at = 0; at < lower.size();) {
        std::size_t end = at;
        while (end < lower.size() && is_letter(lower[end])) ++end;
        if (tells(std::string_view(lower).substr(at, end - at))) ++found;
        at = std::max(end, at + 1);
    }
    for (const std::string_view word : tale_elsewhere) found += lower.find(word) != nowhere ? 1 : 0;
    return found;
}

}  // namespace whittle::inline v0::detail
