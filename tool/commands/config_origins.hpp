#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// Who said it.
enum class ValueOrigin { fallback, preset, given };

/// One value of a configuration as the chain takes it.
struct OriginatedValue {
    std::string path{};   ///< as errors name it: "middlewares[0].max_tokens_for_clear"
    std::string value{};  ///< JSON; of a default what extensions/config/README.md says
    ValueOrigin origin = ValueOrigin::fallback;
};

/// Every key of the sections and middlewares that a configuration has. `given` is its text, `written_out` the same with
/// its preset written out.
[[nodiscard]] std::vector<OriginatedValue> origins_of(const std::string& given, const std::string& written_out);

}  // namespace whittle::cli
