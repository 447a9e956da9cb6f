#include "value_text.hpp"

#include "line_context.hpp"
#include "made_words.hpp"
#include "private_key_text.hpp"
#include "secret_forms.hpp"
#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0::redaction {
namespace {

using detail::is_digit;
using detail::is_space;

constexpr auto none = std::string_view::npos;

std::size_t behind_spaces(std::string_view text, std::size_t at) noexcept {
    return std::min(text.find_first_not_of(" \t", at), text.size());
}

/// The same over the end of a line of a command that goes on.
std::size_t behind_gap(std::string_view text, std::size_t at) noexcept {
    constexpr std::size_t longest_end = 3;  // "\", a carriage return and the line feed
    at = behind_spaces(text, at);
    const std::size_t size = text.substr(at, longest_end).find('\n');
    if (size == none || size_of_continuation(text.substr(0, at + size)) < size) return at;
    return behind_spaces(text, at + size + 1);
}

/// A quotation mark with the backslashes in front of it, or the entity of XML.
std::string_view quote_at(std::string_view text, std::size_t at) noexcept {
    constexpr std::size_t most_backslashes = 16;
    if (text.substr(at).starts_with("&quot;")) return text.substr(at, 6);
    std::size_t mark = at;
    while (mark < text.size() && mark - at < most_backslashes && text[mark] == '\\') ++mark;
    if (mark == text.size() || (text[mark] != '"' && text[mark] != '\'' && text[mark] != '`')) return {};
    return text.substr(at, mark + 1 - at);
}

/// Of "=", ":", ":=" and the like; of "=>" and "==" in front of a quotation mark, since between names they are arrows
/// and comparisons of programs.
std::size_t size_of_assignment(std::string_view text) noexcept {
    constexpr std::array<std::string_view, 9> signs{":=", "=>", "?=", "+=", "===", "==", "%3D", "=", ":"};
    if (text.starts_with("::")) return 0;
    const bool needs_quote = text.starts_with("=>") || text.starts_with("==");
    if (needs_quote && quote_at(text, behind_spaces(text, text.starts_with("===") ? 3 : 2)).empty()) return 0;
    const auto sign = std::ranges::find_if(signs, [&](std::string_view one) { return text.starts_with(one); });
    return sign == signs.end() ? 0 : sign->size();
}

ValuePlace place_at(std::string_view text, std::size_t at) noexcept {
    const std::string_view quote = quote_at(text, at);
    return {.begin = at + quote.size(), .quote = quote};
}

/// Behind `"name": "DB_PASS", "value": ` and `key="DB_PASS" value=`: the name is a value itself.
std::optional<ValuePlace> place_behind_named(std::string_view text, std::size_t at) noexcept {
    at = std::min(text.find_first_not_of(" ,\t", at), text.size());
    const std::string_view opening = quote_at(text, at);
    at += opening.size();
    constexpr std::string_view value = "value";
    const bool is_value = std::ranges::equal(text.substr(at).substr(0, value.size()), value,
                                             [](char a, char b) { return detail::lower(a) == b; });
    if (!is_value) return std::nullopt;
    at = behind_spaces(text, at + value.size() + quote_at(text, at + value.size()).size());
    const std::size_t sign = size_of_assignment(text.substr(at));
    if (sign == 0) return std::nullopt;
    return place_at(text, behind_spaces(text, at + sign));
}

/// The name begins the line, behind "export " and what may stand in front of a line.
bool begins_line(std::string_view text, std::size_t name) noexcept {
    constexpr std::size_t most = 64;
    std::string_view front = text.substr(name - std::min(name, most), std::min(name, most));
    front.remove_prefix(front.rfind('\n') + 1);
    if (front.ends_with("export ") || front.ends_with("\\n")) return true;
    return front.find_first_not_of(" \t+-<>|:0123456789\xE2\x86\x92") == none;
}

bool is_of_environment(std::string_view name) noexcept { return std::ranges::none_of(name, detail::is_lower); }

bool is_at_end_of_word(std::string_view text, std::size_t at) noexcept {
    return at == text.size() || is_space(text[at]) || text[at] == '\\' || text[at] == '"' || text[at] == '\'';
}

/// Whether the mark behind `value` ends it: each backslash of its own stands there as often as the level of JSON in
/// JSON, which the mark in front tells, and two of them are one that is meant.
bool closes(std::string_view value, std::string_view quote) noexcept {
    const std::size_t backslashes = value.size() - (value.find_last_not_of('\\') + 1);
    return backslashes % (2 * quote.size()) == 0;
}

/// What stands in front of `at`, as far as it matters.
std::string_view front_of(std::string_view line, std::size_t at) noexcept {
    constexpr std::size_t most = 1'024;
    return at <= most ? line.substr(0, at) : line.substr(at - most, most);
}

std::size_t end_of_argument(std::string_view text, std::size_t at) noexcept {
    constexpr std::size_t longest = 1'024;
    text = text.substr(0, at + std::min(longest, text.size() - at));
    return std::min(text.find_first_of(" \t\"'`\\\r", at), text.size());
}

/// What stands where a port, a state or the like may stand too.
bool is_made_with_digits(std::string_view word) noexcept {
    return std::ranges::any_of(word, is_digit) && is_made(word, 0);
}

/// What `front` ends with of .netrc: "login WORD " or "machine WORD ".
struct NetrcFront {
    std::string_view name{};
    std::string_view value{};
};

std::optional<NetrcFront> end_of_netrc(std::string_view front) noexcept {
    const auto take_word = [&] {
        front = front.substr(0, front.find_last_not_of(" \t") + 1);
        const std::string_view word = front.substr(front.find_last_of(" \t+") + 1);
        front.remove_suffix(word.size());
        return word;
    };
    if (front.empty() || !is_space(front.back())) return std::nullopt;
    const std::string_view value = take_word();
    const std::string_view name = take_word();
    if (value.empty() || value.back() == ':' || value.back() == ',') return std::nullopt;
    if (name != "login" && name != "machine") return std::nullopt;
    return NetrcFront{name, value};
}

/// "VARCHAR(255)", "[]byte", "*string", "sql.NullString", "int64": what a column or a member may hold.
bool is_written_as_type(std::string_view value) noexcept {
    constexpr std::array<std::string_view, 6> sizes{"8", "16", "32", "64", "128", "256"};
    if (value.find_first_of("([*<&") != none) return true;
    const std::string_view letters = value.substr(0, value.find_last_not_of("0123456789") + 1);
    const bool is_name =
        std::ranges::all_of(letters, [](char c) { return detail::is_letter(c) || c == '_' || c == '.' || c == ':'; });
    const std::string_view size = value.substr(letters.size());
    return is_name && (size.empty() || detail::is_one_of(size, sizes));
}

/// Behind "str", "string | None", "Optional[str]", "&str"; `at`: there is none.
std::size_t behind_type(std::string_view text, std::size_t at) noexcept {
    constexpr std::size_t longest = 64;
    constexpr std::string_view signs = "_.<>?[]&*:";
    text = text.substr(0, at + std::min(longest, text.size() - at));
    const auto is_of_type = [&](char c) { return detail::is_alnum(c) || signs.find(c) != none; };
    while (true) {
        const std::size_t begin = at;
        while (at < text.size() && is_of_type(text[at])) ++at;
        at = behind_spaces(text, at);
        const bool goes_on = at > begin && at + 1 < text.size() && text[at] == '|' && text[at + 1] != '|';
        if (!goes_on) return at;
        at = behind_spaces(text, at + 1);
    }
}

/// In quotation marks, which stand at `at`.
std::optional<ValuePlace> quoted_at(std::string_view text, std::size_t at, bool is_default = false) noexcept {
    ValuePlace place = place_at(text, behind_spaces(text, at));
    if (place.quote.empty()) return std::nullopt;
    place.is_of_program = true;
    place.is_default = is_default;
    return place;
}

/// Behind "=" in front of a quotation mark, and what may stand there in a program.
std::optional<ValuePlace> quoted_behind_sign(std::string_view text, std::size_t at) noexcept {
    const std::size_t sign = size_of_assignment(text.substr(std::min(at, text.size())));
    return sign == 0 ? std::nullopt : quoted_at(text, at + sign);
}

/// As programs write it: `env["NAME"] = "`, `char name[] = "`, `define("NAME", "`, `getenv("NAME", "`, `NAME || "`,
/// `#define NAME "`, `var name string = "`. `at` is behind the name, its closing mark and spaces.
std::optional<ValuePlace> place_in_program(std::string_view text, std::size_t name, std::size_t at,
                                           bool is_quoted) noexcept {
    const std::string_view rest = text.substr(at);
    const std::string_view front = text.substr(0, name);
    if (rest.starts_with("||") || rest.starts_with("??")) return quoted_at(text, at + 2, true);
    if (is_quoted) {
        if (rest.starts_with(']')) return quoted_behind_sign(text, behind_spaces(text, at + 1));
        if (!rest.starts_with(',')) return std::nullopt;
        const std::string_view call = front.substr(0, front.find_last_not_of("\\\"'`") + 1);
        if (call.ends_with("define(")) return quoted_at(text, at + 1);
        const bool is_get = call.ends_with("getenv(") || call.ends_with("environ.get(") || call.ends_with("env(");
        return is_get ? quoted_at(text, at + 1, true) : std::nullopt;
    }
    if (rest.starts_with('[')) {
        const std::size_t end = rest.find_first_not_of("0123456789", 1);
        const bool is_array = end != none && rest[end] == ']';
        return is_array ? quoted_behind_sign(text, behind_spaces(text, at + end + 1)) : std::nullopt;
    }
    if (front.ends_with("#define ")) return quoted_at(text, at);
    if (front.ends_with("var ") || front.ends_with("const ")) return quoted_behind_sign(text, behind_type(text, at));
    return std::nullopt;
}

/// `ENV NAME value` of a Dockerfile.
std::optional<ValuePlace> place_in_dockerfile(std::string_view text, std::size_t name, std::size_t at) noexcept {
    const bool is_env = text.substr(0, name).ends_with("ENV ") && begins_line(text, name - 4);
    if (!is_env || at >= text.size() || text.find_first_of(" \t", at) != none) return std::nullopt;
    ValuePlace place = place_at(text, at);
    place.is_line = place.quote.empty();
    return place;
}

}  // namespace

