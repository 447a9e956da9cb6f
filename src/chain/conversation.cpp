#include "whittle/chain/conversation.hpp"

namespace whittle::inline v0 {

namespace detail {

Mark mark_of_stored(const StoredPart& stored) {
    Provenance provenance{.origin = Origin::placeholder, .by = stored.by, .reason = "truncate"};
    provenance.stored.push_back(stored.key);
    return std::make_shared<const Provenance>(std::move(provenance));
}

Mark mark_of_result_media() {
    static const Mark mark = std::make_shared<const Provenance>(
        Provenance{.origin = Origin::repair, .by = "conversation", .reason = "media of a tool result"});
    return mark;
}

void throw_is_original(Serial serial) {
    throw Error(Errc::not_found, "restore message " + std::to_string(serial) + ": it is the original");
}

void mark_stored_parts(MessageInfo& info, std::span<const ToolReturn> returns, std::vector<std::size_t>& seen,
                       std::vector<StoredText>& texts) {
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        for (std::size_t r = 0; r < returns.size(); ++r) {
            if (info.parts[p].call_id != returns[r].result.call_id) continue;
            const std::size_t at = seen[r]++;
            for (const StoredPart& stored : returns[r].stored) {
                if (stored.part != at) continue;
                info.parts[p].mark = mark_of_stored(stored);
                texts.push_back({.part = p, .key = stored.key, .storage = stored.storage});
            }
            break;
        }
    }
}

}  // namespace detail

}  // namespace whittle::inline v0
