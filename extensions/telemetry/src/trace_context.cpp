#include "trace_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace whittle::inline v0::telemetry::detail {
namespace {

bool is_hex(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) noexcept {
    return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::uint64_t not_zero(Random& random) {
    for (int attempt = 0; attempt < 8; ++attempt) {
        if (const std::uint64_t number = random.next(); number != 0) return number;
    }
    return 1;  // a source that gives nothing else
}

}  // namespace

std::optional<TraceContext> read_traceparent(std::string_view text) {
    // version "-" trace id "-" parent id "-" flags; later versions may have more behind another "-".
    constexpr std::size_t length = 55;
    if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
    const std::string_view version = text.substr(0, 2);
    const std::string_view flags = text.substr(53, 2);
    if (!is_hex(version) || version == "ff" || !is_hex(flags)) return std::nullopt;
    if (text.size() > length && (version == "00" || text[length] != '-')) return std::nullopt;
    const std::string_view trace = text.substr(3, 32);
    const std::string_view parent = text.substr(36, 16);
    if (!is_id(trace) || !is_id(parent)) return std::nullopt;
    constexpr std::string_view odd_digits = "13579bdf";
    return TraceContext{.trace_id = std::string(trace),
                        .span_id = std::string(parent),
                        .is_sampled = odd_digits.find(flags[1]) != std::string_view::npos};
}

std::string new_trace_id(Random& random) {
    const std::uint64_t high = not_zero(random);
    return fmt::format("{:016x}{:016x}", high, random.next());
}

std::string new_span_id(Random& random) { return fmt::format("{:016x}", not_zero(random)); }

}  // namespace whittle::inline v0::telemetry::detail