std::optional<ValuePlace> place_of_value(std::string_view text, std::size_t name, std::size_t end) {
    const std::string_view closing = quote_at(text, end);
    const std::size_t behind_quote = end + closing.size();
    std::size_t at = behind_spaces(text, behind_quote);
    const std::size_t sign = size_of_assignment(text.substr(at));
    if (sign == 0) {
        if (const auto place = place_in_program(text, name, at, !closing.empty())) return place;
        if (const auto place = place_in_dockerfile(text, name, at)) return place;
        if (!closing.empty()) return place_behind_named(text, behind_quote);
        const bool is_tag = at < text.size() && (text[at] == '>' || text.substr(at).starts_with("&gt;"));
        if (is_tag && name > 0 && (text[name - 1] == '<' || text[name - 1] == ':' || text[name - 1] == ';'))
            return ValuePlace{.begin = at + (text[at] == '>' ? 1 : 4), .is_between_tags = true};
        at = behind_gap(text, at);
        const bool is_option = text.substr(0, name).ends_with("--") && at > end && at < text.size();
        if (!is_option || text[at] == '-') return std::nullopt;
        return place_at(text, at);
    }
    ValuePlace place = place_at(text, behind_spaces(text, at + sign));
    if (sign == 1 && text[at] == ':' && place.quote.empty()) {
        const std::size_t behind = behind_type(text, place.begin);
        if (behind > place.begin && text.substr(behind).starts_with('=')) {
            if (const auto typed = quoted_behind_sign(text, behind)) return typed;
        }
    }
    place.is_of_program = sign == 3 && text[at] == '=';
    const bool is_direct = at == end && place.begin == at + sign && text[at] == '=';
    place.is_line = is_direct && is_of_environment(text.substr(name, end - name)) && begins_line(text, name);
    return place;
}

