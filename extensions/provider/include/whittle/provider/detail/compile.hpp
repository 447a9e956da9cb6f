#pragma once

#include "whittle/compaction/compaction.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/release_context/release_context.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"
#include "whittle/trimming/trimming.hpp"

/// Compiles what base/detail/compiled_types.hpp declares over one message type.
#define WHITTLE_COMPILE_FOR(M)        \
    template class Conversation<M>;   \
    template class Transaction<M>;    \
    template class Chain<M>;          \
    template class AgentLoop<M>;      \
    template class Reduction<M>;      \
    template class Trimming<M>;       \
    template class Summarization<M>;  \
    template class Pruning<M>;        \
    template class ReleaseContext<M>; \
    template class Compaction<M>;     \
    template class TokenSaving<M>;
