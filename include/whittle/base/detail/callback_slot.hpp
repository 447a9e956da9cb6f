#pragma once

#include "whittle/base/version.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace whittle::inline v0::detail {

/// Of a function that does not fit a callback the compiler says only that there is no constructor for the braces it
/// stands in. A slot takes any function and says of which member it is: `Member` is a type of that name.
template <typename Member, typename Function>
class CallbackSlot {
public:
    CallbackSlot() noexcept = default;
    CallbackSlot(std::nullptr_t) noexcept {}
    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, CallbackSlot>) CallbackSlot(F&& function) {
        constexpr bool fits = std::is_constructible_v<Function, F>;
        static_assert(fits, "this function does not fit the callback that `Member` names");
        if constexpr (fits) function_ = Function(std::forward<F>(function));
    }

    [[nodiscard]] Function take() noexcept { return std::move(function_); }

private:
    Function function_{};
};

}  // namespace whittle::inline v0::detail