std::size_t end_of_value(std::string_view text, const ValuePlace& place) noexcept {
    constexpr std::size_t longest = 65'536;
    text = text.substr(0, place.begin + std::min(longest, text.size() - place.begin));
    if (place.is_between_tags) {
        std::size_t tag = text.find_first_of("<&", place.begin);
        while (tag != none && text[tag] == '&' && !text.substr(tag).starts_with("&lt;"))
            tag = text.find_first_of("<&", tag + 1);
        return std::min(tag, text.size());
    }
    if (!place.quote.empty()) {
        for (std::size_t at = text.find(place.quote, place.begin); at != none; at = text.find(place.quote, at + 1)) {
            if (closes(text.substr(place.begin, at - place.begin), place.quote)) return at;
        }
        return text.size();
    }
    constexpr std::string_view of_lines = " \t\"'`\\\r";
    constexpr std::string_view of_any = " \t\"'`\\\r,;&()[]{}<>|";
    return std::min(text.find_first_of(place.is_line ? of_lines : of_any, place.begin), text.size());
}

namespace {

/// "dbPassword2", "oauth2_secret", "oauth2Token" and "DB2_PASS", and not "Pa55w0rd".
bool is_spelled_as_variable(std::string_view name) noexcept {
    if (is_digit(name.front())) return false;
    if (is_of_environment(name)) return true;
    const std::string_view letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
    if (std::ranges::none_of(letters, is_digit)) return true;
    if (name.find('_') != none && std::ranges::none_of(name, detail::is_upper)) return true;
    for (std::size_t i = 1; i < letters.size(); ++i) {
        if (is_digit(letters[i - 1]) && !is_digit(letters[i]) && !detail::is_upper(letters[i])) return false;
    }
    return detail::is_lower(name.front());
}

/// What may stand behind a variable: nothing, what joins it with others, or the end of a sentence.
bool may_follow_variable(std::string_view behind, std::string_view name) noexcept {
    constexpr std::string_view joins = "/:.[,;|&+ ()$}{\"'";
    constexpr std::string_view joins_of_environment = "-@%=\\*~>";
    if (behind.empty() || behind.starts_with("->") || joins.find(behind.front()) != none) return true;
    if (!is_of_environment(name)) return false;
    return std::ranges::none_of(behind, detail::is_alnum) ||
           (std::ranges::none_of(name, is_digit) && joins_of_environment.find(behind.front()) != none);
}

/// "$PASSWORD", "$USER-$PASS", "$HOME/.token", "$dbPassword2", "$this->token", "$(pass show x)", and not "$Pa55w0rd".
bool refers_to_variable(std::string_view value) noexcept {
    if (value.starts_with("${") || value.starts_with("$(") || value.starts_with("$[")) return true;
    const std::string_view rest = value.substr(value.starts_with("$$") ? 2 : 1);
    const auto is_in_name = [](char c) { return detail::is_alnum(c) || c == '_'; };
    const auto size = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_in_name) - rest.begin());
    const std::string_view name = rest.substr(0, size);
    return !name.empty() && is_spelled_as_variable(name) && may_follow_variable(rest.substr(size), name);
}

