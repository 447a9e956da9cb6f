#include "whittle/provider/detail/json_text.hpp"

#include "whittle/base/detail/json_scanner.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <streambuf>
#include <system_error>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
}

/// What a stream's buffer holds ready. Members that every buffer has for those derived from it; going byte by byte
/// takes a quarter of the time of parsing.
class ReadyBytes final : public std::streambuf {
public:
    static constexpr std::size_t most = 1U << 20U;  // that `pass` takes at once: it counts in int

    static std::string_view of(const std::streambuf& buffer) {
        const char* const begin = (buffer.*&ReadyBytes::gptr)();
        return {begin, static_cast<std::size_t>((buffer.*&ReadyBytes::egptr)() - begin)};
    }
    static void pass(std::streambuf& buffer, std::size_t bytes) {
        (buffer.*&ReadyBytes::gbump)(static_cast<int>(bytes));
    }
};

/// What the escape `\uXXXX` at `at` stands for; 0 if there is none.
std::uint32_t escaped_unit(std::string_view json, std::size_t at) {
    constexpr std::size_t digits = 4;
    if (at >= json.size() || !json.substr(at).starts_with("\\u") || json.size() - at < 2 + digits) return 0;
    std::uint32_t unit = 0;
    const char* const end = json.data() + at + 2 + digits;
    const auto [read, error] = std::from_chars(end - digits, end, unit, 16);
    return error == std::errc() && read == end ? unit : 0;
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800U && unit < 0xDC00U; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00U && unit < 0xE000U; }

}  // namespace

std::string base64_encode(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t triple = byte_at(bytes, i) << 16U | byte_at(bytes, i + 1) << 8U | byte_at(bytes, i + 2);
        out += base64_alphabet[triple >> 18U];
        out += base64_alphabet[triple >> 12U & 63U];
        out += i + 1 < bytes.size() ? base64_alphabet[triple >> 6U & 63U] : '=';
        out += i + 2 < bytes.size() ? base64_alphabet[triple & 63U] : '=';
    }
    return out;
}

std::string to_data_url(std::string_view mime, std::string_view bytes) {
    std::string url = "data:";
    url += mime.empty() ? std::string_view("application/octet-stream") : mime;
    url += ";base64,";
    return url += base64_encode(bytes);
}

std::string_view mime_of_data_url(std::string_view url) noexcept {
    if (!url.starts_with("data:")) return {};
    url.remove_prefix(5);
    const std::size_t end = url.substr(0, 256).find_first_of(";,");
    return end == std::string_view::npos ? std::string_view{} : url.substr(0, end);
}

std::optional<std::string_view> base64_of_data_url(std::string_view url) noexcept {
    if (!url.starts_with("data:")) return std::nullopt;
    const std::size_t comma = url.substr(0, 1'024).find(',');
    if (comma == std::string_view::npos || !url.substr(0, comma).ends_with(";base64")) return std::nullopt;
    return url.substr(comma + 1);
}

std::string bytes_to_code_points(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80U) {
            text += c;
        } else {
            text += static_cast<char>(0xC0U | byte >> 6U);
            text += static_cast<char>(0x80U | (byte & 0x3FU));
        }
    }
    return text;
}

std::optional<std::string> code_points_to_bytes(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::uint32_t lead = byte_at(text, i);
        if (lead < 0x80U) {
            bytes += text[i];
            continue;
        }
        const std::uint32_t next = byte_at(text, ++i);
        if ((lead != 0xC2U && lead != 0xC3U) || (next & 0xC0U) != 0x80U) return std::nullopt;
        bytes += static_cast<char>((lead & 3U) << 6U | (next & 0x3FU));
    }
    return bytes;
}

bool ValueBudget::take(std::string_view json) noexcept {
    constexpr std::size_t free_values = 500'000;
    constexpr std::size_t bytes_for_each = 12;
    std::size_t values = 0;
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char c = json[at];
        if (c == '"') at = end_of_json_string(json, at + 1);
        values += c == ',' || c == '[' || c == '{' ? 1U : 0U;
    }
    values_ += values;
    bytes_ += json.size();
    if (values_ <= free_values + bytes_ / bytes_for_each) return true;
    values_ -= values;
    bytes_ -= json.size();
    return false;
}

std::size_t offset_of_depth(std::string_view json, std::size_t max_depth) noexcept {
    JsonScanner scanner(json);
    JsonToken token = scanner.next();
    while (token.kind != JsonToken::Kind::end && scanner.depth() <= max_depth) token = scanner.next();
    return token.begin;
}

bool is_closed_json(std::string_view json) noexcept {
    JsonScanner scanner(json);
    JsonToken token = scanner.next();
    while (token.kind != JsonToken::Kind::end && token.kind != JsonToken::Kind::cut) token = scanner.next();
    return token.kind == JsonToken::Kind::end && scanner.depth() == 0;
}

