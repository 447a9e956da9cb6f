#include "ai/tools.h"
#include "ai/types/generate_options.h"
#ifndef RUNTIME_ALONE
#    include <whittle/hosts/ai_sdk_cpp.hpp>
#    include <whittle/whittle.hpp>

using namespace whittle;

ai::GenerateResult hooked(const ai::GenerateOptions& options,
                          ai::GenerateResult (*generate)(const ai::GenerateOptions&)) {
    const Chain<ai::Message> chain{ChainConfig{.storage = memory_storage()}, Reduction<ai::Message>{}};
    host::AiSdkHooks hooks(chain, "sdk");
    return hooks.wrap(generate)(options);
}
#endif