/// "<password>" and "<your password", which is cut off, and not "<Xk92!ddk29s".
bool is_in_angles(std::string_view value) noexcept {
    if (value.find('>') != none || value.find(' ') != none) return true;
    return value.size() > 1 && std::ranges::all_of(value.substr(1), [](char c) {
               return detail::is_letter(c) || c == '_' || c == '-' || c == '.';
           });
}

}  // namespace

bool is_to_be_filled(std::string_view value) noexcept {
    if (value.empty() || value.ends_with("***")) return true;
    const char first = value.front();
    const char second = value.size() > 1 ? value[1] : ' ';
    if (first == '$') return refers_to_variable(value);
    if (first == '%') return second == '(' || (second == 's' && value.size() == 2) || value.ends_with('%');
    if (first == '<') return is_in_angles(value);
    return value.starts_with("{{");
}

namespace {

/// "3000,ann" of "localhost:3000,ann@example.com".
bool begins_as_port(std::string_view text) noexcept {
    const auto end = std::ranges::find_if_not(text, is_digit);
    return end != text.begin() && end != text.end() && *end == ',';
}

/// "8080", "PORT", "<port>".
bool stands_for_port(std::string_view text) noexcept {
    const auto is_of_placeholder = [](char c) { return detail::is_upper(c) || c == '_'; };
    return std::ranges::all_of(text, is_digit) || std::ranges::all_of(text, is_of_placeholder) ||
           detail::same_word(text, "port");
}

/// The "@" behind a password with "/", "?" or "#" in it: what stands behind the colon of `address` up to `authority`
/// is no port then.
std::optional<std::size_t> sign_behind_password(std::string_view address, std::size_t authority) noexcept {
    constexpr std::size_t longest = 256;
    constexpr std::string_view outside = " \t\"'<>`\\()[]{},;";
    const std::size_t colon = address.substr(0, authority).find(':');
    if (colon == none || colon + 1 == authority) return std::nullopt;
    const std::string_view rest = address.substr(0, std::min(address.size(), authority + longest));
    const std::size_t sign = rest.substr(0, rest.find_first_of(outside)).find('@', authority);
    if (sign == none || sign + 1 == rest.size() || !detail::is_alnum(rest[sign + 1])) return std::nullopt;
    const std::string_view password = rest.substr(colon + 1, sign - colon - 1);
    if (stands_for_port(rest.substr(colon + 1, authority - colon - 1)) || std::ranges::none_of(password, is_digit))
        return std::nullopt;
    constexpr std::ptrdiff_t least_slashes = 3;
    if (std::ranges::count(password, '/') >= least_slashes && is_path(password)) return std::nullopt;
    return sign;
}

}  // namespace

