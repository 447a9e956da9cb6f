#pragma once

#include "input.hpp"
#include "logs/logs.hpp"
#include "shape.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace whittle::cli {

/// What kind of log the file `path` is, before anything of it was read; databases of opencode and OpenClaw are such.
/// Looks at up to 64 MiB of a file whose first record is not over before, and where the messages of a task of Cline
/// tell nothing, at the file behind them.
[[nodiscard]] logs::Recognition recognise_log(const std::string& path, InputBuffer& buffer);

/// Agents whose versions are newer than their reader: one line for all files of a scan.
class NewerVersions {
public:
    void add(logs::Format format, const logs::LogNotes& notes);
    /// Empty: there are none.
    [[nodiscard]] std::string text() const;

private:
    /// "2.1.99" comes before "2.1.100".
    struct ByNumbers {
        bool operator()(std::string_view a, std::string_view b) const noexcept;
    };
    struct OfAgent {
        std::set<std::string, ByNumbers> versions{};
        std::int64_t files = 0;
    };

    std::map<std::string_view, OfAgent> agents_{};
};

/// Reads a log that an agent left; `buffer` is of the file `path`. Throws what the readers throw, and
/// Error(invalid_argument) for a database that is no file. `bills_only`: as `logs::LogOptions` has it.
logs::LogNotes read_log_at(const std::string& path, InputBuffer& buffer, logs::Format format,
                           const TrajectoryOptions& options, bool bills_only, FunctionRef<void(logs::Session&&)> visit);

/// The same, and says on standard error what is to be said about it: kinds of records that are not known, damaged
/// lines, versions that are newer than the reader. Returns the number of sessions.
std::size_t read_agent_log(const std::string& path, InputBuffer& buffer, logs::Format format,
                           const TrajectoryOptions& options, FunctionRef<void(logs::Session&&)> visit);

/// The first model that the log names, as `meta.model` of the recording, where it has none: prices go by it where no
/// call has a bill.
void note_model(logs::Session& session);

/// Whose messages its sessions hold; the format knows it better than `given`.
[[nodiscard]] std::optional<Shape> shape_of(logs::Format format, std::optional<Shape> given);

/// "3 reasoning, 1 label": the most frequent first, at most twelve, as for a terminal.
[[nodiscard]] std::string list_of_kinds(const std::map<std::string, std::int64_t>& counts);

/// What `read_agent_log` says, in one line without the file's name; empty if there is nothing to say.
[[nodiscard]] std::string text_of_notes(const logs::LogNotes& notes);

}  // namespace whittle::cli
