#include "whittle/conversation/detail/mark_keys.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace whittle::inline v0::detail {
namespace {

constexpr std::size_t marks_name_size = 32;  // of a hash of 128 bits in hexadecimal
constexpr std::string_view marks_folder = "/marks/";

bool is_marks_name(std::string_view text) noexcept {
    return text.size() == marks_name_size && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string key_of_marks(std::string_view conversation, std::string_view name) {
    return fmt::format("{}{}{}", conversation, marks_folder, name);
}

std::string_view marks_name_in_key(std::string_view key) noexcept {
    const std::size_t begin = key.find('/');
    if (begin == std::string_view::npos || !key.substr(begin).starts_with(marks_folder)) return {};
    const std::string_view name = key.substr(begin + marks_folder.size());
    return is_marks_name(name) ? name : std::string_view{};
}

std::string_view marks_name_in_id(std::string_view mark_id) noexcept {
    const std::string_view name = mark_id.substr(0, mark_id.find('-'));
    return name.size() < mark_id.size() && is_marks_name(name) ? name : std::string_view{};
}

}  // namespace whittle::inline v0::detail