std::optional<Stretch> password_of_address(std::string_view text, std::size_t at) noexcept {
    const auto is_outside = [](char c) {
        return c <= ' ' || c > '~' || std::string_view("/?#\"'<>\\`").find(c) != none;
    };
    const std::string_view rest = text.substr(at);
    const auto end = std::ranges::find_if(rest, is_outside);
    const std::string_view authority = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    std::size_t host = authority.rfind('@');
    if (host == none && end != rest.end()) {
        const auto at_sign = sign_behind_password(rest, authority.size());
        if (!at_sign) return std::nullopt;
        host = *at_sign;
    } else if (host == none) {  // cut off, if what stands there is no port
        const std::string_view last = authority.substr(std::min(authority.rfind(':') + 1, authority.size()));
        const bool is_cut = last.size() >= 6 && last.size() < authority.size() && last.find('.') == none &&
                            !std::ranges::all_of(last, is_digit) && is_made_with_digits(last);
        if (!is_cut) return std::nullopt;
        host = authority.size();
    }
    const std::size_t colon = authority.substr(0, host).find(':');
    if (colon == none) return std::nullopt;
    const std::string_view password = rest.substr(colon + 1, host - colon - 1);
    if (is_to_be_filled(password) || begins_as_port(password)) return std::nullopt;
    return Stretch{at + colon + 1, at + host};
}

namespace {

/// `word` has nothing around it.
std::optional<std::size_t> password_in_pgpass(std::string_view word) noexcept {
    constexpr std::size_t colons = 4;
    constexpr std::size_t least_port_digits = 4;
    std::array<std::string_view, colons + 1> fields{};
    std::string_view rest = word;
    for (std::string_view& field : fields) {
        field = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), field.size() + 1));
    }
    const std::string_view port = fields[1];
    const bool is_usual =
        port == "*" || (port.size() == 4 && port.starts_with("543") && port[3] >= '2' && is_digit(port[3]));
    const bool is_port = port.size() >= least_port_digits && port.size() <= 5 && std::ranges::all_of(port, is_digit);
    const bool are_named = !fields[0].empty() && !fields[2].empty() && !fields[3].empty() && !is_digit(fields[2][0]);
    if (!(is_usual || (is_port && is_made_with_digits(fields[colons]))) || !are_named ||
        is_to_be_filled(fields[colons]))
        return std::nullopt;
    return fields[colons].size();
}

}  // namespace

