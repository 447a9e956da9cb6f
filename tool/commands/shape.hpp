#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/saved/trajectory.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// Whose messages a session holds.
enum class Shape { openai, anthropic };

/// The value of `--shape`; nothing for an empty one. Throws `UsageError`.
[[nodiscard]] std::optional<Shape> to_shape(const std::string& option);

/// By how calls and results are written; in a session without any, by other blocks and by what stands beside the
/// messages. A session that has none of it reads the same either way and is taken for OpenAI's. Throws
/// Error(parse_failed) starting with `where` if both are there.
[[nodiscard]] Shape detect_shape(const Trajectory<>& session, std::string_view where);

/// The same session with Anthropic messages. Throws Error(parse_failed) starting with `where`, with the message.
[[nodiscard]] Trajectory<anthropic::Message> to_anthropic_shape(Trajectory<>&& session, std::string_view where);

/// Calls `visit` with a trajectory of the session's own message type.
template <typename Visit>
void visit_in_shape(Trajectory<>&& session, std::optional<Shape> given, std::string_view where, Visit&& visit) {
    if ((given ? *given : detect_shape(session, where)) == Shape::openai) {
        visit(std::move(session));
    } else {
        visit(to_anthropic_shape(std::move(session), where));
    }
}

}  // namespace whittle::cli
