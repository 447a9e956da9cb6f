#include "whittle/summary/detail/attempt.hpp"

#include <new>

namespace whittle::inline v0 {

std::string_view name_of(DigestPhase phase) noexcept { return phase == DigestPhase::primary ? "primary" : "failover"; }

std::string_view name_of(DigestFailure failure) noexcept {
    switch (failure) {
        case DigestFailure::model: return "model";
        case DigestFailure::refused: return "refused";
        case DigestFailure::does_not_fit: return "does_not_fit";
        case DigestFailure::budget: return "budget";
        case DigestFailure::callback: return "callback";
    }
    return "unknown";
}

std::string_view name_of(Refusal refusal) noexcept {
    switch (refusal) {
        case Refusal::empty: return "empty";
        case Refusal::cut_off: return "cut_off";
        case Refusal::refusal: return "refusal";
        case Refusal::tool_call: return "tool_call";
        case Refusal::error_text: return "error_text";
        case Refusal::echo: return "echo";
        case Refusal::too_long: return "too_long";
        case Refusal::not_smaller: return "not_smaller";
        case Refusal::wrong_role: return "wrong_role";
        case Refusal::greeting: return "greeting";
        case Refusal::unrelated: return "unrelated";
        case Refusal::invented: return "invented";
        case Refusal::by_caller: return "by_caller";
    }
    return "unknown";
}

namespace detail {

namespace {

Errc errc_of(const DigestError& failure) noexcept {
    if (failure.failure == DigestFailure::callback) return Errc::callback_failed;
    if (failure.failure == DigestFailure::budget) return Errc::limit_exceeded;
    return Errc::model_failed;
}

}  // namespace

std::exception_ptr exception_of(const DigestError& failure, const std::string& text) {
    if (failure.thrown) return failure.thrown;
    return std::make_exception_ptr(Error(errc_of(failure), text));
}

bool ends_hook(const std::stop_token& stop) noexcept {
    if (stop.stop_requested()) return true;
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return true;
    } catch (const Error& error) {
        return error.errc() == Errc::cancelled;
    } catch (...) {
        return false;
    }
}

bool is_too_large(const DigestError& failure) noexcept {
    return failure.failure == DigestFailure::does_not_fit || failure.model_error == ModelErrorClass::overflow;
}

}  // namespace detail

}  // namespace whittle::inline v0
