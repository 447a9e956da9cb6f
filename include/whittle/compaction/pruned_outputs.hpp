#pragma once

#include "whittle/chain/conversation.hpp"
#include "whittle/compaction/pruning_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// The audit record of one pruned text.
struct PrunedOutput {
    Serial serial = 0;  ///< of its message
    std::size_t part = 0;
    std::string tool{};
    Timestamp compacted_at = 0;
    std::string by{};                     ///< the middleware
    std::optional<std::int64_t> bytes{};  ///< of the text before; absent if the journal does not go back that far
    std::vector<std::string> stored{};    ///< keys of the objects that have the original; none: the journal has it
};

namespace detail {

/// Bytes that the part had before the commit that put `mark` there.
template <AgentMessage M>
[[nodiscard]] std::optional<std::int64_t> bytes_before(const Conversation<M>& conversation, Serial serial,
                                                       std::size_t part, const Mark& mark) {
    const auto& journal = conversation.journal();
    for (auto entry = journal.rbegin(); entry != journal.rend(); ++entry) {
        for (const Splice<M>& splice : (*entry)->undo) {
            for (const MessageInfo& info : splice.infos) {
                if (info.serial != serial || part >= info.parts.size()) continue;
                if (info.parts[part].mark != mark) return info.parts[part].bytes;
            }
        }
    }
    return std::nullopt;
}

}  // namespace detail

/// Every pruned text that is still in the conversation, in list order. O(pruned texts x journal).
template <AgentMessage M>
[[nodiscard]] std::vector<PrunedOutput> pruned_outputs(const Conversation<M>& conversation) {
    std::vector<PrunedOutput> outputs;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        const MessageInfo& info = conversation.outline()[i];
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            const Mark& mark = info.parts[p].mark;
            if (origin_of(mark) != Origin::placeholder || mark->reason != pruned_reason) continue;
            outputs.push_back({info.serial, p, info.parts[p].tool, mark->when, mark->by,
                               detail::bytes_before(conversation, info.serial, p, mark), mark->stored});
        }
    }
    return outputs;
}

}  // namespace whittle::inline v0
