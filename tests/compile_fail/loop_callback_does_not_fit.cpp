// expect: this function does not fit the callback that `Member` names
// expect: loop_callback::on_tool_end
#include <whittle/loop/agent_loop.hpp>

#include <memory>

std::shared_ptr<whittle::Model<whittle::ChatMessage>> model();

const whittle::AgentLoop<> loop{model(), {}, whittle::Chain<>{whittle::ChainConfig{}}, {}, {.on_tool_end = [](int) {}}};
