#pragma once

#include "whittle/message/outline.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::detail {

/// The parts of each result in a message, in order (`ResultNumbers`).
[[nodiscard]] std::vector<std::vector<std::size_t>> result_parts(const MessageInfo& info);

/// Finds calls of one message after the other by their object names. A message of thousands of calls is read once, not
/// once for each of their results.
class CallParts {
public:
    explicit CallParts(const Outline& outline) noexcept : outline_(outline) {}
    /// Which part of `message` is the call of that name.
    [[nodiscard]] std::optional<std::size_t> find(std::size_t message, std::string_view key_safe_call_id);

private:
    const Outline& outline_;
    std::optional<std::size_t> message_{};  // that `by_name_` is of
    std::unordered_map<std::string_view, std::size_t> by_name_{};
};

}  // namespace whittle::inline v0::detail
