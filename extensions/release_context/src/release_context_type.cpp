#include "whittle/chain/middleware_type.hpp"
#include "whittle/release_context/config.hpp"

namespace whittle::inline v0 {

namespace {

ConfigFields<ReleaseContextConfig> release_context_fields() {
    using C = ReleaseContextConfig;
    return {
        own_storage_field(&C::storage),
        {"tool_name", &C::tool_name, "name of the tool that the chain offers"},
        {"protected_tools", &C::protected_tools, "beside those of the chain: their results are never released"},
        {"expected_calls", &C::expected_calls, "calls in which a release has to pay for what is read anew, at least"},
    };
}

}  // namespace

MiddlewareType<ReleaseContextConfig> release_context_type() {
    return {.type = "release_context",
            .fields = release_context_fields(),
            .check = [](const ReleaseContextConfig& config, const ChainInfo&, std::string_view, Problems& problems) {
                check_release_context(config, "", problems);
            }};
}

}  // namespace whittle::inline v0
