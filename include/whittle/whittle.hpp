#pragma once

/// What an agent needs: all of whittle but replay, evaluation, the adapters and the backends.

#include "whittle/base/version.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/compaction/fetch_media.hpp"
#include "whittle/compaction/pruning.hpp"
#include "whittle/conversation/read_offloaded.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/port/model.hpp"
#include "whittle/port/scripted_model.hpp"
#include "whittle/port/storage.hpp"
#include "whittle/preset/presets.hpp"
#include "whittle/reduction/condensing.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/reduction/trimming.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"
#include "whittle/tokens/counter.hpp"
#include "whittle/tokens/vocabulary.hpp"
