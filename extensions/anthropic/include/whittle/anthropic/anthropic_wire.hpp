#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/anthropic/detail/anthropic_wire_checks.hpp"
#include "whittle/base/detail/function_ref.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <vector>

namespace whittle::inline v0::anthropic {

/// What in a request only its JSON shows, and the API refuses: blank text blocks, inputs that are no objects, cache
/// marks, members of another type than the format gives them, server tools without their results, compaction blocks,
/// failed results, size. Complements `validate` with the profile `anthropic_messages()`. `rest` is the body without its
/// messages ("system", "tools", ...), or null. In list order, then what concerns the request as a whole. Linear in the
/// size of the request. Calls `check_cancelled` for each message.
[[nodiscard]] inline std::vector<WireViolation> check_wire(std::span<const Message> messages,
                                                           const nlohmann::ordered_json& rest = nullptr,
                                                           const WireLimits& limits = {},
                                                           CancelCheck check_cancelled = never_cancelled) {
    detail::WireCheck check(limits, messages.size());
    check.rest(rest);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        check_cancelled();
        check.message(messages[i].json(), i);
    }
    return check.finish();
}

}  // namespace whittle::inline v0::anthropic
