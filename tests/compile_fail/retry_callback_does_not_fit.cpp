// expect: this function does not fit the callback that `Member` names
// expect: retry_callback::should_retry
#include <whittle/summarization/summarization.hpp>

#include <memory>

std::shared_ptr<whittle::Model<whittle::ChatMessage>> model();

const whittle::Summarization<> summarization{model(), {}, {.retry = {.should_retry = [](int) { return 1; }}}};
