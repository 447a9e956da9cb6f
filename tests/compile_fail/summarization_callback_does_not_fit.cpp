// expect: this function does not fit the callback that `Member` names
// expect: summarization_callback::finalize
#include <whittle/summarization/summarization.hpp>

#include <memory>

std::shared_ptr<whittle::Model<whittle::ChatMessage>> model();

const whittle::Summarization<> summarization{model(), {}, {.finalize = [](int) { return 1; }}};
