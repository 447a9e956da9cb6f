#include "whittle/digest/attempt.hpp"

namespace whittle::inline v0 {

std::string_view name_of(DigestPhase phase) noexcept { return phase == DigestPhase::primary ? "primary" : "failover"; }

std::string_view name_of(DigestFailure failure) noexcept {
    switch (failure) {
        case DigestFailure::model:
            return "model";
        case DigestFailure::refused:
            return "refused";
        case DigestFailure::does_not_fit:
            return "does_not_fit";
        case DigestFailure::budget:
            return "budget";
        case DigestFailure::callback:
            return "callback";
    }
    return "unknown";
}

std::string_view name_of(Refusal refusal) noexcept {
    switch (refusal) {
        case Refusal::empty:
            return "empty";
        case Refusal::cut_off:
            return "cut_off";
        case Refusal::refusal:
            return "refusal";
        case Refusal::tool_call:
            return "tool_call";
        case Refusal::error_text:
            return "error_text";
        case Refusal::echo:
            return "echo";
        case Refusal::too_long:
            return "too_long";
        case Refusal::not_smaller:
            return "not_smaller";
        case Refusal::by_caller:
            return "by_caller";
    }
    return "unknown";
}

}  // namespace whittle::inline v0
