#pragma once

#include "whittle/config/config_json.hpp"
#include "whittle/provider/http_model_settings.hpp"
#include "whittle/provider/http_transport.hpp"

#include <memory>

namespace whittle::cli {

/// What this program was built with, for configurations over ChatMessage, OpenAI's and Anthropic's messages. Models
/// over HTTP take their keys from `environment`, and their transport when they are made.
[[nodiscard]] ConfigTypes config_types(EnvironmentLookup environment);

/// One for the whole run. Throws Error(not_offered) where the program was built without libcurl.
[[nodiscard]] std::shared_ptr<HttpTransport> tool_transport();

/// What a configuration says of a model over HTTP; null: it is none.
[[nodiscard]] const HttpModelSettings* http_settings_of(const ModelSettings& model);

}  // namespace whittle::cli
