#pragma once

#include "whittle/base/version.hpp"

#include <string>

namespace whittle::inline v0 {

/// A tool as the model sees it.
struct ToolSpec {
    std::string name{};
    std::string description{};
    std::string parameters = R"({"type":"object","properties":{}})";  ///< JSON Schema as compact JSON

    friend bool operator==(const ToolSpec&, const ToolSpec&) = default;
};

}  // namespace whittle::inline v0
