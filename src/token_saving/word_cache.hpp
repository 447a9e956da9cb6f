#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/token_saving/detail/words.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0::detail {

/// Answers by key. Forgets the oldest beyond 4,096. Thread-safe.
template <typename Answer>
class Remembered {
public:
    [[nodiscard]] std::optional<Answer> find(const Hash128& key) const {
        const std::scoped_lock lock(mutex_);
        const auto found = answers_.find({key.low, key.high});
        return found == answers_.end() ? std::nullopt : std::optional<Answer>(found->second);
    }

    void put(const Hash128& key, Answer answer) {
        constexpr std::size_t most = 4'096;
        const std::scoped_lock lock(mutex_);
        if (!answers_.emplace(std::pair(key.low, key.high), std::move(answer)).second) return;
        order_.emplace_back(key.low, key.high);
        if (order_.size() <= most) return;
        answers_.erase(order_.front());
        order_.pop_front();
    }

private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    mutable std::mutex mutex_{};
    std::map<Key, Answer> answers_{};
    std::deque<Key> order_{};
};

/// What a classifier has answered, window by window. An answer that came from the counts of a conversation is found
/// again only with the same counts.
class WordCache {
public:
    [[nodiscard]] static Hash128 key_of(std::string_view text, double keep_ratio) noexcept;
    [[nodiscard]] static Hash128 key_of(Words words, double keep_ratio) noexcept;
    [[nodiscard]] static Hash128 with_counts(const Hash128& key, const WordCounts& counts) noexcept;

    Remembered<std::vector<bool>> flags{};
    Remembered<std::vector<double>> scores{};
    Remembered<std::monostate> whole{};  ///< texts in which nothing may be dropped
};

}  // namespace whittle::inline v0::detail