std::string clip_for_error(std::string_view text) {
    constexpr std::size_t max_bytes = 80;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string clipped;
    for (const char c : to_valid_utf8(grapheme_prefix(text, max_bytes))) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20U && byte != 0x7FU) {
            clipped += c;
        } else {
            clipped.append("\\u00").append({digits[byte >> 4U], digits[byte & 0xFU]});
        }
    }
    return text.size() <= max_bytes ? clipped : clipped + "...";
}

std::optional<std::string> repaired_json(std::string_view json) {
    constexpr std::size_t escape = 6;  // bytes of one
    std::string repaired;
    std::size_t kept = 0;
    for (std::size_t at = json.find('\\'); at < json.size(); at = json.find('\\', at)) {
        const std::uint32_t unit = escaped_unit(json, at);
        if (!is_high_surrogate(unit) && !is_low_surrogate(unit)) {
            at += 2;
        } else if (is_high_surrogate(unit) && is_low_surrogate(escaped_unit(json, at + escape))) {
            at += 2 * escape;
        } else {
            repaired.append(json.substr(kept, at - kept)).append("\\ufffd");
            at += escape;
            kept = at;
        }
    }
    if (kept == 0 && is_valid_utf8(json)) return std::nullopt;
    repaired.append(json.substr(std::min(kept, json.size())));
    return is_valid_utf8(repaired) ? repaired : to_valid_utf8(repaired);
}

LineRead read_line(std::istream& in, std::string& line, std::size_t max_bytes) {
    using Traits = std::istream::traits_type;
    line.clear();
    std::streambuf* const buffer = in.rdbuf();
    if (buffer == nullptr) return LineRead::end;
    bool any = false;
    while (!Traits::eq_int_type(buffer->sgetc(), Traits::eof())) {
        any = true;
        const std::string_view ready = ReadyBytes::of(*buffer).substr(0, ReadyBytes::most);
        if (ready.empty()) {  // it reads byte by byte
            const char c = Traits::to_char_type(buffer->sbumpc());
            if (c == '\n') return LineRead::line;
            if (line.size() == max_bytes) return LineRead::too_long;
            line += c;
            continue;
        }
        const std::size_t end = std::min(ready.find('\n'), ready.size());
        const std::size_t taken = std::min(end, max_bytes - line.size());
        line.append(ready.substr(0, taken));
        ReadyBytes::pass(*buffer, taken);
        if (taken < end) return LineRead::too_long;
        if (end == ready.size()) continue;
        ReadyBytes::pass(*buffer, 1);
        return LineRead::line;
    }
    return any ? LineRead::line : LineRead::end;
}

bool read_rest(std::istream& in, std::string& text, std::size_t max_bytes) {
    std::array<char, 65'536> block{};
    std::streambuf* buffer = in.rdbuf();
    while (buffer != nullptr) {
        const std::streamsize got = buffer->sgetn(block.data(), static_cast<std::streamsize>(block.size()));
        if (got <= 0) return true;
        if (static_cast<std::size_t>(got) > max_bytes - std::min(max_bytes, text.size())) return false;
        text.append(block.data(), static_cast<std::size_t>(got));
    }
    return true;
}

std::ifstream open_sessions(const std::filesystem::path& file) {
    const auto fail = [&](const std::string& reason) {
        throw Error(Errc::not_found, "open \"" + to_valid_utf8(file.string()) + "\": " + reason);
    };
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) fail("it is a directory");
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    if (!in) fail(errno == 0 ? "it cannot be opened" : std::generic_category().message(errno));
    return in;
}

bool SessionText::next() {
    if (!next_line()) return false;
    if (line_ == first_line_ && !is_closed_json(text_)) take_document();
    constexpr std::size_t deep = 1'000;  // who parses it refuses it for that, before it takes memory
    if (!values_.take(text_) && offset_of_depth(text_, deep) == text_.size())
        throw Error(Errc::parse_failed, name_ + ":" + std::to_string(line_) + ": " + std::string(ValueBudget::reason));
    return true;
}

/// The next line that is not blank.
bool SessionText::next_line() {
    while (true) {
        const LineRead read = read_line(*in_, text_, max_bytes_);
        if (read == LineRead::end) return false;
        ++line_;
        if (read == LineRead::too_long) fail_too_long();
        if (line_ == 1 && text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
        if (is_blank(text_)) continue;
        if (first_line_ == 0) first_line_ = line_;
        return true;
    }
}

void SessionText::take_document() {
    text_ += '\n';
    if (!read_rest(*in_, text_, max_bytes_)) fail_too_long();
}

void SessionText::fail_too_long() const {
    throw Error(Errc::parse_failed, name_ + ":" + std::to_string(line_) + ": expected at most " +
                                        std::to_string(max_bytes_) + " bytes of JSON, found more");
}

}  // namespace whittle::inline v0::detail
