#pragma once

#include "whittle/base/text.hpp"
#include "whittle/model/model.hpp"
#include "whittle/summary/detail/requests.hpp"

#include <exception>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// A user's callback threw, or gave nothing that can be used; ends the generation.
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

}  // namespace whittle::inline v0::detail
