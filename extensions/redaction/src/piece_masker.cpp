#include "piece_masker.hpp"

#include "made_words.hpp"
#include "private_key_text.hpp"
#include "value_text.hpp"
#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace whittle::inline v0::redaction {
namespace {

using detail::is_alnum;
using detail::is_digit;

constexpr std::size_t least_data_bytes = 512;  // of base64 that is no secret, but an image or the like

/// A variable of the environment, such as SECRET_KEY_BASE, and not a count of tokens.
bool is_in_capitals(std::string_view word) { return std::ranges::none_of(word, detail::is_lower); }

/// POSTGRES_PASSWORD_FILE, TOKEN_URL: where a secret is to be found, or what it is called.
bool names_place_of_secret(std::string_view name) {
    constexpr std::array<std::string_view, 8> endings{"_FILE", "_PATH", "_DIR",  "_URL",
                                                      "_URI",  "_NAME", "_TYPE", "_MODEL"};
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

bool begins_as_path(std::string_view value) {
    return value.starts_with('/') || value.starts_with("./") || value.starts_with("../") || value.starts_with("~/");
}

/// Of a variable, member or type in a program: letters and what joins them, with "*" in front and "?" behind of types.
bool is_written_as_name(std::string_view value) {
    if (value.starts_with('*')) value.remove_prefix(1);
    if (value.ends_with('?')) value.remove_suffix(1);
    const std::string_view signs = value.find("::") == std::string_view::npos ? "_." : "_.:";
    return std::ranges::all_of(value,
                               [&](char c) { return detail::is_letter(c) || signs.find(c) != std::string_view::npos; });
}

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

bool is_in_wide_key(char c) { return is_in_word(c) || is_base64(c) || c == '~' || c == ':' || c == '%'; }

std::size_t end_of_run(std::string_view text, std::size_t at, bool (*is_part)(char)) {
    while (at < text.size() && is_part(text[at])) ++at;
    return at;
}

/// Keys of well-known services that are told by their shape, and not by their beginning: those of Telegram's and
/// Discord's bots, of Azure's applications, of Mailchimp, MaxMind and Terraform. Where it ends; 0: it is none.
std::size_t end_of_shaped_key(std::string_view text, std::size_t at, std::string_view word) {
    const std::size_t end = at + word.size();
    const auto goes_on = [&](bool (*is_part)(char)) {
        const std::size_t there = end_of_run(text, end + 1, is_part);
        const std::size_t least_behind = there == text.size() ? 12 : 30;  // one that the text's end cuts off
        return there - end > least_behind ? there : 0;
    };
    if (word.size() >= 8 && word.size() <= 10 && std::ranges::all_of(word, is_digit) &&
        (text.substr(end).starts_with(":AA") || text.substr(end).starts_with("%3AAA")))
        return goes_on(is_in_word);
    if (word.size() == 5 && word.ends_with('Q') && is_digit(word[3]) && text.substr(end).starts_with('~'))
        return goes_on([](char c) { return is_in_word(c) || c == '~'; });
    const std::size_t first = word.find('.');
    if (first >= 23 && first <= 28 && word.size() > (end == text.size() ? 48 : 58) &&
        word.find('.', first + 1) == first + 7)
        return end;
    if (word.size() >= 36 && word.size() <= 37 && word.substr(32).starts_with("-us") && is_digit(word.back()))
        return end;
    if (word.size() == 40 && word.ends_with("_mmk")) return end;
    return word.size() > 60 && word.find(".atlasv1.") == 14 ? end : 0;
}

/// Where the option begins whose argument stands in the line behind `command`; its size: there is none.
std::size_t begin_of_open_option(std::string_view command) {
    std::string_view rest = command;
    if (rest.ends_with('\n')) rest.remove_suffix(1);
    rest.remove_suffix(size_of_continuation(rest));
    const std::size_t end = rest.find_last_not_of(" \t") + 1;
    std::size_t begin = end;
    while (begin > 0 && is_in_word(rest[begin - 1])) --begin;
    const bool is_option = begin < end && rest[begin] == '-' && (begin == 0 || detail::is_space(rest[begin - 1]));
    if (!is_option) return command.size();
    return std::min(rest.find_first_not_of('-', begin), end);
}

/// One walk over a piece, behind the `front` bytes of `text` that stand in front of it.
class PieceWalk {
public:
    PieceWalk(const CompiledRedactionRules& rules, std::string_view text, const LineContext& context, bool is_opaque,
              std::string& out, Found& found)
        : rules_(rules),
          text_(text),
          context_(context),
          front_(context.command.size()),
          is_opaque_(is_opaque),
          out_(out),
          found_(found) {}

    void run() {
        const std::string_view piece = text_.substr(front_);
        if (rules_.private_key && piece.find("-----") != std::string_view::npos) {
            for (const auto& [from, to] : private_keys_in(piece))
                planned_.push_back({{front_ + from, front_ + to}, "private_key"});
        }
        if (rules_.named) {
            if (const auto password = password_of_pgpass(piece))
                password_ = Stretch{front_ + password->begin, front_ + password->end};
            at_ = begin_of_open_option(text_.substr(0, front_));
        }
        while (at_ < text_.size()) {
            if (take_planned()) continue;
            if (const std::size_t escape = size_of_escape(text_.substr(at_)); escape > 0) {
                keep(escape);
            } else if (!is_in_word(text_[at_])) {
                keep_between();
            } else if (text_[at_] == '-' || text_[at_] == '.') {
                note_public_block();
                keep(1);  // "-ghp_...": what a difference took away
            } else if (const std::size_t data = size_of_data(); data > 0) {
                keep(data);
            } else {
                take_word();
            }
        }
    }

private:
    struct Planned {
        Stretch place{};
        const char* rule = "";
    };

    /// What was found in front of it to be a secret.
    bool take_planned() {
        if (password_ && password_->begin == at_ && password_->end > at_) {
            mask(std::exchange(password_, std::nullopt)->end, "named");
            return true;
        }
        // One that begins within what was masked by another rule is masked from there on.
        while (next_planned_ < planned_.size() && planned_[next_planned_].place.end <= at_) ++next_planned_;
        if (next_planned_ == planned_.size() || planned_[next_planned_].place.begin > at_) return false;
        const Planned planned = planned_[next_planned_++];
        mask(planned.place.end, planned.rule);
        return true;
    }

    [[nodiscard]] std::size_t next_stop() const {
        std::size_t stop = text_.size();
        if (password_ && password_->begin > at_) stop = password_->begin;
        for (std::size_t i = next_planned_; i < planned_.size(); ++i) {
            if (planned_[i].place.begin > at_) return std::min(stop, planned_[i].place.begin);
        }
        return stop;
    }

    void mask(std::size_t end, const char* rule) {
        if (at_ < front_) return keep(end - at_);  // it was masked there
        const std::string_view secret = text_.substr(at_, end - at_);
        found_.note(rule, secret);
        if (std::string_view(rule) == "private_key") {
            out_ += "***";
        } else {
            out_ += mask_of(secret, rules_.given.shown_prefix_bytes);
        }
        at_ = end;
    }

    /// What stands between words.
    void keep_between() {
        const std::size_t stop = next_stop();
        std::size_t end = at_ + 1;
        if (text_[at_] == ':' && rules_.named) {
            const std::string_view rest = text_.substr(at_);
            const std::size_t slashes = rest.starts_with("://") ? 3 : rest.starts_with(":\\/\\/") ? 5 : 0;
            if (slashes > 0) {
                keep(slashes);
                if (const auto password = password_of_address(text_, at_)) password_ = password;
                return;
            }
        }
        while (end < stop && !is_in_word(text_[end]) && text_[end] != '\\' && text_[end] != ':') ++end;
        keep(end - at_);
    }

    /// A certificate, or a public key.
    void note_public_block() {
        if (at_ < public_end_) return;  // the end of the one around it is known
        const std::string_view rest = text_.substr(at_);
        if (!rest.starts_with("-----BEGIN ") || !begins_public_block(rest.substr(0, rest.find('-', 11) + 5))) return;
        public_end_ = std::max(public_end_, std::min(text_.find("-----END", at_), text_.size()));
    }

    void keep(std::size_t bytes) {
        const std::size_t end = at_ + std::min(bytes, text_.size() - at_);
        if (end > front_) out_ += text_.substr(std::max(at_, front_), end - std::max(at_, front_));
        at_ = end;
    }

    /// Looks at the base64 that begins here: how much of it is no secret, being long, or said to be data.
    std::size_t size_of_data() {
        if (const std::size_t label = size_of_label_of_hash(text_.substr(at_)); label > 0)
            public_end_ = std::max(public_end_, end_of_base64(text_, at_ + label));
        if (at_ < base64_end_) return 0;
        base64_end_ = end_of_base64(text_, at_);
        const std::string_view front = text_.substr(0, at_);
        const std::string_view run = text_.substr(at_, base64_end_ - at_);
        if (ends_as_label_of_hash(front) || begins_as_public_der(run)) public_end_ = std::max(public_end_, base64_end_);
        if (rules_.private_key && begins_as_private_der(run)) return 0;
        return front.ends_with("base64,") || run.size() >= least_data_bytes ? run.size() : 0;
    }

    void take_word() {
        if (rules_.private_key && at_ < base64_end_ && begins_as_private_der(text_.substr(at_, base64_end_ - at_)))
            return mask(end_of_key_body(text_, at_), "private_key");
        const std::size_t end = end_of_run(text_, at_, is_in_word);
        const std::string_view word = text_.substr(at_, end - at_);
        if (const std::size_t key = end_of_key(word); key > 0) return mask(key, "key");
        if (rules_.random && !is_opaque_ && at_ >= public_end_ && looks_random(word)) return mask(end, "random");
        const std::size_t name = at_;
        keep(word.size());
        if (rules_.named) look_for_value(name, word);
    }

    /// Of the key of a service that begins here; 0: there is none.
    [[nodiscard]] std::size_t end_of_key(std::string_view word) const {
        if (!rules_.key) return 0;
        const std::string_view rest = text_.substr(at_);
        if (at_ < public_end_) return 0;
        const KeyForm* form = key_form_of(rest, word.size(), rules_);
        if (form != nullptr && is_within_base64() && is_short(form->beginning)) form = nullptr;
        if (form == nullptr) return end_of_shaped_key(text_, at_, word);
        if (form->trust == Trust::exact) return at_ + size_of_exact_key(rest, form->least);
        if (form->trust != Trust::wide) return at_ + word.size();
        const std::size_t end = end_of_run(text_, at_, is_in_wide_key);
        return end - at_ >= form->beginning.size() + 8 ? end : 0;
    }

    /// Behind a sign of base64: chance lets words begin as short as keys do.
    [[nodiscard]] bool is_within_base64() const {
        return at_ > 0 && at_ < base64_end_ && (text_[at_ - 1] == '+' || text_[at_ - 1] == '/');
    }
    static bool is_short(std::string_view beginning) {
        return beginning.size() <= 4 && std::ranges::all_of(beginning, is_base64);
    }

    /// Whether what comes next is a value that `word`, which begins at `name`, is the name of.
    void look_for_value(std::size_t name, std::string_view word) {
        if (at_ == text_.size()) return;
        const bool is_option = word == "p" || word == "a";
        if (word == "password" || word == "u" || is_option || word.ends_with("user")) {
            auto password = is_option ? password_of_option(text_, name, at_) : password_of_curl(text_, name, at_);
            if (!password && word == "password") password = password_of_netrc(text_, name, at_, context_);
            if (password) {
                password_ = password;
                return;
            }
        }
        if (text_[at_] == ' ' && (detail::same_word(word, "basic") || detail::same_word(word, "bearer")))
            return take_behind_scheme();
        if (!may_name_value(name)) return;
        const NameKind kind = kind_of(word);
        if (kind == NameKind::none) return;
        auto place = place_of_value(text_, name, at_);
        if (!place) return;
        keep(place->begin - at_);
        if (place->quote.empty() || text_.substr(at_, longest_scheme + 1).find(' ') != std::string_view::npos)
            pass_over_scheme(*place);
        const std::size_t end = end_of(*place);
        if (is_secret(*place, end, kind, word)) mask(end, rule_of(end));
    }

    /// Whether what stands behind the word is one of the signs behind a name. Most words are told so from names.
    [[nodiscard]] bool may_name_value(std::size_t name) const {
        const std::size_t next = text_.find_first_not_of(" \t", at_);
        if (next == std::string_view::npos) return false;
        const std::string_view front = text_.substr(0, name);
        return std::string_view("=:>&\"'`\\%?+|[").find(text_[next]) != std::string_view::npos ||
               front.ends_with("--") || front.ends_with("var ") || front.ends_with("const ") || front.ends_with("ENV ");
    }

    [[nodiscard]] NameKind kind_of(std::string_view word) const {
        const NameKind kind = kind_of_name(word, rules_);
        if (kind == NameKind::doubtful && is_password_of_connection(word)) return NameKind::secret;
        if (kind == NameKind::secret || !is_in_capitals(word)) return kind;
        return text_.substr(at_).starts_with('=') && !names_place_of_secret(word) && holds_name_of_secret(word, rules_)
                   ? NameKind::secret
                   : kind;
    }

    /// "Uid=sa;Pwd=": a user stands in front.
    [[nodiscard]] bool is_password_of_connection(std::string_view word) const {
        constexpr std::array<std::string_view, 4> users{"uid=", "user id=", "user=", "username="};
        constexpr std::size_t most = 256;
        if (!detail::same_word(word, "pwd") || !text_.substr(at_).starts_with('=')) return false;
        const std::size_t name = at_ - word.size();
        std::string front(text_.substr(name - std::min(name, most), std::min(name, most)));
        if (front.find_last_not_of(' ') == std::string::npos || front[front.find_last_not_of(' ')] != ';') return false;
        std::ranges::transform(front, front.begin(), detail::lower);
        return std::ranges::any_of(users, [&](std::string_view user) { return front.find(user) != std::string::npos; });
    }

    /// Values that begin within one of their kind that was looked at end where that does.
    std::size_t end_of(const ValuePlace& place) {
        if (!place.quote.empty()) return end_of_value(text_, place);
        std::size_t& end = place.is_line ? line_end_ : place.is_between_tags ? tags_end_ : bare_end_;
        if (place.begin >= end) end = end_of_value(text_, place);
        return end;
    }

    /// "Bearer" and the like, which stay.
    void pass_over_scheme(ValuePlace& place) {
        const std::size_t end = end_of_run(text_, at_, is_in_word);
        if (end == text_.size() || text_[end] != ' ' || !is_scheme_of_authorization(text_.substr(at_, end - at_)))
            return;
        keep(end + 1 - at_);
        place.begin = at_;
    }

    /// Of "Basic dXNlcjpwYXNz" and "Bearer abc...", without a name in front.
    void take_behind_scheme() {
        constexpr std::size_t least = 12;
        if (at_ + 1 >= text_.size() || text_[at_] != ' ') return;
        const std::size_t end = end_of_run(text_, at_ + 1, is_in_wide_key);
        const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
        if (value.size() < least || reads_as_words(value) || std::ranges::none_of(value, is_digit)) return;
        keep(1);
        mask(end, rule_of(end));
    }

    /// A value with a "(" behind it is a call in a program.
    [[nodiscard]] bool is_secret(const ValuePlace& place, std::size_t end, NameKind kind, std::string_view name) const {
        constexpr std::size_t longest = 16'384;
        constexpr std::size_t longest_bare = 1'024;  // that is looked at from each name in it
        const std::string_view value = text_.substr(at_, end - at_);
        if (value.size() < least_value_bytes || value.size() > longest || is_number(value) || is_to_be_filled(value))
            return false;
        // A private key is masked as one.
        const bool is_mark = value.starts_with("-----BEGIN") || value.starts_with("-----END");
        if (rules_.private_key && (is_mark || next_stop() < end)) return false;
        const bool is_short = !place.quote.empty() || value.size() <= longest_bare;
        if (kind == NameKind::doubtful) return is_short && looks_made(value);
        if (place.is_of_program && !is_likely_in_program(place, name, value)) return false;
        if (!place.quote.empty()) return std::ranges::count(value, ' ') <= most_spaces;
        const bool is_call = end < text_.size() && (text_[end] == '(' || text_[end] == '[');
        if (place.is_line && is_short && begins_as_path(value) && is_path(value)) return false;
        if (place.is_line || place.is_between_tags) return !is_call && value.find('(') == std::string_view::npos;
        return !is_call && !(is_short && is_path(value)) && !is_name_of_value(name, value);
    }

    /// Neither a message nor the name of a kind, such as those of tokens of languages.
    [[nodiscard]] bool is_likely_in_program(const ValuePlace& place, std::string_view name,
                                            std::string_view value) const {
        constexpr std::string_view token = "token";
        if (value.find(' ') != std::string_view::npos || is_path(value) || name.find(value) != std::string_view::npos)
            return false;
        const bool is_token =
            name.size() >= token.size() && detail::same_word(name.substr(name.size() - token.size()), token);
        const bool needs_digit = place.is_default || is_token || kind_of_name(value, rules_) == NameKind::secret;
        return !needs_digit || std::ranges::any_of(value, is_digit);
    }

    /// "token: CancellationToken", but not "DB_PASSWORD: db_password" of an environment.
    [[nodiscard]] bool is_name_of_value(std::string_view name, std::string_view value) const {
        return !is_in_capitals(name) && is_written_as_name(value) && kind_of_name(value, rules_) == NameKind::secret;
    }

    [[nodiscard]] const char* rule_of(std::size_t end) const {
        const std::string_view value = text_.substr(at_, end - at_);
        if (rules_.key && is_in_word(value.front()) &&
            key_form_of(value, end_of_run(value, 0, is_in_word), rules_) != nullptr)
            return "key";
        return rules_.random && !is_opaque_ && looks_random(value) ? "random" : "named";
    }

    static constexpr std::size_t longest_scheme = 11;  // in front of a secret in quotation marks
    static constexpr std::ptrdiff_t most_spaces = 3;   // of a pass phrase; more is a sentence

    const CompiledRedactionRules& rules_;
    std::string_view text_;
    const LineContext& context_;
    std::size_t front_;
    bool is_opaque_;
    std::string& out_;
    Found& found_;
    std::size_t at_ = front_;
    std::size_t base64_end_ = 0;
    std::size_t public_end_ = 0;         // of a hash, or a public key
    std::size_t bare_end_ = 0;           // of the newest value without quotation marks
    std::size_t line_end_ = 0;           // of the newest one that is the rest of its line
    std::size_t tags_end_ = 0;           // of the newest one between tags
    std::optional<Stretch> password_{};  // that was found in front of its place
    std::vector<Planned> planned_{};
    std::size_t next_planned_ = 0;
};

/// `text` without `word`.
std::string without_word(std::string_view text, std::string_view word, const std::string& mask, Found& found) {
    std::string out;
    while (true) {
        const std::size_t at = text.find(word);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        out += mask;
        found.note("word", word);
        text.remove_prefix(at + word.size());
    }
}

/// `text` without the words that the host lists.
std::string without_words(const CompiledRedactionRules& rules, std::string text, Found& found) {
    for (const std::string& word : rules.given.secret_words) {
        if (text.find(word) != std::string::npos)
            text = without_word(text, word, mask_of(word, rules.given.shown_prefix_bytes), found);
    }
    return text;
}

}  // namespace

void mask_piece(const CompiledRedactionRules& rules, std::string_view piece, bool is_opaque, std::string& out,
                Found& found, const LineContext* context) {
    std::string plain;
    if (!rules.given.secret_words.empty()) {
        plain = without_words(rules, std::string(piece), found);
        piece = plain;
    }
    std::string with_front;
    const LineContext nothing;
    const LineContext& known = context == nullptr ? nothing : *context;
    if (!known.command.empty()) {
        with_front = known.command;
        with_front += piece;
        piece = with_front;
    }
    if (!rules.given.custom_rule) return PieceWalk(rules, piece, known, is_opaque, out, found).run();
    std::string masked;
    PieceWalk(rules, piece, known, is_opaque, masked, found).run();
    if (auto own = rules.given.custom_rule(masked); own && *own != masked) {
        ++found.places["host"];
        masked = *std::move(own);
    }
    out += masked;
}

}  // namespace whittle::inline v0::redaction
