#include "whittle/base/event.hpp"

namespace whittle::inline v0 {

void emit(const EventSink& sink, const Event& event) noexcept {
    if (!sink) return;
    try {
        sink(event);
    } catch (...) {  // a host's logging must not change what the library does
        return;
    }
}

}  // namespace whittle::inline v0
