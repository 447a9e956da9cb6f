#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace whittle::inline v0 {

/// A replaced stretch: messages [old_first, old_first + old_count) of the earlier list are now
/// [new_first, new_first + new_count).
struct Change {
    std::size_t old_first = 0;  ///< index of the first message that went; if none went, where the new ones came
    std::size_t old_count = 0;  ///< how many went
    std::size_t new_first = 0;  ///< index of the first that came; if none came, where the old ones stood
    std::size_t new_count = 0;  ///< how many came

    friend bool operator==(const Change&, const Change&) = default;
};

/// What a host that owns its list must replace, in list order. What stands behind the last change moved by
/// `new - old` places and is otherwise as it was; messages that came later stand at the end.
using Changes = std::vector<Change>;

/// Records replacements of stretches and composes them.
class ChangeLog {
public:
    /// Makes room, so that the next `count` calls of `add` cannot throw.
    void reserve_more(std::size_t count);
    /// Messages [first, first + removed) of the list before `version` became [first, first + inserted); after all
    /// replacements of `version` the list has `size` messages. Nothing replaced: a version that appended nothing.
    void add(std::uint64_t version, std::size_t first, std::size_t removed, std::size_t inserted, std::size_t size);
    /// A log that knows nothing of what came before `version`, when there were `size` messages.
    void start_at(std::uint64_t version, std::size_t size) noexcept;
    void shrink_to(std::size_t size) noexcept { entries_.resize(size < entries_.size() ? size : entries_.size()); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    /// All replacements after `version` of messages that were there then, composed. Throws Error(invalid_argument) for
    /// a version that the log does not know.
    [[nodiscard]] Changes since(std::uint64_t version) const;
    /// The same for a list that has `old_size` messages and is to have `new_size`, with what came later as one more
    /// change at its end. Throws Error(invalid_argument), too, if the list had another size at that version.
    [[nodiscard]] Changes since(std::uint64_t version, std::size_t old_size, std::size_t new_size) const;

private:
    /// Messages at `version`; each version without an entry appended one.
    [[nodiscard]] std::size_t size_at(std::uint64_t version) const noexcept;

    struct Entry {
        std::uint64_t version = 0;
        std::size_t first = 0;
        std::size_t removed = 0;
        std::size_t inserted = 0;
        std::size_t size = 0;
    };
    std::vector<Entry> entries_{};
    std::uint64_t first_version_ = 0;
    std::size_t first_size_ = 0;
};

}  // namespace whittle::inline v0
