#pragma once

#include "overlay.hpp"
#include "repair_plan.hpp"

#include "whittle/base/clock.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// Carries a repair plan out on copies of a conversation's messages. Holds references to what it is made of.
class RepairedList {
public:
    RepairedList(const SideTable& side, MessagePort& port, const ValidityProfile& profile, Language language,
                 UnixMillis when);

    /// The whole list, each message in its tool round. To be called once.
    [[nodiscard]] std::vector<Overlay::Slot> make(std::span<const RepairedMessage> plan);
    /// That of the first message that comes after the new ones.
    [[nodiscard]] Serial next_serial() const noexcept { return next_serial_; }

private:
    /// A message while its parts are edited.
    struct Edited {
        MessageCopy::Owned copy{};
        std::vector<std::size_t> numbers{};  ///< of its parts, by which repairs name them

        /// Absent where an edit took the part away.
        [[nodiscard]] std::optional<std::size_t> place_of(const PartRepair& repair) const;
    };

    [[nodiscard]] MessageCopy::Owned edit(const RepairedMessage& m) const;
    void rename(Edited& edited, std::span<const PartRepair> repairs) const;
    void erase(Edited& edited, std::span<const PartRepair> repairs) const;
    void set_text(Edited& edited, const PartRepair& repair) const;
    [[nodiscard]] std::vector<AnyMessage> write(const RepairedMessage& m);
    [[nodiscard]] ToolResult result_of(const RepairedMessage& m);
    [[nodiscard]] const std::vector<Part>& parts_from(std::size_t source);
    [[nodiscard]] MessageCopy::Owned copy_of_new(const RepairedMessage& m, AnyMessage message,
                                                 const MessageInfo* before);
    [[nodiscard]] Mark mark(Origin origin, std::string_view code, const Mark& old) const;

    const SideTable& side_;
    MessagePort& port_;
    bool text_only_;  // of results
    std::string_view media_text_;
    UnixMillis when_;
    Serial next_serial_;
    std::size_t source_ = RepairedMessage::none;  // whose parts these are
    std::vector<Part> parts_{};
};

}  // namespace whittle::inline v0::detail
