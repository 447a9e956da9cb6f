#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/detail/shared_string.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/conversation/detail/conversation_caches.hpp"
#include "whittle/message/outline.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// The calls of a conversation by tool and arguments, as they were when they were first seen: each message is read
/// once. Its owner holds `mutex` while it uses it.
class EarlierCalls {
public:
    struct Call {
        Serial message = 0;
        SharedString key_safe_call_id{};
    };

    struct HashOfPrint {
        std::size_t operator()(const Hash128& print) const noexcept { return static_cast<std::size_t>(print.low); }
    };

    [[nodiscard]] static std::shared_ptr<EarlierCalls> of(ConversationCaches& caches);
    [[nodiscard]] static Hash128 print_of(std::string_view tool, std::string_view arguments) noexcept {
        return hash128(arguments, hash128(tool));
    }

    /// Whether a message came, or was taken in, after all that were seen: serials rise.
    [[nodiscard]] bool is_new(Serial message) const noexcept { return message > newest_; }
    /// All messages up to `newest` are seen.
    void note_seen(Serial newest) noexcept { newest_ = (std::max)(newest_, newest); }
    /// Begins anew where a commit that was there is undone: messages may have come back with their old serials.
    /// `is_there`: whether the journal has a commit of that id.
    void follow(std::uint64_t newest_commit, FunctionRef<bool(std::uint64_t)> is_there);
    void add(const Hash128& print, Call call) { calls_[print].push_back(std::move(call)); }

    /// The newest calls of this kind outside of the message `round`, at most `most_looked_at`, newest first: the newest
    /// result counts, and behind a fold none of many calls has one.
    [[nodiscard]] std::vector<Call> newest(const Hash128& print, Serial round) const;

    std::mutex mutex{};

private:
    static constexpr std::size_t most_looked_at = 8;

    std::unordered_map<Hash128, std::vector<Call>, HashOfPrint> calls_{};
    Serial newest_ = 0;
    std::uint64_t newest_commit_ = 0;
};

}  // namespace whittle::inline v0::detail
