#include "whittle/provider/detail/check_endpoint.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

namespace whittle::inline v0::detail {

void check_endpoint(std::string_view model, std::string_view base_url, std::string_view name, Problems& problems) {
    if (model.empty()) problems.error(fmt::format("{}.model", name), "\"\"", "the name of a model");
    if (!base_url.starts_with("http://") && !base_url.starts_with("https://"))
        problems.error(fmt::format("{}.base_url", name), "another text",
                       "an address that begins with http:// or https://");
}

void check_extra(std::string_view extra, std::string_view name, Problems& problems) {
    if (!extra.empty() && !is_json_object(extra))
        problems.error(fmt::format("{}.extra", name), "another text", "a JSON object");
}

}  // namespace whittle::inline v0::detail
