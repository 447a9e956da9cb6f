#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/base/language.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// The role of the message that holds a summary.
enum class SummaryRole {
    automatic,  ///< what every validity profile takes: user
    user,
    system,
};

[[nodiscard]] constexpr Role role_of(SummaryRole role) noexcept {
    return role == SummaryRole::system ? Role::system : Role::user;
}

/// The folded indices as stretches [first, last), oldest first.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> stretches_of(std::span<const std::size_t> folded);

/// For each message, where its tool round starts; its own place if it is in none.
[[nodiscard]] std::vector<std::size_t> round_starts(const Outline& outline);

/// Whether user and assistant have to speak in turns, so that two summaries cannot stand in a row.
[[nodiscard]] bool wants_turns(const ValidityProfile& rules) noexcept;

/// Which of the stretches of `folded`, of which there is one at least, makes way for the summary: the newest, so that
/// the model reads it after what stayed; the oldest where the assistant would speak first otherwise and `rules` forbid
/// that.
[[nodiscard]] std::size_t stretch_for_summary(const Outline& outline, std::span<const std::size_t> folded,
                                              const ValidityProfile& rules);

/// Of the messages [first, last), the newest of those with the highest turn number.
[[nodiscard]] std::size_t place_of_summary(const Outline& outline, std::size_t first, std::size_t last) noexcept;

/// Where a summary in place of [first, last) would have a neighbour that a server takes for a second speech of the
/// user.
struct FoldNeighbours {
    bool before = false;
    bool behind = false;
};
[[nodiscard]] FoldNeighbours neighbours_of(const Outline& outline, std::size_t first, std::size_t last,
                                           std::span<const std::size_t> folded, const ValidityProfile& rules);

/// A summary, or what a fold put beside it: skills, files, the order to go on. Folded alone it gives nothing new.
[[nodiscard]] bool comes_from_fold(const MessageInfo& info) noexcept;

/// Of which messages these are, and what they say; `start`: what else it is to depend on.
[[nodiscard]] Hash128 fingerprint_of_range(const Outline& outline, std::span<const std::size_t> messages,
                                           Hash128 start = {});

/// The serials that a summary of these messages stands for: theirs, and those that folded summaries stood for.
/// Ascending.
[[nodiscard]] std::vector<Serial> covered_serials(const Outline& outline, std::span<const std::size_t> folded);

/// Keys of objects that hold what was taken out of these messages earlier. Ascending.
[[nodiscard]] std::vector<std::string> stored_references(const Outline& outline, std::span<const std::size_t> folded);

}  // namespace whittle::inline v0
