#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace whittle::inline v0::logs {

/// To how little something was cut since a moment, so that what was noted at that moment need not be looked up at each
/// cut.
class LeastSince {
public:
    struct Cut {
        std::size_t moment = 0;
        std::size_t size = 0;
    };

    void cut(std::size_t size) {
        while (!cuts_.empty() && cuts_.back().size > size) cuts_.pop_back();
        cuts_.push_back({now_++, size});
    }
    /// A moment goes by, in which nothing is cut.
    void pass() noexcept { ++now_; }
    [[nodiscard]] std::size_t now() const noexcept { return now_; }
    /// To how little it was cut since then, and when first; nullopt: it was not.
    [[nodiscard]] std::optional<Cut> least(std::size_t since) const {
        const auto least =
            std::partition_point(cuts_.begin(), cuts_.end(), [&](const Cut& cut) { return cut.moment < since; });
        return least == cuts_.end() ? std::nullopt : std::optional(*least);
    }
    /// `size`, or the least that it was cut to since then.
    [[nodiscard]] std::size_t held(std::size_t size, std::size_t since) const {
        const auto cut = least(since);
        return cut ? std::min(size, cut->size) : size;
    }

private:
    std::vector<Cut> cuts_{};  // those that no later one was below; sizes ascend with them
    std::size_t now_ = 0;
};

}  // namespace whittle::inline v0::logs
