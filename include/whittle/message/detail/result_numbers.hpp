#pragma once

#include "whittle/message/outline.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace whittle::inline v0::detail {

/// Numbers the results of a message while its parts are walked: parts with one id are one result, unless a part starts
/// a result of its own.
class ResultNumbers {
public:
    /// The number of the result that the next part belongs to; absent for a part that belongs to none.
    [[nodiscard]] std::optional<std::size_t> next(PartKind kind, std::string_view call_id, bool starts_new_result);
    [[nodiscard]] std::optional<std::size_t> next(const PartInfo& part) {
        return next(part.kind, part.call_id, part.starts_new_result);
    }

private:
    std::unordered_map<std::string, std::size_t> newest_{};
    std::size_t count_ = 0;
};

}  // namespace whittle::inline v0::detail
