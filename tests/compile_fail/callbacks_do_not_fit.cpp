// expect: this function does not fit the callback that `Member` names
// expect: chain_callback::on_report
// expect: loop_callback::on_tool_end
// expect: reduction_callback::clear_message_rewriter
// expect: tool_reduction_callback::clear_handler
// expect: summarization_callback::finalize
// expect: retry_callback::should_retry
// expect: failover_callback::get_failover_model
#include <whittle/compaction/compaction.hpp>
#include <whittle/loop/agent_loop.hpp>
#include <whittle/reduction/reduction.hpp>
#include <whittle/summarization/summarization.hpp>

#include <memory>

using namespace whittle;

std::shared_ptr<Model<ChatMessage>> model();

const Chain<> chain{{}, {.on_report = [](int) {}}, Reduction<>{}};
const AgentLoop<> loop{model(), {}, Chain<>{ChainConfig{}}, {}, {.on_tool_end = [](int) {}}};
const Reduction<> rewritten{{}, {.clear_message_rewriter = [](int) { return 1; }}};
const Reduction<> handled{{}, {.tool_config = {{"bash", {.clear_handler = [](int) { return 1; }}}}}};
const Summarization<> finalized{model(), {}, {.finalize = [](int) { return 1; }}};
const Summarization<> retried{model(), {}, {.retry = {.should_retry = [](int) { return 1; }}}};
const Compaction<> failed_over{model(), {}, {.failover = {.get_failover_model = [](int) { return 1; }}}};
