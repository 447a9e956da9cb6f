#include "whittle/conversation/detail/edit_environment.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

namespace whittle::inline v0::detail {

void emit_store_failures(const EventSink* events, std::string_view by, std::string_view conversation,
                         std::span<const StoreFailure> failures) noexcept {
    if (events == nullptr || failures.empty()) return;
    try {
        const StoreFailure& first = failures.front();
        const std::string which =
            failures.size() == 1
                ? fmt::format("\"{}\" could not be stored", first.key)
                : fmt::format("{} objects could not be stored, the first of them \"{}\"", failures.size(), first.key);
        const std::string text = fmt::format("{}: {}", which, first.reason);
        emit(*events, {.level = Event::Level::error,
                       .source = by,
                       .kind = "store_failed",
                       .text = text,
                       .conversation = conversation});
    } catch (...) {
    }
}

void require_budget(const EditEnvironment& environment, std::string_view by, std::int64_t bytes) {
    if (environment.stop.stop_requested())
        throw Error(Errc::cancelled, fmt::format("{}: commit: stopped before the commit point", by));
    if (environment.budget == nullptr) return;
    if (bytes > environment.budget->store_bytes) {
        throw Error(Errc::limit_exceeded, fmt::format("{}: store {} bytes: limits.store_bytes leaves {} for this hook",
                                                      by, bytes, environment.budget->store_bytes));
    }
    if (environment.clock->now() > environment.budget->deadline) {
        throw Error(Errc::limit_exceeded, fmt::format("{}: commit: the hook is past limits.deadline", by));
    }
}

}  // namespace whittle::inline v0::detail
