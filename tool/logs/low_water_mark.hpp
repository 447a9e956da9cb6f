#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace whittle::inline v0::logs {

/// The low-water mark of a size since a given tick, so that places noted at that tick need no update at each cut.
class LowWaterMark {
public:
    struct Cut {
        std::size_t tick = 0;
        std::size_t size = 0;
    };

    void cut(std::size_t size) {
        while (!cuts_.empty() && cuts_.back().size > size) cuts_.pop_back();
        cuts_.push_back({now_++, size});
    }
    /// A tick without a cut.
    void pass() noexcept { ++now_; }
    [[nodiscard]] std::size_t now() const noexcept { return now_; }
    /// The smallest cut since then, and the first tick of it; nullopt: there was none.
    [[nodiscard]] std::optional<Cut> lowest(std::size_t since) const {
        const auto lowest =
            std::partition_point(cuts_.begin(), cuts_.end(), [&](const Cut& cut) { return cut.tick < since; });
        return lowest == cuts_.end() ? std::nullopt : std::optional(*lowest);
    }
    /// `size`, limited to the smallest cut since then.
    [[nodiscard]] std::size_t limited(std::size_t size, std::size_t since) const {
        const auto cut = lowest(since);
        return cut ? std::min(size, cut->size) : size;
    }

private:
    std::vector<Cut> cuts_{};  // those that no later one was below; sizes ascend with them
    std::size_t now_ = 0;
};

}  // namespace whittle::inline v0::logs
