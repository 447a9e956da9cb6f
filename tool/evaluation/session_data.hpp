#pragma once

#include "edits.hpp"
#include "pieces.hpp"
#include "probes.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::evaluation {

/// What a session is made into, once.
struct SessionData {
    SessionData(SessionInput given, const CommonIdentifiers* common);

    SessionInput input;
    Message system{};  ///< as the first message of each request
    PieceTable table{};
    std::vector<PieceId> pieces{};  ///< by message
    std::optional<PieceId> system_piece{};
    std::int64_t tools_tokens = 0;
    std::vector<std::int64_t> tokens_before{};  ///< by message, and at the end: of all messages in front
    std::vector<std::size_t> calls{};
    std::vector<std::size_t> turns{};
    std::vector<double> call_seconds{};
    SizeClass size = SizeClass::small;
    Probes probes{};
    std::vector<std::vector<EditProbe>> edits{};  ///< by model call

    // Where a message of a request may come from.
    std::unordered_map<PieceId, std::vector<std::size_t>> by_piece{};
    std::unordered_map<std::string_view, std::size_t> by_result{};  ///< the first message with that result
    std::unordered_map<std::string_view, std::size_t> by_call{};    ///< the first message with that call

    [[nodiscard]] const Piece& piece(std::size_t message) const { return table[pieces[message]]; }

private:
    void count();
    void name_messages();
    void time_calls();
};

}  // namespace whittle::inline v0::evaluation
