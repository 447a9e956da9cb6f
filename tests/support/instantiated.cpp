#include "support/instantiated.hpp"

WHITTLE_TEST_INSTANTIATE(, whittle::ChatMessage);
WHITTLE_TEST_INSTANTIATE(, whittle::openai::Message);
WHITTLE_TEST_INSTANTIATE(, whittle::anthropic::Message);
