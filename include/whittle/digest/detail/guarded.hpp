#pragma once

#include "whittle/base/text.hpp"
#include "whittle/digest/detail/requests.hpp"
#include "whittle/port/model.hpp"

#include <exception>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// A user's callback threw, or gave nothing that can be used; ends the digest.
struct CallbackThrew {
    std::string message;
    std::exception_ptr thrown{};  ///< null: it gave nothing that can be used
};

template <typename Call>
auto guarded(std::string_view name, Call&& call) -> decltype(call()) {
    try {
        return call();
    } catch (...) {
        throw CallbackThrew{current_callback_error(name), std::current_exception()};
    }
}

[[nodiscard]] inline Usage sum_of(const Usage& a, const Usage& b) noexcept {
    return {add_saturating(a.input, b.input), add_saturating(a.cache_read, b.cache_read),
            add_saturating(a.cache_write, b.cache_write), add_saturating(a.output, b.output)};
}

}  // namespace whittle::inline v0::detail
