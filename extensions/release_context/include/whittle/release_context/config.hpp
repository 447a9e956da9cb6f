#pragma once

#include "whittle/base/error.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/storage/storage.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What the model itself may take out of the request, by a tool that the chain offers.
struct ReleaseContextConfig {
    std::string tool_name = "release_context";   ///< name of the tool that the chain offers
    std::vector<std::string> protected_tools{};  ///< beside those of the chain: their results are never released
    /// Calls in which a release has to pay for what is read anew, at least. As many as were made so far, if these are
    /// more: a release that would not pay in that many waits.
    int expected_calls = 10;
    std::shared_ptr<Storage> storage{};  ///< own storage. Null: the chain's
};

/// Reports every value that is out of range, as "{name}.{field}".
void check_release_context(const ReleaseContextConfig& config, std::string_view name, Problems& problems);

/// As configurations write it; `make_release_context` makes it.
[[nodiscard]] MiddlewareType<ReleaseContextConfig> release_context_type();

}  // namespace whittle::inline v0
