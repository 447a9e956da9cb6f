#pragma once

/// The one public header that asks which compiler, library and system this is.

#include <version>

#if defined(_MSVC_LANG)
#    define WHITTLE_CPLUSPLUS _MSVC_LANG
#else
#    define WHITTLE_CPLUSPLUS __cplusplus
#endif

#if WHITTLE_CPLUSPLUS < 202002L
#    error "whittle needs C++20: compile with -std=c++20 (CMake: target_compile_features(app PRIVATE cxx_std_20))"
#endif

#include "whittle/base/detail/stop_token.hpp"

#if defined(__cpp_lib_jthread)
#    include <functional>
#    include <stop_token>
#endif

namespace whittle::inline v0 {

/// How a call is told to stop early. The standard library's types where it has them: libc++ before 20 has none without
/// `-fexperimental-library`, and gets types of the same members.
#if defined(__cpp_lib_jthread)
using StopToken = std::stop_token;
/// Asks for a stop: what the caller holds.
using StopSource = std::stop_source;
/// Calls a function once: on the thread that asks for the stop, or in the constructor if it was asked for before.
using StopCallback = std::stop_callback<std::function<void()>>;
#else
using StopToken = detail::PortableStopToken;
using StopSource = detail::PortableStopSource;
using StopCallback = detail::PortableStopCallback;
#endif

}  // namespace whittle::inline v0
