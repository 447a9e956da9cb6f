#pragma once

#include "needle_index.hpp"
#include "pieces.hpp"

#include <cstdint>
#include <vector>

namespace whittle::inline v0::evaluation {

/// A text that a call needed and that had stood in what a tool or the user said.
struct Probe {
    ProbeKind kind = ProbeKind::action_id;
    Needle needle = 0;
    std::size_t age = 0;  ///< model calls since it last stood anywhere
};

/// A text that should be there from message `message` on.
struct Occurrence {
    std::size_t message = 0;
    Needle needle = 0;
};

/// A path that was written, with the replies that wrote it.
struct Artifact {
    Needle needle = 0;
    std::vector<std::size_t> writes{};
};

/// What the recorded future of a session asks of its requests.
struct Probes {
    NeedleIndex index{};
    std::vector<std::vector<std::uint32_t>> occurrences{};  ///< by needle: the messages that hold it, in order
    std::vector<std::vector<Probe>> of_call{};              ///< by model call
    std::vector<Artifact> artifacts{};
    std::vector<Occurrence> errors{};  ///< the message is the failed result
    std::vector<Occurrence> users{};   ///< every user message, as one needle
};

/// What `find_probes` looks at.
struct ProbeSource {
    const SessionInput& input;
    const PieceTable& table;
    const std::vector<PieceId>& pieces;  ///< by message
    const std::vector<std::size_t>& calls;
    const std::vector<std::size_t>& turns;  ///< by message
    const CommonIdentifiers* common = nullptr;
};
[[nodiscard]] Probes find_probes(const ProbeSource& source);

}  // namespace whittle::inline v0::evaluation
