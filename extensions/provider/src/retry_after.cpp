#include "whittle/provider/detail/retry_after.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace whittle::inline v0::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t longest_seconds = 315'360'000;  // ten years

std::optional<std::int64_t> take_digits(std::string_view& text, std::int64_t highest) noexcept {
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    std::int64_t number = 0;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1))
        number = std::min(highest, number * 10 + (text.front() - '0'));
    return number;
}

/// The first three digits behind the point; the others are passed over.
std::int64_t take_thousandths(std::string_view& text) noexcept {
    std::int64_t result = 0;
    for (std::int64_t place = 100; !text.empty() && is_digit(text.front()); text.remove_prefix(1), place /= 10)
        result += place * (text.front() - '0');
    return result;
}

std::optional<std::int64_t> two_digits(std::string_view text, std::size_t at) noexcept {
    if (!is_digit(text[at]) || !is_digit(text[at + 1])) return std::nullopt;
    return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

std::optional<std::int64_t> month_of(std::string_view name) noexcept {
    const std::size_t at = std::string_view("JanFebMarAprMayJunJulAugSepOctNovDec").find(name);
    if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
    return static_cast<std::int64_t>(at / 3) + 1;
}

/// Of the proleptic Gregorian calendar, from 1970-01-01 (H. Hinnant, chrono-compatible low-level date algorithms); for
/// years from 1.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) noexcept {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = year / 400;
    const std::int64_t year_of_era = year - era * 400;
    const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

}  // namespace

std::optional<milliseconds> read_seconds(std::string_view text) noexcept {
    text = trim_view(text);
    const auto whole = take_digits(text, longest_seconds);
    if (!whole) return std::nullopt;
    std::int64_t thousandths = 0;
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        thousandths = take_thousandths(text);
    }
    if (!text.empty() && text != "s") return std::nullopt;
    return milliseconds(*whole * 1'000 + thousandths);
}

std::optional<seconds> read_http_date(std::string_view text) noexcept {
    text = trim_view(text);
    if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT" || text[19] != ':' ||
        text[22] != ':')
        return std::nullopt;
    const auto day = two_digits(text, 5), century = two_digits(text, 12), year = two_digits(text, 14),
               hour = two_digits(text, 17), minute = two_digits(text, 20), second = two_digits(text, 23);
    const auto month = month_of(text.substr(8, 3));
    if (!day || !month || !century || !year || !hour || !minute || !second || *century == 0) return std::nullopt;
    const std::int64_t days = days_of(*century * 100 + *year, *month, *day);
    return seconds(((days * 24 + *hour) * 60 + *minute) * 60 + *second);
}

std::optional<milliseconds> read_retry_after(const HttpHeaders& headers) noexcept {
    if (const auto value = find_header(headers, "retry-after-ms")) {
        std::string_view text = trim_view(*value);
        if (const auto number = take_digits(text, longest_seconds * 1'000)) return milliseconds(*number);
    }
    const auto value = find_header(headers, "retry-after");
    if (!value) return std::nullopt;
    if (const auto wait = read_seconds(*value)) return wait;
    const auto until = read_http_date(*value);
    const auto now = read_http_date(find_header(headers, "date").value_or(""));
    if (!until || !now) return std::nullopt;
    return std::clamp<milliseconds>(*until - *now, milliseconds::zero(), seconds(longest_seconds));
}

}  // namespace whittle::inline v0::detail
