#include "whittle/replay/detail/pieces.hpp"

namespace whittle::inline v0 {

PrefixElement overhead_piece(std::string_view system, std::span<const ToolSpec> tools, const TokenCounter& counter) {
    Hash128 hash = hash128(system);
    for (const ToolSpec& tool : tools) hash = hash128(to_compact_json(tool), hash);
    return {hash, count_overhead(system, tools, counter)};
}

}  // namespace whittle::inline v0
