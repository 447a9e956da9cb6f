#pragma once

#include "whittle/base/error.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

/// What every backend needs: the name of a model and an HTTP address. Problems stand under "{name}."; no value that may
/// be a secret is told.
void check_endpoint(std::string_view model, std::string_view base_url, std::string_view name, Problems& problems);

/// Further fields of every request: one JSON object, or empty.
void check_extra(std::string_view extra, std::string_view name, Problems& problems);

}  // namespace whittle::inline v0::detail
