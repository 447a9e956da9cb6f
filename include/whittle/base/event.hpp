#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Something a host may want to log or count. The views are valid only during the call.
struct Event {
    /// How much it matters to a host, in rising order.
    enum class Level { debug, info, warning, error };
    Level level = Level::info;        ///< info: what was done; warning: what somebody should look at
    std::string_view source{};        ///< name of the middleware, or "chain", "loop", "conversation"
    std::string_view kind{};          ///< a stable word: "committed", "skipped", "store_failed", "warning", ...
    std::string_view text{};          ///< one sentence for a person; never message content
    std::string_view conversation{};  ///< id of the conversation, empty where there is none
    std::int64_t tokens_before = 0;   ///< where the kind has counts
    std::int64_t tokens_after = 0;    ///< likewise, after what the event tells of
};

/// Called on the thread that runs the hook; for parallel tools from several threads at once. What it throws is dropped.
using EventSink = std::function<void(const Event&)>;

/// Calls `sink` if there is one; nothing it throws gets out.
void emit(const EventSink& sink, const Event& event) noexcept;

namespace detail {
/// Text of the exception in flight; empty if even that cannot be had.
[[nodiscard]] std::string current_error_text() noexcept;
/// Tells of something that failed and was passed over.
void emit_failure(const EventSink& events, std::string_view source, std::string_view conversation,
                  std::string_view text) noexcept;
}  // namespace detail

}  // namespace whittle::inline v0
