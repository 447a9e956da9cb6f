#pragma once

#include "whittle/conversation/tool.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// Holds what a tool gives until it is done, or until that is more than a limit: then all of it passes on as it came,
/// and what follows with it.
class BoundedResult final : public PartSink {
public:
    struct Item {
        Part part{};
        bool is_written = false;  // in pieces
        std::vector<StoredPart> stored{};
    };

    BoundedResult(std::size_t max_bytes, PartSink& out) : bytes_left_(max_bytes), out_(out) {}

    void write(std::string_view text) override;
    void push(Part part) override;
    void mark_stored(StoredPart stored) override;

    /// False once it has passed on.
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }
    [[nodiscard]] std::vector<Item>& items() noexcept { return items_; }
    [[nodiscard]] std::vector<Part> parts() const;
    /// What is held, to where it goes in the end.
    void pass_on();

private:
    void take(std::size_t bytes);

    std::size_t bytes_left_;
    PartSink& out_;
    std::vector<Item> items_{};
    bool is_held_ = true;
    bool continues_ = false;  // the newest item is being written
};

}  // namespace whittle::inline v0::detail
