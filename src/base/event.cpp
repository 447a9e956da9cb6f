#include "whittle/base/event.hpp"

#include <exception>

namespace whittle::inline v0 {

void emit(const EventSink& sink, const Event& event) noexcept {
    if (!sink) return;
    try {
        sink(event);
    } catch (...) {  // a host's logging must not change what the library does
        return;
    }
}

namespace detail {

std::string current_error_text() noexcept {
    try {
        try {
            throw;
        } catch (const std::exception& error) {
            return error.what();
        } catch (...) {
            return "an exception that is no std::exception";
        }
    } catch (...) {
        return {};
    }
}

void emit_failure(const EventSink& events, std::string_view source, std::string_view conversation,
                  std::string_view text) noexcept {
    emit(
        events,
        {.level = Event::Level::error, .source = source, .kind = "failed", .text = text, .conversation = conversation});
}

}  // namespace detail

}  // namespace whittle::inline v0
