// Replaces operator new of a test binary by one that can fail at a given call. Include it in exactly one source file of
// the binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace whittle::testing {

enum class AllocationFailure {
    once,      ///< the n-th allocation fails, later ones work
    for_good,  ///< the n-th and all later ones fail
};

namespace detail {

inline thread_local std::int64_t allocations_left = -1;  // below 0: none fails
inline thread_local bool allocation_failed = false;
inline thread_local bool fails_for_good = false;

inline void* allocate(std::size_t size) {
    if (allocations_left > 0 && --allocations_left == 0) {
        allocation_failed = true;
        allocations_left = fails_for_good ? 1 : -1;
        throw std::bad_alloc();
    }
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

}  // namespace detail

/// While it lives, the `nth` allocation of this thread (from 1) throws std::bad_alloc.
class FailingAllocation {
public:
    explicit FailingAllocation(std::int64_t nth, AllocationFailure how = AllocationFailure::once) {
        detail::allocation_failed = false;
        detail::fails_for_good = how == AllocationFailure::for_good;
        detail::allocations_left = nth;
    }
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;
    ~FailingAllocation() { detail::allocations_left = -1; }

    [[nodiscard]] static bool has_failed() noexcept { return detail::allocation_failed; }
};

}  // namespace whittle::testing

[[gnu::noinline]] void* operator new(std::size_t size) { return whittle::testing::detail::allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return whittle::testing::detail::allocate(size); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
