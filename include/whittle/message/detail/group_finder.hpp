#pragma once

#include "whittle/message/outline.hpp"

#include <memory>
#include <string_view>

namespace whittle::inline v0 {

/// `link_to_round` for one message after the other of a list that grows at its end. Looks at the newest messages first,
/// where a call mostly stands, and makes an index of all calls only for a result whose call is not among them: so each
/// message costs what it holds, however many calls are open and whatever ids they have.
class GroupFinder {
public:
    GroupFinder();
    ~GroupFinder();
    GroupFinder(GroupFinder&&) noexcept;
    GroupFinder& operator=(GroupFinder&&) noexcept;
    /// A copy knows nothing yet.
    GroupFinder(const GroupFinder&);
    GroupFinder& operator=(const GroupFinder&);

    /// As `link_to_round`. `before` is the list of the last call with more messages behind it, unless `forget` was
    /// called since.
    void join(MessageInfo& info, const Outline& before);
    /// The list changed elsewhere than at its end.
    void forget() noexcept;

private:
    class Index;
    [[nodiscard]] const PartInfo* find_call(std::string_view id, const Outline& before, Serial& caller);

    std::unique_ptr<Index> index_;  // null until a call is looked for that is not near
};

}  // namespace whittle::inline v0
