// expect: this function does not fit the callback that `Member` names
// expect: failover_callback::get_failover_model
#include <whittle/compaction/compaction.hpp>

#include <memory>

std::shared_ptr<whittle::Model<whittle::ChatMessage>> model();

const whittle::Compaction<> compaction{model(), {}, {.failover = {.get_failover_model = [](int) { return 1; }}}};
