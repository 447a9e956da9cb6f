#include "masked.hpp"

#include "whittle/redaction/redaction.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace whittle::cli {
namespace {

constexpr std::size_t shown_bytes = 4;
constexpr std::size_t min_piece = 8;  // of a secret that is to be known again

const Redactor& redactor() {
    static const Redactor shared(RedactionRules{.shown_prefix_bytes = shown_bytes});
    return shared;
}

std::atomic<bool> secrets_shown{false};  // as one command of this process wants it

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// Behind a name of secrets may stand where one is to be found: its ends stand in many texts.
bool is_place(std::string_view secret) {
    const std::string_view host = secret.substr(0, secret.find('/'));
    const bool begins_with_host =
        host.size() < secret.size() && host.find('.') != std::string_view::npos &&
        std::ranges::all_of(host, [](char c) { return c == '.' || (is_letter(c) && !is_capital(c)); });
    return secret.starts_with('/') || secret.starts_with("http") || begins_with_host;
}

/// "company-7Xk2", and not "aBcD-7Xk2".
bool begins_with_word(std::string_view secret) {
    constexpr std::size_t shortest = 3;
    const auto end = std::ranges::find_if_not(secret, is_letter);
    const std::string_view word = secret.substr(0, static_cast<std::size_t>(end - secret.begin()));
    const bool is_whole = word.size() >= min_piece || (word.size() >= shortest && (*end < '0' || *end > '9'));
    const auto capitals = std::ranges::count_if(word, is_capital);
    return is_whole && (capitals == 0 || capitals == static_cast<std::ptrdiff_t>(word.size()) ||
                        (capitals == 1 && is_capital(word.front())));
}

/// Without a name in front of it.
bool is_secret_by_itself(std::string_view secret) {
    static const Redactor without_names(RedactionRules{.disabled = {"named"}});
    return without_names.text(secret).count() > 0;
}

/// Behind "key" the rules take for a secret what looks as if a program had made it.
bool looks_made(std::string_view secret) { return redactor().text("key=\"" + std::string(secret) + "\"").count() > 0; }

/// Whether nothing else begins as `secret` does.
bool has_known_prefix(std::string_view secret) {
    return is_secret_by_itself(secret) || (looks_made(secret) && !begins_with_word(secret));
}

/// A word that anybody may write is no piece of a secret.
bool can_be_known(std::string_view secret) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    constexpr std::size_t longest_word = 40;
    return secret.size() >= 2 * min_piece && (secret.size() > longest_word || std::ranges::any_of(secret, is_digit)) &&
           secret.find(' ') == std::string_view::npos && !is_place(secret);
}

/// Masks where `secret` begins in `text` and does not go on.
void hide_prefixes(std::string& text, std::string_view secret) {
    const std::string_view piece = secret.substr(0, min_piece);
    for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + min_piece)) {
        std::size_t size = min_piece;
        while (size < secret.size() && at + size < text.size() && text[at + size] == secret[size]) ++size;
        text.replace(at + shown_bytes, size - shown_bytes, "***");
    }
}

/// Masks where it ends without its beginning.
void hide_ends(std::string& text, std::string_view secret) {
    const std::string_view piece = secret.substr(secret.size() - min_piece);
    for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at)) {
        std::size_t size = min_piece;
        while (size < secret.size() && at > 0 && text[at - 1] == secret[secret.size() - size - 1]) ++size, --at;
        text.replace(at, size, "***");
    }
}

}  // namespace

std::string masked(std::string_view text) { return redactor().text_or_json(text).text; }

std::string masked_json(std::string_view json) { return redactor().json(json).text; }

void show_secrets() noexcept { secrets_shown = true; }

bool are_secrets_shown() noexcept { return secrets_shown; }

std::string printed(std::string_view text) { return are_secrets_shown() ? std::string(text) : masked(text); }

std::string printed_json(std::string_view json) { return are_secrets_shown() ? std::string(json) : masked_json(json); }

void KnownSecrets::learn(std::string_view whole) {
    constexpr std::size_t most = 4'096;
    if (!is_masked_ || secrets_.size() >= most) return;
    for (std::string& secret : redactor().secrets(whole)) {
        if (!can_be_known(secret) || !known_.insert(secret).second) continue;
        const bool has_known_prefix_here = has_known_prefix(secret);
        secrets_.push_back({std::move(secret), has_known_prefix_here});
    }
}

std::string KnownSecrets::hidden(std::string_view text) const {
    if (!is_masked_) return std::string(text);
    std::string out = masked(text);
    for (const Known& secret : secrets_) {
        if (secret.has_known_prefix) hide_prefixes(out, secret.text);
        hide_ends(out, secret.text);
    }
    return out;
}

}  // namespace whittle::cli
