#pragma once

#include "whittle/base/version.hpp"

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace whittle::inline v0 {

template <typename Signature>
class FunctionRef;

/// A view of a callable: two pointers, never allocates, does not own. Valid as long as what it was made from.
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
public:
    /// Borrows `f`, which has to live as long as this.
    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Args...>)
        FunctionRef(F&& f)
    noexcept  // NOLINT(google-explicit-constructor): it is a parameter type
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
          call_([](void* object, Args... args) -> R {
              return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
          }) {}

    /// Calls it.
    R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

private:
    void* object_;
    R (*call_)(void*, Args...);
};

/// Called again and again by what may run for long; what it throws ends that.
using CancelCheck = FunctionRef<void()>;

/// Lets everything run.
inline constexpr auto never_cancelled = [] {};

}  // namespace whittle::inline v0
