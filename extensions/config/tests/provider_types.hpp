#pragma once

#include "whittle/anthropic/anthropic_model_type.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/convert/converted_model.hpp"
#include "whittle/openai/openai_model_type.hpp"

namespace whittle::testing {

/// Models of both providers.
inline ConfigTypes provider_types(const HttpModelSource& source = {}) {
    ConfigTypes types;
    types.register_model<ChatMessage, openai::Message, anthropic::Message>(openai_model_type(),
                                                                           openai_model_maker(source));
    types.register_model<ChatMessage, openai::Message, anthropic::Message>(anthropic_model_type(),
                                                                           anthropic_model_maker(source));
    return types;
}

}  // namespace whittle::testing
