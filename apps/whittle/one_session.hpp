#pragma once

#include "commands.hpp"
#include "read_sessions.hpp"
#include "shape.hpp"

namespace whittle::cli {

/// Which session of a file: the one with that id, or the first.
struct SessionChoice {
    std::string file{};
    std::string id{};  ///< empty: the first
};

/// Visits one session with its own message type. Throws Error(parse_failed) if there is none,
/// Error(not_found) if none has the id.
template <typename Visit>
void visit_session(const SessionChoice& choice, const CommonOptions& common, Visit&& visit) {
    bool is_found = false;
    const auto take = [&](Trajectory<>&& session, std::optional<Shape> shape, std::string_view where,
                          const InputBuffer&) {
        is_found = choice.id.empty() || session.id == choice.id;
        if (is_found) visit_in_shape(std::move(session), shape, where, visit);
        return !is_found;
    };
    const std::string name = read_sessions(choice.file, common, take);
    if (is_found) return;
    throw Error(Errc::not_found, name + ": no session has the id \"" + choice.id + "\"");
}

}  // namespace whittle::cli
