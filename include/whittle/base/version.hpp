#pragma once

/// The library's version, and the one check that the compiler is new enough.

#if defined(_MSVC_LANG)
#    define WHITTLE_CPLUSPLUS _MSVC_LANG
#else
#    define WHITTLE_CPLUSPLUS __cplusplus
#endif

#if WHITTLE_CPLUSPLUS < 202002L
#    error "whittle needs C++20: compile with -std=c++20 (CMake: target_compile_features(app PRIVATE cxx_std_20))"
#endif

#define WHITTLE_VERSION_MAJOR 0
#define WHITTLE_VERSION_MINOR 1
#define WHITTLE_VERSION_PATCH 0
#define WHITTLE_VERSION_STRING "0.1.0"
