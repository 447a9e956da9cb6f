// Replies as our serialisers write them: the stub sends them, the official clients and ours have to read the same.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace whittle::sdk_types {

struct Mirrored {
    std::string api{};               ///< "openai" or "anthropic"
    std::string name{};              ///< the model's name by which the stub finds it
    nlohmann::ordered_json reply{};  ///< the message that our serialiser wrote
    nlohmann::ordered_json meant{};  ///< what the neutral message says: parts in order
};

/// Alike at every call.
[[nodiscard]] std::vector<Mirrored> mirrored();

}  // namespace whittle::sdk_types
