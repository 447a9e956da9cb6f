#include "file_names.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0 {
namespace {

constexpr char mark = '+';
constexpr std::string_view dot_at_the_end = "+-";
constexpr std::string_view device_in_front = "+_";

/// Whether Windows takes the name, also with any extension, for a device. In lower case.
bool names_device(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 4> devices{"con", "prn", "aux", "nul"};
    const std::string_view stem = name.substr(0, name.find('.'));
    if (std::ranges::find(devices, stem) != devices.end()) return true;
    return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '0' && stem[3] <= '9';
}

}  // namespace

std::string to_windows_name(std::string_view component) {
    std::string name;
    if (names_device(component)) name = device_in_front;
    for (const char c : component) {
        if (detail::is_upper(c)) {
            name += mark;
            name += static_cast<char>(c - 'A' + 'a');
        } else {
            name += c;
        }
    }
    if (name.ends_with('.')) name.replace(name.size() - 1, 1, dot_at_the_end);
    return name;
}

std::string from_windows_name(std::string_view name) {
    std::string_view rest = name;
    if (rest.starts_with(device_in_front)) rest.remove_prefix(device_in_front.size());
    std::string component;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const bool is_marked = rest[i] == mark && i + 1 < rest.size();
        if (is_marked && detail::is_lower(rest[i + 1])) {
            component += static_cast<char>(rest[++i] - 'a' + 'A');
        } else if (is_marked && rest.substr(i) == dot_at_the_end) {
            component += '.';
            ++i;
        } else {
            component += rest[i];
        }
    }
    const bool is_one = component.find(mark) == std::string::npos && to_windows_name(component) == name;
    return is_one ? component : std::string();
}

}  // namespace whittle::inline v0
