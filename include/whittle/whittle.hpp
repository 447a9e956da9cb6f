#pragma once

/// The core of whittle; extensions have headers of their own.

#include "whittle/base/version.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/conversation/read_offloaded.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/model/failover_model.hpp"
#include "whittle/model/model.hpp"
#include "whittle/model/retry_model.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/preset/presets.hpp"
#include "whittle/pruning/fetch_media.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/storage/storage.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"
#include "whittle/tokens/counter.hpp"
#include "whittle/trimming/trimming.hpp"
