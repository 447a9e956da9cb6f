#pragma once

#include "whittle/conversation/detail/message_port.hpp"
#include "whittle/conversation/detail/repair_options.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

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
    SharedString call_id{};
    SharedString tool{};
};

/// A message of the mended list: one of the old list, or a new one.
struct RepairedMessage {
    enum class Kind { kept, result, spoken };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    Kind kind = Kind::kept;
    Role role = Role::tool;           ///< who speaks
    std::size_t source = none;        ///< kept: the message; spoken: whose text it takes, if anybody's
    bool is_moved = false;            ///< kept: it stands elsewhere
    std::string_view code{};          ///< of what was done; empty: nothing
    std::vector<PartRepair> parts{};  ///< kept: in the order in which they are made
    SharedString call_id{};           ///< result
    SharedString tool{};              ///< result
    bool is_error = false;            ///< result
    std::string text{};               ///< result without `from`, spoken without `source`
    std::vector<std::pair<std::size_t, std::size_t>> from{};  ///< result: the parts it takes over (message, part)

    [[nodiscard]] bool is_untouched() const noexcept { return kind == Kind::kept && !is_moved && parts.empty(); }
};

struct RepairPlan {
    std::vector<RepairedMessage> messages{};  ///< the whole mended list
    std::vector<Repair> repairs{};            ///< empty: nothing to do, and `messages` is empty too
};

/// What to do about a history with these violations of `profile`: without any nothing, unless a request comes next and
/// calls of the newest reply have results, but not all of them. Linear, but for the search of free ids.
[[nodiscard]] RepairPlan plan_repair(const Outline& outline, const std::vector<Violation>& violations,
                                     const ValidityProfile& profile, const RepairOptions& options,
                                     MessagePort::Abilities abilities);

/// What repair writes into a history: constant, so that a second run finds the same.
struct RepairTexts {
    std::string_view missing_result;
    std::string_view bad_arguments;
    std::string_view missing_user;
    std::string_view go_on;
    std::string_view media;
};

[[nodiscard]] const RepairTexts& repair_texts(Language language) noexcept;

}  // namespace whittle::inline v0::detail
