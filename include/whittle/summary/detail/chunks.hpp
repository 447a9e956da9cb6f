#pragma once

#include "whittle/message/outline.hpp"
#include "whittle/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A stretch of the text that a message became for the summarizer.
struct ChunkPiece {
    Serial serial = 0;       ///< of the message
    std::size_t entry = 0;   ///< which text of the message, from 0: one for each part that is shown
    std::int64_t begin = 0;  ///< bytes of that text
    std::int64_t end = 0;    ///< one behind the last byte
    bool is_last = true;     ///< nothing of the message comes after it

    friend bool operator==(const ChunkPiece&, const ChunkPiece&) = default;
};

/// One request that was made and accepted: what it held. Every text of every folded message is in exactly one chunk.
struct ChunkRecord {
    std::vector<ChunkPiece> pieces{};  ///< in order
    std::int64_t request_tokens = 0;   ///< the whole request, by the generation's counter
    std::int64_t limit_tokens = 0;     ///< what it had to fit
    bool is_whole_fold = false;        ///< a user's own input: it stands for all messages, `pieces` is empty
};

/// How far the generation of a summary has come. The caller keeps it between attempts at the same fold: one that finds
/// its messages unchanged up to `next` goes on there, also if the fold has grown at its end; else it starts anew.
struct SummaryGenerationState {
    std::string summary_so_far{};         ///< of everything before `next`; empty: nothing is done
    std::size_t next_message = 0;         ///< position in the fold
    std::size_t next_entry = 0;           ///< text of that message
    std::int64_t next_byte = 0;           ///< of that text
    Hash128 done{};                       ///< fingerprint of the messages up to `next`
    std::int64_t learnt_input_limit = 0;  ///< tokens that an overflow taught; 0: none

    /// Whether nothing is done yet.
    [[nodiscard]] bool empty() const noexcept { return next_message == 0 && next_entry == 0 && next_byte == 0; }

    friend bool operator==(const SummaryGenerationState&, const SummaryGenerationState&) = default;
};

/// One line of text, for `Notes`.
[[nodiscard]] std::string to_text(const SummaryGenerationState& state);
/// The inverse. What cannot be read gives an empty state: generation then starts again.
[[nodiscard]] SummaryGenerationState summary_generation_state_from(std::string_view text);

}  // namespace whittle::inline v0