std::optional<Stretch> password_of_pgpass(std::string_view line) noexcept {
    constexpr std::ptrdiff_t colons = 4;
    constexpr std::size_t longest = 1'024;
    if (line.size() > longest || std::ranges::count(line, ':') < colons) return std::nullopt;
    const auto is_outside = [](char c) {
        return c <= ' ' || c > '~' || std::string_view("/\"'<>\\,;").find(c) != none;
    };
    for (auto at = line.begin(); at != line.end();) {
        const auto begin = std::find_if_not(at, line.end(), is_outside);
        at = std::find_if(begin, line.end(), is_outside);
        if (std::count(begin, at, ':') != colons) continue;
        const auto end = static_cast<std::size_t>(at - line.begin());
        const auto size = password_in_pgpass(
            line.substr(static_cast<std::size_t>(begin - line.begin()), static_cast<std::size_t>(at - begin)));
        if (size) return Stretch{end - *size, end};
    }
    return std::nullopt;
}

std::optional<Stretch> password_of_curl(std::string_view line, std::size_t name, std::size_t end) noexcept {
    const std::string_view option = line.substr(name, end - name);
    const bool is_option =
        line.substr(0, name).ends_with('-') && (option == "u" || option == "user" || option == "proxy-user");
    if (!is_option || front_of(line, name).find("curl") == none) return std::nullopt;
    std::size_t at = behind_gap(line, end);
    if (at == end && at < line.size() && line[at] == '=') ++at;
    at += quote_at(line, at).size();
    const std::size_t argument = end_of_argument(line, at);
    const std::size_t colon = line.substr(0, argument).find(':', at);
    if (colon == none || is_to_be_filled(line.substr(colon + 1, argument - colon - 1))) return std::nullopt;
    return Stretch{colon + 1, argument};
}

namespace {

/// Options of redis-cli end with `front`.
bool is_of_redis(std::string_view front) noexcept {
    const std::size_t program = front.rfind("redis-cli ");
    return program != none && front.ends_with(" -") && front.substr(program).find_first_of("|;&\n") == none;
}

}  // namespace

std::optional<Stretch> password_of_option(std::string_view line, std::size_t name, std::size_t end) noexcept {
    const std::string_view option = line.substr(name, end - name);
    const std::string_view front = front_of(line, name);
    if (!front.ends_with('-') || !(option == "a" ? is_of_redis(front) : front.ends_with("sshpass -")))
        return std::nullopt;
    std::size_t at = behind_spaces(line, end);
    at += quote_at(line, at).size();
    const std::size_t argument = end_of_argument(line, at);
    const std::string_view value = line.substr(at, argument - at);
    constexpr std::size_t least = 6;
    if (value.size() < least || value.starts_with('-') || is_to_be_filled(value) ||
        kind_of_name(value) == NameKind::secret)
        return std::nullopt;
    return Stretch{at, argument};
}

std::optional<Stretch> password_of_netrc(std::string_view line, std::size_t name, std::size_t end,
                                         const LineContext& context) noexcept {
    if (end == line.size() || line[end] != ' ') return std::nullopt;
    const std::size_t at = behind_spaces(line, end);
    const std::size_t argument = end_of_argument(line, at);
    const std::string_view value = line.substr(at, argument - at);
    const std::string_view front = front_of(line, name);
    const auto behind = end_of_netrc(front);
    const bool has_host = behind && behind->name == "machine" && behind->value.find('.') != none;
    const bool has_machine = behind && behind->name == "login" && (context.is_entry || front.find("machine ") != none);
    const bool is_behind_login =
        behind && (context.is_login || has_host || has_machine || std::ranges::any_of(value, is_digit));
    const std::string_view inner = value.substr(0, value.find_last_not_of(".,:;!?") + 1);  // without a sentence's end
    const bool is_alone = front.size() == name && core_of(line).begin == name && front.find("***") == none &&
                          is_at_end_of_word(line, argument) && behind_spaces(line, argument) == line.size() &&
                          (context.is_login || !is_written_as_type(inner));
    const bool is_value = !is_to_be_filled(value) && !value.starts_with('=') && !value.starts_with(':');
    if ((!is_behind_login && !is_alone) || !is_value) return std::nullopt;
    return Stretch{at, argument};
}

}  // namespace whittle::inline v0::redaction
