#include "piece_masker.hpp"

#include "../base/ascii.hpp"

#include <algorithm>

namespace whittle::inline v0::redaction {
namespace {

using detail::is_alnum;

constexpr std::size_t least_data_bytes = 512;  // of base64 that is no secret, but an image or the like

/// How much of what follows the name of a secret belongs to it: "=", ":", and quotes and spaces around, as code and
/// JSON have them. 0: it names nothing.
std::size_t end_of_name(std::string_view rest) {
    const auto is_quote = [&](std::size_t at) { return at < rest.size() && (rest[at] == '"' || rest[at] == '\''); };
    const auto behind_spaces = [&](std::size_t at) { return std::min(rest.find_first_not_of(' ', at), rest.size()); };
    std::size_t at = behind_spaces(is_quote(0) ? 1 : 0);
    if (at == rest.size() || (rest[at] != '=' && rest[at] != ':')) return 0;
    at = behind_spaces(at + 1);
    return is_quote(at) ? at + 1 : at;
}

/// A variable of the environment, such as SECRET_KEY_BASE, and not a count of tokens.
bool is_in_capitals(std::string_view word) { return std::ranges::none_of(word, detail::is_lower); }

/// Of "\n" and "\u001b", as JSON and `shown` write characters: what stands behind is a word of its own.
std::size_t size_of_escape(std::string_view text) {
    if (text.size() < 2 || text[0] != '\\') return 0;
    constexpr std::size_t of_number = 6;
    return text[1] == 'u' && text.size() >= of_number ? of_number : 2;
}

/// Where the letters and digits of base64 that begin at `at` end.
std::size_t end_of_base64(std::string_view text, std::size_t at) {
    while (at < text.size() && (is_alnum(text[at]) || text[at] == '+' || text[at] == '/')) ++at;
    while (at < text.size() && text[at] == '=') ++at;
    return at;
}

/// One walk over a piece.
class PieceWalk {
public:
    PieceWalk(const MaskRules& rules, std::string_view text, bool is_opaque, std::string& out, Places& places)
        : rules_(rules), text_(text), is_opaque_(is_opaque), out_(out), places_(places) {}

    void run() {
        while (at_ < text_.size()) {
            if (const std::size_t escape = size_of_escape(text_.substr(at_)); escape > 0) {
                keep(escape);
            } else if (!is_in_word(text_[at_])) {
                keep_between();
            } else if (const std::size_t data = size_of_data(); data > 0) {
                is_value_ = false;
                keep(data);
            } else {
                take_word();
            }
        }
    }

private:
    /// What stands between words.
    void keep_between() {
        std::size_t end = at_;
        for (; end < text_.size() && !is_in_word(text_[end]) && text_[end] != '\\'; ++end)
            is_value_ = is_value_ && text_[end] == ' ';
        if (end == at_) is_value_ = false, ++end;  // a backslash at the end
        keep(end - at_);
    }

    void keep(std::size_t bytes) {
        out_ += text_.substr(at_, bytes);
        at_ += bytes;
    }

    /// Of base64 that is no secret: long, or said to be data.
    std::size_t size_of_data() {
        if (at_ < base64_end_) return 0;
        base64_end_ = end_of_base64(text_, at_);
        const bool is_said = text_.substr(0, at_).ends_with("base64,");
        return is_said || base64_end_ - at_ >= least_data_bytes ? base64_end_ - at_ : 0;
    }

    /// A value with a "(" behind it is a call in a program.
    [[nodiscard]] const char* rule_for(std::string_view word, std::size_t end) const {
        if (rules_.key && begins_as_key(word, rules_.beginnings)) return "key";
        if (rules_.random && !is_opaque_ && looks_random(word)) return "random";
        const bool is_call = end < text_.size() && text_[end] == '(';
        if (is_value_ && word.size() >= least_value_bytes && !is_number(word) && !is_call) return "named";
        return nullptr;
    }

    void take_word() {
        const auto first = text_.begin() + static_cast<std::ptrdiff_t>(at_);
        const auto end = static_cast<std::size_t>(std::find_if_not(first, text_.end(), is_in_word) - text_.begin());
        const std::string_view word = text_.substr(at_, end - at_);
        const char* const rule = rule_for(word, end);
        if (rule != nullptr) {
            ++places_[rule];
            out_ += mask_of(word, rules_.given.shown_bytes);
            at_ = end;
        } else {
            keep(word.size());
        }
        if (rules_.named) look_for_value(word, rule == nullptr);
    }

    /// Whether what comes next is the value that `word` names, or, as behind "Authorization: Bearer", still is.
    void look_for_value(std::string_view word, bool is_shown) {
        const std::string_view rest = text_.substr(at_);
        const bool is_name = is_key_of_secret(word, rules_.names);
        std::size_t named = is_name ? end_of_name(rest) : 0;
        if (!is_name && rest.starts_with('=') && is_in_capitals(word) && names_a_secret(word, rules_)) named = 1;
        is_value_ = named > 0 || (is_value_ && is_name && is_shown);
        keep(named);
    }

    const MaskRules& rules_;
    std::string_view text_;
    bool is_opaque_;
    std::string& out_;
    Places& places_;
    std::size_t at_ = 0;
    std::size_t base64_end_ = 0;
    bool is_value_ = false;  // the next word stands behind the name of a secret
};

/// `text` without the words that the host lists.
std::string without_words(const MaskRules& rules, std::string text, Places& places) {
    for (const std::string& word : rules.given.words) {
        const std::string mask = mask_of(word, std::min(rules.given.shown_bytes, word.size() / 4));
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + mask.size())) {
            text.replace(at, word.size(), mask);
            ++places["word"];
        }
    }
    return text;
}

}  // namespace

void mask_piece(const MaskRules& rules, std::string_view piece, bool is_opaque, std::string& out, Places& places) {
    std::string plain;
    if (!rules.given.words.empty()) {
        plain = without_words(rules, std::string(piece), places);
        piece = plain;
    }
    if (!rules.given.host) return PieceWalk(rules, piece, is_opaque, out, places).run();
    std::string masked;
    PieceWalk(rules, piece, is_opaque, masked, places).run();
    if (auto own = rules.given.host(masked); own && *own != masked) {
        ++places["host"];
        masked = *std::move(own);
    }
    out += masked;
}

}  // namespace whittle::inline v0::redaction
