#pragma once

#include "options.hpp"

#include <whittle/adapter/openai.hpp>
#include <whittle/port/model.hpp>

#include <functional>
#include <memory>
#include <string>

namespace agent {

/// The model that `options` name, asked again after failures that may pass. `on_retry` gets a line for the user, and
/// `on_restart` is called when what was streamed is void. Throws whittle::Error(not_offered) in a build without
/// libcurl, and Error(invalid_config) for options that no model can have. Reads the key from the environment.
[[nodiscard]] std::shared_ptr<whittle::Model<whittle::openai::Message>> make_live_model(
    const Options& options, std::function<void(const std::string&)> on_retry);

}  // namespace agent
