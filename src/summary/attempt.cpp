#include "whittle/summary/detail/attempt.hpp"

#include <new>

namespace whittle::inline v0 {

std::string_view to_string(SummaryPhase phase) noexcept {
    return phase == SummaryPhase::primary ? "primary" : "failover";
}

std::string_view to_string(SummaryFailure failure) noexcept {
    switch (failure) {
        case SummaryFailure::model: return "model";
        case SummaryFailure::refused: return "refused";
        case SummaryFailure::does_not_fit: return "does_not_fit";
        case SummaryFailure::budget: return "budget";
        case SummaryFailure::callback: return "callback";
    }
    return "unknown";
}

std::string_view to_string(Refusal refusal) noexcept {
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

Errc errc_of(const SummaryError& failure) noexcept {
    if (failure.failure == SummaryFailure::callback) return Errc::callback_failed;
    if (failure.failure == SummaryFailure::budget) return Errc::limit_exceeded;
    return Errc::model_failed;
}

}  // namespace

std::exception_ptr exception_of(const SummaryError& failure, const std::string& text) {
    if (failure.thrown) return failure.thrown;
    return std::make_exception_ptr(Error(errc_of(failure), text));
}

bool ends_hook(const StopToken& stop) noexcept {
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

bool is_too_large(const SummaryError& failure) noexcept {
    return failure.failure == SummaryFailure::does_not_fit || failure.model_error == ModelErrorClass::overflow;
}

}  // namespace detail

}  // namespace whittle::inline v0
