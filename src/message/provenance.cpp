#include "whittle/message/outline.hpp"

#include <array>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr std::array<std::pair<Origin, std::string_view>, 8> origin_names{{
    {Origin::original, "original"},
    {Origin::summary, "summary"},
    {Origin::skills, "skills"},
    {Origin::attachment, "attachment"},
    {Origin::placeholder, "placeholder"},
    {Origin::nudge, "nudge"},
    {Origin::repair, "repair"},
    {Origin::transient, "transient"},
}};

}  // namespace

std::string_view to_string(Origin origin) noexcept {
    for (const auto& [value, name] : origin_names) {
        if (value == origin) return name;
    }
    return "unknown";
}

Origin origin_or_original(std::string_view name) noexcept {
    for (const auto& [value, known] : origin_names) {
        if (known == name) return value;
    }
    return Origin::original;
}

}  // namespace whittle::inline v0
