#pragma once

#include "whittle/conversation/detail/conversation_caches.hpp"
#include "whittle/message/outline.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace whittle::inline v0::detail {

/// A result that a call of the tool meant.
struct MeantResult {
    std::string tool{};
    std::string arguments{};
    std::int64_t bytes = 0;
    std::string_view rule{};  ///< that keeps it; empty: it is released
};

/// What a call of the tool came to.
struct ReleaseAnswer {
    std::vector<MeantResult> released{};
    std::vector<MeantResult> kept{};
    std::vector<std::string> unclear{};  ///< asked for, but no result is meant by it
    std::string why{};
    std::unordered_set<std::string> names{};  ///< of the calls whose results are released
};

/// What the calls of the tool in one conversation came to. It follows from the messages. The hooks of the conversation
/// use it one at a time; `find` may be called by tools at any time.
class ReleaseNotes {
public:
    [[nodiscard]] static std::shared_ptr<ReleaseNotes> of(ConversationCaches& caches, std::string_view middleware);

    /// Messages in front of this index were looked at.
    [[nodiscard]] std::size_t looked_at(const Outline& outline) const;
    void look_on(const Outline& outline);

    /// `call`: the name of its object.
    void add(std::string call, ReleaseAnswer answer);
    [[nodiscard]] std::optional<ReleaseAnswer> find(const std::string& call) const;
    /// The names of all calls whose results are released.
    [[nodiscard]] const std::unordered_set<std::string>& released() const noexcept { return released_; }

    /// That nothing of it is left to take out, until something is released or edited. `edits`:
    /// `HookTurn::edit_version`.
    void settle(std::uint64_t edits) noexcept { settled_ = Settled{edits, released_.size()}; }
    [[nodiscard]] bool is_settled(std::uint64_t edits) const noexcept {
        return released_.empty() || settled_ == Settled{edits, released_.size()};
    }

private:
    struct Settled {
        std::uint64_t edits = 0;
        std::size_t released = 0;

        friend bool operator==(const Settled&, const Settled&) = default;
    };

    mutable std::mutex mutex_{};
    std::map<std::string, ReleaseAnswer> by_call_{};
    std::unordered_set<std::string> released_{};
    Serial newest_ = 0;  // that was looked at
    std::optional<Settled> settled_{};
};

}  // namespace whittle::inline v0::detail
