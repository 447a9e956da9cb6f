#pragma once

#include "commands.hpp"
#include "configuration/config_types.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace whittle::cli {

/// Whether an address is on this machine by its name: localhost, 127.x.x.x or [::1]. Anything that two readers of an
/// address could read differently is not.
[[nodiscard]] bool is_loopback(std::string_view base_url) noexcept;
/// Scheme, host and port of an address, for a person: without user, path and query.
[[nodiscard]] std::string host_of(std::string_view base_url);
/// The address of an HTTP model; the provider's own where the configuration has none.
[[nodiscard]] std::string address_of(const ModelSettings& model);

/// Throws `UsageError` for a model on another machine, unless that is allowed: a session would be sent there, and it
/// may cost money.
void require_local(const ModelSettings& model, bool allow_remote);

/// Makes scripted models and, where they may be asked, those over HTTP.
template <AgentMessage M>
[[nodiscard]] ModelMaker<M> tool_models(bool allow_remote) {
    return [allow_remote](const ModelSettings& model) -> std::shared_ptr<Model<M>> {
        require_local(model, allow_remote);
        return make_model<M>(model);
    };
}

}  // namespace whittle::cli
