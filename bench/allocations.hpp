// Counts the allocations of a program. Include it in exactly one source file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

static std::atomic<long> allocations{0};

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
