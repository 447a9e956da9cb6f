#pragma once

#include "whittle/base/clock.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A message's name within its conversation: given in order of arrival from 1, never used again, kept by edits.
using Serial = std::uint64_t;

/// Where a message or a part of one comes from.
enum class Origin {
    original,     ///< from the user, the model or a tool
    summary,      ///< written in place of folded messages
    skills,       ///< skill texts carried over a fold
    placeholder,  ///< stands where a stored or dropped text stood
    nudge,        ///< an instruction of a middleware
    repair,       ///< added to make a history acceptable to a provider
    transient,    ///< for one request
};

[[nodiscard]] std::string_view name_of(Origin origin) noexcept;
/// The inverse of `name_of`; original for a word that is none.
[[nodiscard]] Origin origin_from(std::string_view name) noexcept;

/// The `Provenance::reason` of what stands in place of media.
inline constexpr std::string_view media_reason = "media";

/// The side table's record of one message or part that is not original. Immutable and shared: text in a message is
/// never searched for such marks (L11).
struct Provenance {
    Origin origin = Origin::original;
    std::string by{};      ///< the middleware's name
    std::string reason{};  ///< why, a stable word such as "clear"
    Timestamp when = 0;
    std::vector<std::string> stored{};         ///< keys of the objects that hold what was taken out
    std::vector<Serial> covers{};              ///< messages that a summary stands for
    std::vector<std::string> user_messages{};  ///< user messages that a summary carries word for word
    /// For each of `user_messages`, how often it stood beside tool results: 0 (a message of its own), 1, or 2 for more.
    /// Empty: none did.
    std::vector<int> beside_results{};
    std::vector<std::string> skills{};  ///< skills that a message carries
    std::string facts{};  ///< what a summary must not lose, as `to_note` of the digest writes it; empty: not looked for

    friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// Null means original.
using Mark = std::shared_ptr<const Provenance>;

[[nodiscard]] inline Origin origin_of(const Mark& mark) noexcept { return mark ? mark->origin : Origin::original; }

}  // namespace whittle::inline v0
