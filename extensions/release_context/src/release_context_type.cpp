#include "whittle/chain/middleware_type.hpp"
#include "whittle/release_context/config.hpp"

namespace whittle::inline v0 {

namespace {

ConfigFields<ReleaseContextConfig> release_context_fields() {
    using C = ReleaseContextConfig;
    return {
        own_storage_field(&C::storage),
        {"tool_name", &C::tool_name, "name of the tool that the chain offers"},
        {"protected_tools", &C::protected_tools, "tools whose results are never released, beside those of the chain"},
        {"expected_further_calls", &C::expected_further_calls,
         "a release waits until so many further calls would save what reading anew behind it costs"},
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
