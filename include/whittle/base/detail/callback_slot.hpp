#pragma once

#include "whittle/base/version.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace whittle::inline v0::detail {

/// A function that a host gives. Of one that does not fit, the compiler would say only that there is no constructor for
/// the braces it stands in: a slot takes any and says of which member it is. `Member` is a type of that name.
template <typename Member, typename Function>
class CallbackSlot : public Function {
public:
    CallbackSlot() noexcept = default;
    CallbackSlot(std::nullptr_t) noexcept {}
    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, CallbackSlot>) CallbackSlot(F&& given)
        : Function(fitting(std::forward<F>(given))) {}

private:
    template <typename F>
    static Function fitting(F&& given) {
        constexpr bool fits = std::is_constructible_v<Function, F>;
        static_assert(fits, "this function does not fit the callback that `Member` names");
        if constexpr (fits) return Function(std::forward<F>(given));
        return {};
    }
};

/// A slot for functions of that signature.
template <typename Member, typename Signature>
using Callback = CallbackSlot<Member, std::function<Signature>>;

}  // namespace whittle::inline v0::detail
