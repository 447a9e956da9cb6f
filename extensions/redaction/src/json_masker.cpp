#include "json_masker.hpp"

#include "key_lines.hpp"
#include "made_words.hpp"
#include "piece_masker.hpp"
#include "redacting_stream.hpp"
#include "value_text.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/json_scanner.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0::redaction {
namespace {

using detail::JsonToken;

constexpr int deepest = 8;  // JSON in a string of JSON

/// What providers and programs make, and read again: proofs of thinking, and names of calls.
constexpr std::array<std::string_view, 8> opaque_keys{
    "signature", "thought_signature", "thoughtSignature", "encrypted_content",
    "id",        "call_id",           "tool_call_id",     "tool_use_id"};
constexpr std::array<std::string_view, 4> mime_keys{"mime", "media_type", "mimeType", "mime_type"};
constexpr std::array<std::string_view, 3> media_keys{"data", "bytes", "base64"};
/// How PNG, JPEG, GIF, WebP and WAV, PDF, and MP3 begin as base64.
constexpr std::array<std::string_view, 6> media_prefixes{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0", "SUQz"};

bool begins_as_media(std::string_view text) {
    return std::ranges::any_of(media_prefixes, [&](std::string_view b) { return text.starts_with(b); });
}

std::string encoded(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// One walk over a JSON text.
class JsonWalk {
public:
    JsonWalk(const CompiledRedactionRules& rules, std::string_view json, int depth, std::string& out, Found& found)
        : rules_(rules), json_(json), depth_(depth), out_(out), found_(found) {}

    void run() {
        detail::JsonScanner scanner(json_);
        for (JsonToken token = scanner.next(); token.kind != JsonToken::Kind::end; token = scanner.next()) {
            if (token.is_quoted()) {
                take_string(token);
            } else {
                take_sign(token);
            }
        }
        out_ += json_.substr(copied_);
    }

private:
    [[nodiscard]] std::string_view written(const JsonToken& token) const {
        return json_.substr(token.begin, token.end - token.begin);
    }

    void replace(const JsonToken& token, const std::string& text) {
        out_.append(json_.substr(copied_, token.begin - copied_)).append(encoded(text));
        copied_ = token.end;
    }

    /// An object under the key "bytes" is still what the key says.
    void take_sign(const JsonToken& token) {
        using Kind = JsonToken::Kind;
        if (token.kind == Kind::open_array) {
            if (rules_.private_key) look_into_array(token.end);
            list_key_ = key_;
        }
        if (token.kind == Kind::close_object) is_media_ = names_value_ = false;
        if (token.closes() || token.kind == Kind::open_object) list_key_.clear();
        if (token.kind != Kind::open_object && token.kind != Kind::colon) key_.clear();
    }

    /// Strings that an array begins with may be the lines of one text, and some of these a private key's.
    void look_into_array(std::size_t at) {
        std::vector<std::size_t> places;
        std::vector<std::string> texts;
        detail::JsonScanner scanner(json_, at);
        for (JsonToken token = scanner.next(); token.is_quoted() || token.kind == JsonToken::Kind::comma;
             token = scanner.next()) {
            if (!token.is_quoted()) continue;
            places.push_back(token.begin);
            texts.push_back(detail::unquoted_json(written(token)));
        }
        if (texts.size() > 1) plan_lines_of_keys(places, texts);
    }

    void plan_lines_of_keys(const std::vector<std::size_t>& places, const std::vector<std::string>& texts) {
        std::vector<std::string_view> lines;
        std::vector<std::size_t> ends;  // of each text, in lines
        for (const std::string& text : texts) {
            for (std::string_view rest = text;;) {
                const std::size_t end = rest.find('\n');
                lines.push_back(rest.substr(0, end));
                rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
                if (rest.empty()) break;
            }
            ends.push_back(lines.size());
        }
        const std::vector<LineOfKey> known = lines_of_keys(lines);
        std::size_t line = 0;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::size_t first = std::exchange(line, ends[i]);
            const auto is_of_key = [](const LineOfKey& one) { return one.hidden || one.is_public; };
            if (std::ranges::none_of(std::span(known).subspan(first, line - first), is_of_key)) continue;
            std::string masked = without_key_lines(lines, known, first, line);
            if (texts[i].ends_with('\n')) masked += '\n';
            const bool is_changed = masked != texts[i];
            planned_.push_back({places[i], std::move(masked), is_changed});
        }
    }

    [[nodiscard]] std::string without_key_lines(std::span<const std::string_view> lines,
                                                std::span<const LineOfKey> known, std::size_t first, std::size_t end) {
        std::string masked;
        for (std::size_t i = first; i < end; ++i) {
            if (i > first) masked += '\n';
            const LineCore core = known[i].hidden.value_or(LineCore{});
            if (core.begin == core.end) {
                mask_piece(rules_, lines[i], known[i].is_public, masked, found_);
                continue;
            }
            const std::string_view secret = lines[i].substr(core.begin, core.end - core.begin);
            if (i == 0 || !(known[i - 1].hidden || begins_as_private_der(lines[i - 1]))) ++found_.places["private_key"];
            if (found_.secrets != nullptr) found_.secrets->emplace_back(secret);
            mask_piece(rules_, lines[i].substr(0, core.begin), false, masked, found_);
            masked.append("***").append(lines[i].substr(core.end));
        }
        return masked;
    }

    void take_string(const JsonToken& token) {
        if (next_planned_ < planned_.size() && planned_[next_planned_].at == token.begin) {
            const Planned& planned = planned_[next_planned_++];
            if (planned.is_changed) replace(token, planned.masked);
            return key_.clear();
        }
        const bool is_key = token.kind == JsonToken::Kind::name;
        std::string text = detail::unquoted_json(written(token));
        const std::string hidden = is_key ? masked_lines(text, false) : masked_value(text);
        if (hidden != text) replace(token, hidden);
        key_.clear();
        if (!is_key) return;
        if (detail::is_one_of(std::string_view(text), mime_keys)) is_media_ = true;
        key_ = std::move(text);
    }

    std::string masked_value(const std::string& text) {
        if (rules_.named && is_named(text)) {
            found_.note("named", text);
            return mask_of(text, rules_.given.shown_prefix_bytes);
        }
        const bool is_media =
            detail::is_one_of(std::string_view(key_), media_keys) && (is_media_ || begins_as_media(text));
        if (depth_ < deepest && is_json(text)) {
            std::string nested;
            JsonWalk(rules_, text, depth_ + 1, nested, found_).run();
            return nested;
        }
        return masked_lines(text, is_media || detail::is_one_of(std::string_view(key_), opaque_keys));
    }

    /// `{"X-Api-Key": ["..."]}`, where what is wrong with a password may be told too.
    [[nodiscard]] bool is_of_named_list(std::string_view text) const {
        constexpr std::size_t least = 12;
        const bool may_be = !list_key_.empty() && text.size() >= least && text.find(' ') == std::string_view::npos &&
                            std::ranges::any_of(text, detail::is_digit);
        if (!may_be) return false;
        const NameKind kind = kind_of_name(list_key_, rules_);
        return looks_made(text) ? kind != NameKind::none
                                : kind == NameKind::secret && is_made(text, 0) && !is_path(text);
    }

    /// `{"name": "DB_PASSWORD", "value": "..."}` says it in two steps.
    bool is_named(const std::string& text) {
        const bool may_be_mask = text.ends_with("***");
        if (may_be_mask && text.size() <= rules_.given.shown_prefix_bytes + 3) return false;
        if (!may_be_mask && is_to_be_filled(text)) return false;
        if (names_value_ && detail::same_word(key_, "value")) return text.size() >= least_value_bytes;
        if (key_.empty() && is_of_named_list(text)) return true;
        const NameKind kind = kind_of_name(key_, rules_);
        if (kind == NameKind::secret) return text.size() >= least_value_bytes;
        if (kind == NameKind::doubtful && looks_made(text)) return true;
        if (detail::same_word(key_, "name") || detail::same_word(key_, "key"))
            names_value_ = kind_of_name(text, rules_) == NameKind::secret;
        return false;
    }

    std::string masked_lines(const std::string& text, bool is_opaque) {
        std::string masked;
        if (text.find('\n') == std::string::npos) {
            mask_piece(rules_, text, is_opaque, masked, found_);
            return masked;
        }
        RedactingStream lines(rules_, false, found_.secrets);
        lines.write(text, masked);
        lines.finish(masked);
        for (const auto& [rule, number] : lines.places()) found_.places[rule] += number;
        return masked;
    }

    const CompiledRedactionRules& rules_;
    std::string_view json_;
    int depth_;
    std::string& out_;
    Found& found_;
    /// A string whose text is known already.
    struct Planned {
        std::size_t at = 0;
        std::string masked{};
        bool is_changed = true;
    };

    std::vector<Planned> planned_{};
    std::size_t next_planned_ = 0;
    std::size_t copied_ = 0;    // bytes of the text that `out_` has
    std::string key_{};         // of the value that comes next
    std::string list_key_{};    // of the list that is gone through
    bool is_media_ = false;     // the object has said what kind of data it holds
    bool names_value_ = false;  // the object has said that its "value" is a secret
};

}  // namespace

bool is_json(std::string_view text) {
    const std::string_view bare = detail::trim_view(text);
    const bool may_be = bare.size() >= 2 &&
                        ((bare.front() == '{' && bare.back() == '}') || (bare.front() == '[' && bare.back() == ']'));
    return may_be && nlohmann::json::accept(bare);
}

void mask_json(const CompiledRedactionRules& rules, std::string_view json, std::string& out, Found& found) {
    JsonWalk(rules, json, 0, out, found).run();
}

}  // namespace whittle::inline v0::redaction
