#include "masked.hpp"

#include "whittle/redaction/redaction.hpp"

#include <algorithm>
#include <cstddef>

namespace whittle::cli {
namespace {

constexpr std::size_t shown_bytes = 4;
constexpr std::size_t least_piece = 8;  // of a secret that is to be known again

const Redactor& redactor() {
    static const Redactor shared(RedactionRules{.shown_bytes = shown_bytes});
    return shared;
}

/// A word that anybody may write is no piece of a secret.
bool can_be_known(std::string_view secret) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    constexpr std::size_t longest_word = 40;
    return secret.size() >= 2 * least_piece &&
           (secret.size() > longest_word || std::ranges::any_of(secret, is_digit)) &&
           secret.find(' ') == std::string_view::npos;
}

/// Masks where `secret` begins in `text` and does not go on.
void hide_beginnings(std::string& text, std::string_view secret) {
    const std::string_view piece = secret.substr(0, least_piece);
    for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + least_piece)) {
        std::size_t size = least_piece;
        while (size < secret.size() && at + size < text.size() && text[at + size] == secret[size]) ++size;
        text.replace(at + shown_bytes, size - shown_bytes, "***");
    }
}

/// Masks where it ends without its beginning.
void hide_ends(std::string& text, std::string_view secret) {
    const std::string_view piece = secret.substr(secret.size() - least_piece);
    for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at)) {
        std::size_t size = least_piece;
        while (size < secret.size() && at > 0 && text[at - 1] == secret[secret.size() - size - 1]) ++size, --at;
        text.replace(at, size, "***");
    }
}

}  // namespace

std::string masked(std::string_view text) { return redactor().content(text).text; }

std::string masked_json(std::string_view json) { return redactor().json(json).text; }

std::string masked_unless(bool no_mask, std::string text, bool is_json) {
    if (no_mask) return text;
    return is_json ? masked_json(text) : masked(text);
}

void KnownSecrets::learn(std::string_view whole) {
    constexpr std::size_t most = 4'096;
    if (!is_masked_ || secrets_.size() >= most) return;
    for (std::string& secret : redactor().secrets(whole)) {
        if (can_be_known(secret) && known_.insert(secret).second) secrets_.push_back(std::move(secret));
    }
}

std::string KnownSecrets::hidden(std::string_view text) const {
    if (!is_masked_) return std::string(text);
    std::string out = masked(text);
    for (const std::string& secret : secrets_) {
        hide_beginnings(out, secret);
        hide_ends(out, secret);
    }
    return out;
}

}  // namespace whittle::cli
