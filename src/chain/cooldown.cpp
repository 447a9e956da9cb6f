#include "whittle/chain/detail/cooldown.hpp"

#include <string>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view retry_note = "retry_at_tokens";

std::string reported_note(std::string_view obstacle) { return std::string(obstacle).append("_reported"); }

}  // namespace

bool Cooldown::is_active(std::int64_t tokens) const { return tokens < turn_.notes().integer(retry_note).value_or(0); }

void Cooldown::wait_for(std::int64_t tokens) {
    if (!is_silent_) turn_.notes().set(retry_note, tokens);
}

void Cooldown::end() {
    if (!is_silent_) turn_.notes().erase(retry_note);
}

bool Cooldown::is_news(std::string_view obstacle) {
    const std::string note = reported_note(obstacle);
    if (turn_.notes().integer(note)) return false;
    if (!is_silent_) turn_.notes().set(note, std::int64_t{1});
    return true;
}

void Cooldown::clear(std::string_view obstacle) {
    if (!is_silent_) turn_.notes().erase(reported_note(obstacle));
}

}  // namespace whittle::inline v0::detail
