#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Cuts a stream into chunks of one size. A chunk is given away from where it lies in what was written; one that fills
/// up waits for what comes behind it, so that a stream of one chunk can be stored in another way.
class ChunkFiller {
public:
    explicit ChunkFiller(std::size_t chunk_bytes) noexcept : chunk_bytes_(chunk_bytes) {}

    /// Calls `take` with each chunk that is whole and has something behind it.
    template <typename Take>
    void fill(std::string_view bytes, const Take& take) {
        while (!bytes.empty()) {
            if (is_full()) flush(take);
            if (rest_.empty() && bytes.size() > chunk_bytes_) {
                take(bytes.substr(0, chunk_bytes_));
                bytes.remove_prefix(chunk_bytes_);
                continue;
            }
            const std::size_t taken = (std::min)(chunk_bytes_ - rest_.size(), bytes.size());
            rest_ += bytes.substr(0, taken);
            bytes.remove_prefix(taken);
        }
    }

    /// Gives the rest away.
    template <typename Take>
    void flush(const Take& take) {
        take(std::string_view(rest_));
        rest_.clear();
    }

    [[nodiscard]] const std::string& rest() const noexcept { return rest_; }
    [[nodiscard]] bool is_full() const noexcept { return rest_.size() == chunk_bytes_; }

private:
    std::size_t chunk_bytes_;
    std::string rest_{};
};

}  // namespace whittle::inline v0
