#include "whittle/durable/durable_loop.hpp"

#include "whittle/base/hash.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

std::string idempotency_key(const ToolContext& context) {
    return sha256_hex(fmt::format("{}\n{}\n{}\n{}", context.conversation_id, context.round_serial,
                                  context.index_in_round, context.call_id));
}

}  // namespace whittle::inline v0
