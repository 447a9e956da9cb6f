#pragma once

#include "commands.hpp"

namespace whittle::cli {

/// Which session of a file: the one with that id, or the first.
struct SessionChoice {
    std::string file{};
    std::string id{};  ///< empty: the first
};

/// Visits one session with its own message type. Reading ends behind it. Throws Error(parse_failed) if there is none,
/// Error(not_found) if none has the id.
template <typename Visit>
void visit_session(const SessionChoice& choice, const CommonOptions& common, Visit&& visit) {
    const std::optional<Shape> given = to_shape(common.shape);
    InputBuffer buffer(choice.file, common.limits);
    std::istream in(&buffer);
    std::size_t sessions = 0;
    bool is_found = false;
    read_trajectories(in, options_for(buffer.name(), common.limits), [&](Trajectory<>&& session) {
        throw_if_interrupted();
        ++sessions;
        is_found = choice.id.empty() || session.id == choice.id;
        if (is_found) visit_in_shape(std::move(session), given, buffer.name() + ": " + shown(session.id), visit);
        return !is_found;
    });
    if (sessions == 0) throw Error(Errc::parse_failed, buffer.name() + ": expected sessions, found none");
    if (!is_found) throw Error(Errc::not_found, buffer.name() + ": no session has the id \"" + choice.id + "\"");
}

}  // namespace whittle::cli
