#pragma once

#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// How much of a text stays in memory, and when it starts to go to the store.
struct HeldTextLimits {
    std::size_t keep = 0;   ///< bytes at the front
    std::size_t tail = 0;   ///< bytes at the end
    std::size_t spill = 0;  ///< a longer text goes to the store as it comes; at most `keep`
    std::size_t hold = 0;   ///< bytes kept at the front, if more, where the store cannot stream
};

/// A text that arrives in pieces: its front and its end in memory, all of it in the store once it is long. What the
/// store does is remembered, never thrown.
class HeldText {
public:
    HeldText(const HeldTextLimits& limits, std::shared_ptr<Storage> storage);

    void append(std::string_view chunk);

    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] std::int64_t lines() const noexcept { return line_feeds_ + (ends_in_line_ ? 1 : 0); }
    /// Whether all of it is in `front()`.
    [[nodiscard]] bool is_whole() const noexcept { return size_ == static_cast<std::int64_t>(front_.size()); }
    [[nodiscard]] const std::string& front() const noexcept { return front_; }
    /// The last bytes, as many as were asked to be kept or more.
    [[nodiscard]] std::string end() const;

    /// Stores the whole under `key`, or under `key-2`, ... if that holds something else. Nullopt, with `failure()`, if
    /// it could not be stored.
    [[nodiscard]] std::optional<std::string> store(const std::string& key);
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    void spill(std::string_view chunk);
    void keep_end(std::string_view chunk);
    void fail(std::string_view why);

    HeldTextLimits limits_;
    std::shared_ptr<Storage> storage_;
    std::unique_ptr<StorageWriter> writer_{};
    bool cannot_stream_ = false;
    std::string failure_{};
    std::string key_{};  // once stored
    std::string front_{};
    std::string recent_{};  // behind `front_`: the end, and at most twice as much as is asked for
    std::int64_t size_ = 0;
    std::int64_t line_feeds_ = 0;
    bool ends_in_line_ = false;
};

}  // namespace whittle::inline v0::detail
