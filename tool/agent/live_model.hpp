#pragma once

#include "configuration/config_types.hpp"
#include "options.hpp"

#include <whittle/config/config_json.hpp>
#include <whittle/model/model.hpp>
#include <whittle/openai/openai.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agent {

/// A value of this program's environment.
[[nodiscard]] std::optional<std::string> read_environment(std::string_view name);

/// What `options` say of the model. `lookup` reads environment values. The provider's usual key is taken only for the
/// provider's own address, and not if it is empty: nobody else gets it.
[[nodiscard]] whittle::ModelSettings live_model_settings(const Options& options,
                                                         const whittle::EnvironmentLookup& lookup);

/// The model that `options` name, asked again after failures that may pass. `on_retry` gets a line for the user: why it
/// is asked again, and that what was streamed so far is void. In a build without libcurl throws Error(not_offered), and
/// Error(invalid_config) for options that no model can have.
[[nodiscard]] std::shared_ptr<whittle::Model<whittle::openai::Message>> make_live_model(
    const Options& options, std::function<void(const std::string&)> on_retry);

}  // namespace agent
