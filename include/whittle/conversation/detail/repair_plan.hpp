#pragma once

#include "whittle/base/language.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// How a broken history is mended.
struct RepairOptions {
    Language language = default_language();  ///< of texts that repair writes
    /// A model call comes next: calls of a round that is answered in part get a result that says that it is missing,
    /// and where the profile wants the user to have the last word and the assistant has it, a user message "Continue."
    /// is added.
    bool for_request = false;
};

namespace detail {

/// What a message type can express.
struct RepairAbilities {
    bool makes_results = false;  ///< it has `make_tool_results`
    bool renames_calls = false;  ///< it has `rename_call`
};

/// An edit of one part of a message that stays.
struct PartRepair {
    enum class Kind {
        rename,           ///< to `call_id`, and `tool` unless that is empty
        valid_utf8,       ///< every wrong byte becomes U+FFFD
        empty_arguments,  ///< `{}`
        media_text,       ///< a sentence instead of media
        erase,
    };
    Kind kind = Kind::erase;
    std::size_t part = 0;  ///< its number before any repair
    std::string_view code{};
    std::string call_id{};
    std::string tool{};
};

/// A message of the mended list: one of the old list, or a new one.
struct RepairedMessage {
    enum class Kind { kept, result, user, assistant };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    Kind kind = Kind::kept;
    std::size_t source = none;        ///< kept: the message; user: whose text it takes, if anybody's
    bool is_moved = false;            ///< kept: it stands elsewhere
    std::string_view code{};          ///< of what was done; empty: nothing
    std::vector<PartRepair> parts{};  ///< kept: in the order in which they are made
    std::string call_id{};            ///< result
    std::string tool{};               ///< result
    bool is_error = false;            ///< result
    std::string text{};               ///< result without `from`, user without `source`, assistant
    std::vector<std::pair<std::size_t, std::size_t>> from{};  ///< result: the parts it takes over (message, part)

    [[nodiscard]] bool is_untouched() const noexcept {
        return kind == Kind::kept && !is_moved && parts.empty() && code.empty();
    }
};

struct RepairPlan {
    std::vector<RepairedMessage> messages{};  ///< the whole mended list
    std::vector<Repair> repairs{};            ///< empty: nothing to do, and `messages` is empty too
};

/// A word of the assistant between what the user's side says twice in a row, where the server wants turns
/// (`Rule::OC6_user_turns`), and the `Provenance::reason` of its mark.
[[nodiscard]] std::string_view bridge_text(Language language) noexcept;
inline constexpr std::string_view bridge_reason = "turns";

/// Whether calls of the newest reply have results, but not all of them.
[[nodiscard]] bool is_half_answered(const Outline& outline);

/// What to do about a history that breaks rules of `profile`. A history that breaks none gives an empty
/// plan, unless a request comes next and its newest round is half answered. Linear,
/// but for the search of free ids.
[[nodiscard]] RepairPlan plan_repair(const Outline& outline, const ValidityProfile& profile,
                                     const RepairOptions& options, RepairAbilities abilities);

[[nodiscard]] std::string_view media_text(Language language) noexcept;
/// By whom: in marks, journal and reports.
inline constexpr std::string_view repair_name = "repair";

}  // namespace detail

}  // namespace whittle::inline v0
