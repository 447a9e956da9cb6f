// expect: this function does not fit the callback that `Member` names
// expect: reduction_callback::clear_message_rewriter
#include <whittle/reduction/reduction.hpp>

const whittle::Reduction<> reduction{{}, {.clear_message_rewriter = [](int) { return 1; }}};
