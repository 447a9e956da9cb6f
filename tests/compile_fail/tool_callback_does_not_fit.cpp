// expect: this function does not fit the callback that `Member` names
// expect: tool_reduction_callback::clear_handler
#include <whittle/reduction/reduction.hpp>

const whittle::Reduction<> reduction{{}, {.tool_config = {{"bash", {.clear_handler = [](int) { return 1; }}}}}};
