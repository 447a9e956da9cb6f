#pragma once

#include "whittle/model/model.hpp"

namespace whittle::inline v0 {

/// Whether a reply may end in the middle of something, such as a tool call.
[[nodiscard]] constexpr bool is_broken_off(FinishReason finish) noexcept {
    return finish == FinishReason::length || finish == FinishReason::refusal || finish == FinishReason::other;
}

}  // namespace whittle::inline v0
