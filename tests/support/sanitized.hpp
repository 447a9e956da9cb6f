// Whether this is built with AddressSanitizer or ThreadSanitizer, by either compiler.
#pragma once

#if defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define WHITTLE_SANITIZED 1
#    endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define WHITTLE_SANITIZED 1
#endif

namespace whittle::testing {

#ifdef WHITTLE_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace whittle::testing
