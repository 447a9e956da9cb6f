#include "posix_ops.hpp"

#include <cerrno>

#if defined(__linux__) && __has_include(<linux/openat2.h>)
#    include <linux/openat2.h>
#    include <sys/syscall.h>
#endif

namespace whittle::inline v0 {

#if defined(SYS_openat2)
int open_beneath(int root, const char* path, int flags) noexcept {
    open_how how{};
    how.flags = static_cast<decltype(how.flags)>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    return static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
}
#else
int open_beneath(int, const char*, int) noexcept {
    errno = ENOSYS;
    return -1;
}
#endif

}  // namespace whittle::inline v0
