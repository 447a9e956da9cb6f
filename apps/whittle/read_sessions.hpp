#pragma once

#include "agent_log.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "shape.hpp"
#include "shown.hpp"
#include "terminal.hpp"
#include "unknown_file.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::cli {

/// How sessions of the input `name` are read.
[[nodiscard]] TrajectoryOptions options_for(const std::string& name, const InputLimits& limits);

/// Reads the sessions of a file, or of standard input for "-"; logs of agents, which are recognised by what they hold,
/// too. Calls `take(Trajectory<>&&, std::optional<Shape>, std::string_view where,
/// const InputBuffer&)` until it returns false. Returns what errors call the input. Throws Error(parse_failed) if there
/// is no session.
template <typename Take>
std::string read_sessions(const std::string& path, const CommonOptions& common, Take&& take) {
    const std::optional<Shape> given = to_shape(common.shape);
    InputBuffer buffer(path, common.limits);
    const TrajectoryOptions options = options_for(buffer.name(), common.limits);
    bool goes_on = true;
    const auto visit = [&](Trajectory<>&& session, std::optional<Shape> shape) {
        throw_if_interrupted();
        const std::string where = buffer.name() + ": " + shown(session.id);
        goes_on = goes_on && take(std::move(session), shape, where, buffer);
        return goes_on;
    };
    std::size_t count = 0;
    std::size_t bills_alone = 0;  // sessions without messages
    const logs::Recognition recognised = recognise_log(path, buffer);
    if (recognised.format) {
        count = read_agent_log(path, buffer, *recognised.format, options, [&](logs::Session&& session) {
            if (session.recording.messages.empty()) {
                ++bills_alone;
                return;
            }
            note_model(session);
            visit(std::move(session.recording), shape_of(*recognised.format, given));
        });
    } else {
        const UnknownFile unknown(recognised, buffer.start());
        std::istream in(&buffer);
        try {
            (void)read_trajectories(in, options, [&](Trajectory<>&& session) {
                ++count;
                return visit(std::move(session), given);
            });
        } catch (const Error& error) {
            if (count > 0) throw;
            throw unknown.explained(buffer.name(), error);
        }
    }
    if (count == bills_alone)
        throw Error(Errc::parse_failed,
                    buffer.name() +
                        (count == 0 ? ": expected sessions, found none"
                                    : ": no session has messages: they were taken back or not recorded, and a bill is "
                                      "all that is left"));
    return buffer.name();
}

/// Visits them all, each with its own message type, and shows how much of the file is read.
template <typename Visit>
void for_each_session(const std::string& path, const CommonOptions& common, Progress& progress, Visit&& visit) {
    std::size_t sessions = 0;
    progress.begin();
    read_sessions(
        path, common,
        [&](Trajectory<>&& session, std::optional<Shape> shape, std::string_view where, const InputBuffer& in) {
            visit_in_shape(std::move(session), shape, where, visit);
            progress.show(fmt::format("{}: {} sessions, ", in.name(), ++sessions),
                          Share::of_bytes(in.bytes_read(), in.file_bytes()));
            return true;
        });
}

}  // namespace whittle::cli
