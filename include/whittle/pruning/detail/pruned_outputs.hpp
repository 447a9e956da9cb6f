#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0 {

/// The audit record of one pruned text.
struct PrunedOutput {
    Serial serial = 0;                    ///< of its message
    std::size_t part = 0;                 ///< index in the message
    std::string tool{};                   ///< whose output it was
    UnixMillis compacted_at = 0;          ///< when it was pruned
    std::string by{};                     ///< the middleware
    std::optional<std::int64_t> bytes{};  ///< of the text before; absent if the journal does not go back that far
    std::vector<std::string> stored{};    ///< keys of the objects that have the original; none: the journal has it
};

namespace detail {

/// Fills in the bytes that each output had before the commit that put `marks` there.
template <AgentMessage M>
void find_bytes_before(const Conversation<M>& conversation, const std::vector<Mark>& marks,
                       std::vector<PrunedOutput>& outputs) {
    std::unordered_map<Serial, std::vector<std::size_t>> open;
    for (std::size_t i = 0; i < outputs.size(); ++i) open[outputs[i].serial].push_back(i);
    const auto look_at = [&](const MessageInfo& info) {
        const auto found = open.find(info.serial);
        if (found == open.end()) return;
        std::erase_if(found->second, [&](std::size_t i) {
            const std::size_t part = outputs[i].part;
            if (part >= info.parts.size() || info.parts[part].mark == marks[i]) return false;
            outputs[i].bytes = info.parts[part].text_bytes;
            return true;
        });
        if (found->second.empty()) open.erase(found);
    };
    const auto& journal = conversation.journal();
    for (auto entry = journal.rbegin(); entry != journal.rend() && !open.empty(); ++entry) {
        for (const Splice<M>& splice : (*entry)->undo) {
            for (const MessageInfo& info : splice.infos) look_at(info);
        }
    }
}

}  // namespace detail

/// Every pruned text that is still in the conversation, in list order. Linear in conversation and journal.
template <AgentMessage M>
[[nodiscard]] std::vector<PrunedOutput> pruned_outputs(const Conversation<M>& conversation) {
    std::vector<PrunedOutput> outputs;
    std::vector<Mark> marks;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        const MessageInfo& info = conversation.outline()[i];
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            const Mark& mark = info.parts[p].mark;
            if (origin_of(mark) != Origin::placeholder || mark->reason != pruned_reason) continue;
            outputs.push_back({info.serial, p, info.parts[p].tool.str(), mark->when, mark->by, {}, mark->stored_keys});
            marks.push_back(mark);
        }
    }
    detail::find_bytes_before(conversation, marks, outputs);
    return outputs;
}

}  // namespace whittle::inline v0
