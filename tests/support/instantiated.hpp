// The chain, the loop and the modules over the three message types that come with whittle, compiled once for all
// tests: their templates are most of what a test costs to compile. tests/CMakeLists.txt precompiles this header.
#pragma once

#include "support/catch.hpp"

#include "whittle/adapter/anthropic.hpp"
#include "whittle/adapter/openai.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/whittle.hpp"

/// `extern` in front declares the instantiations, nothing in front defines them (instantiated.cpp).
#define WHITTLE_TEST_INSTANTIATE(prefix, M)          \
    prefix template class whittle::Conversation<M>;  \
    prefix template class whittle::Transaction<M>;   \
    prefix template class whittle::Chain<M>;         \
    prefix template class whittle::AgentLoop<M>;     \
    prefix template class whittle::Reduction<M>;     \
    prefix template class whittle::Summarization<M>; \
    prefix template class whittle::Pruning<M>;       \
    prefix template class whittle::Compaction<M>;    \
    prefix template class whittle::TokenSaving<M>

WHITTLE_TEST_INSTANTIATE(extern, whittle::ChatMessage);
WHITTLE_TEST_INSTANTIATE(extern, whittle::openai::Message);
WHITTLE_TEST_INSTANTIATE(extern, whittle::anthropic::Message);
