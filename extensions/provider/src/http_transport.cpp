#include "whittle/provider/http_transport.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>

namespace whittle::inline v0 {

std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) noexcept {
    const auto found = std::find_if(headers.begin(), headers.end(),
                                    [name](const auto& header) { return detail::same_word(header.first, name); });
    if (found == headers.end()) return std::nullopt;
    return found->second;
}

}  // namespace whittle::inline v0
