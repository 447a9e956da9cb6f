#pragma once

#include "entries.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::logs {

/// A sub-agent, of which the only record is in the result of the tool that ran it.
struct PiAgent {
    std::string id{};
    std::string parent{};
    std::string folder{};
    ordered_json messages = ordered_json::array();
    std::size_t line = 0;
};

/// Sub-agents that were found and are to be read.
class PiAgents {
public:
    /// Takes their messages out of the result, which `session` has. False if there is no bill in them.
    bool take_from(ordered_json& result, const Session& session, std::size_t line);
    [[nodiscard]] std::optional<PiAgent> next();

private:
    /// As long as names are no more than may be copied.
    void name(PiAgent& agent, const Session& session, std::string_view call, int number);

    std::deque<PiAgent> agents_{};
    CopyBudget names_{};
    int unnamed_ = 0;
};

}  // namespace whittle::inline v0::logs
