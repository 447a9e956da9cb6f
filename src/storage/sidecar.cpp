#include "sidecar.hpp"

#include <fmt/format.h>

#include <charconv>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t sha256_digits = 64;
constexpr std::int64_t largest_sidecar = 128;

std::optional<Fingerprint> parse_fingerprint(std::string_view text) {
    Fingerprint found;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, found.bytes);
    if (error != std::errc{} || found.bytes < 0) return std::nullopt;
    const std::string_view rest(end, static_cast<std::size_t>(last - end));
    if (rest.size() != sha256_digits + 2 || rest.front() != ' ' || rest.back() != '\n') return std::nullopt;
    found.sha256 = rest.substr(1, sha256_digits);
    return found;
}

}  // namespace

std::string sidecar_of(std::string_view object_name) { return fmt::format(".{}.meta", object_name); }

std::string to_text(const Fingerprint& fingerprint) {
    return fmt::format("{} {}\n", fingerprint.bytes, fingerprint.sha256);
}

std::optional<Fingerprint> read_sidecar(const FileOps& ops, const FileAttempt& attempt, NativeFile directory,
                                        std::string_view object_name) {
    const OpenFile file = open_object(ops, attempt, directory, sidecar_of(object_name));
    if (!file) return std::nullopt;
    return parse_fingerprint(read_at(ops, attempt, file.get(), 0, largest_sidecar));
}

}  // namespace whittle::inline v0
