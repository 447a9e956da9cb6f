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
    std::vector<std::string> protected_tools{};  ///< tools whose results are never released, beside those of the chain
    /// A release waits until so many further calls would save what reading anew behind it costs. As many as were made
    /// so far, if these are more.
    int expected_further_calls = 10;
    std::shared_ptr<Storage> storage{};  ///< own storage. Null: the chain's
};

/// Reports every value that is out of range, as "{name}.{field}".
void check_release_context(const ReleaseContextConfig& config, std::string_view name, Problems& problems);

/// As configurations write it; `make_release_context` makes it.
[[nodiscard]] MiddlewareType<ReleaseContextConfig> release_context_type();

}  // namespace whittle::inline v0
