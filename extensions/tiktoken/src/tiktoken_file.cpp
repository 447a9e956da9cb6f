#include "tiktoken_file.hpp"

#include "bpe_tables.hpp"
#include "whittle/base/detail/base64.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <bitset>
#include <charconv>

namespace whittle::inline v0::bpe {
namespace {

constexpr std::size_t longest_token = 255;

[[noreturn]] void fail_in_line(std::size_t line, std::string_view reason) {
    throw Error(Errc::parse_failed, fmt::format("vocabulary line {}: {}", line, reason));
}

std::uint32_t read_id(std::string_view text, std::size_t line) {
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size())
        fail_in_line(line, "expected a token in base64 and its rank");
    if (id >= no_token) fail_in_line(line, fmt::format("rank {} is too large; the largest is {}", id, no_token - 1));
    return id;
}

std::string read_bytes(std::string_view text, std::size_t line) {
    std::optional<std::string> bytes = from_base64(text);
    if (!bytes || bytes->empty()) fail_in_line(line, "expected a token in base64 and its rank");
    if (bytes->size() > longest_token) fail_in_line(line, fmt::format("a token has at most {} bytes", longest_token));
    return *std::move(bytes);
}

void read_line(std::string_view text, std::size_t line, std::vector<std::string>& tokens) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) fail_in_line(line, "expected a token in base64 and its rank");
    const std::uint32_t id = read_id(text.substr(blank + 1), line);
    if (tokens.size() <= id) tokens.resize(id + 1);
    if (!tokens[id].empty()) fail_in_line(line, fmt::format("rank {} comes twice", id));
    tokens[id] = read_bytes(text.substr(0, blank), line);
}

void require_all_bytes(const std::vector<std::string>& tokens) {
    std::bitset<256> seen;
    for (const std::string& token : tokens)
        if (token.size() == 1) seen.set(static_cast<unsigned char>(token[0]));
    if (!seen.all()) throw Error(Errc::parse_failed, "vocabulary: not all single bytes are tokens");
}

}  // namespace

std::vector<std::string> read_tiktoken_file(std::string_view text) {
    std::vector<std::string> tokens;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view content = text.substr(0, end);
        if (!content.empty()) read_line(content, line, tokens);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    require_all_bytes(tokens);
    return tokens;
}

}  // namespace whittle::inline v0::bpe
