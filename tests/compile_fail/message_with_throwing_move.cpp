// expect: is_nothrow_move_constructible
#include <whittle/message/traits.hpp>

struct Heavy {
    Heavy() = default;
    Heavy(const Heavy&) {}  // hides the move constructor, and may throw
    Heavy& operator=(const Heavy&) = default;
};

static_assert(whittle::AgentMessage<Heavy>);
