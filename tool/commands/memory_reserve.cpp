#include "memory_reserve.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace whittle::cli {
namespace {

// Nobody touches them: they take addresses and no memory.
constexpr std::size_t first_bytes = std::size_t{32} << 20;
constexpr std::size_t last_bytes = std::size_t{64} << 20;

std::atomic<void*> first_reserve = nullptr;
std::atomic<void*> last_reserve = nullptr;

bool give(std::atomic<void*>& reserve) {
    void* const given = reserve.exchange(nullptr);
    std::free(given);
    return given != nullptr;
}

void take(std::atomic<void*>& reserve, std::size_t bytes) {
    if (reserve != nullptr) return;
    void* const taken = std::malloc(bytes);
    if (taken == nullptr) throw std::bad_alloc();
    std::free(reserve.exchange(taken));
}

/// The first allocation that fails is tried again, since it may stand in a destructor. The next one fails, and leaves
/// the rest to the destructors that run then.
void give_reserve() {
    if (give(first_reserve)) return;
    give(last_reserve);
    throw std::bad_alloc();
}

}  // namespace

MemoryReserve::MemoryReserve() {
    refill();
    std::set_new_handler(give_reserve);
}

MemoryReserve::~MemoryReserve() {
    std::set_new_handler(nullptr);
    give(first_reserve);
    give(last_reserve);
}

void MemoryReserve::refill() {
    take(first_reserve, first_bytes);
    take(last_reserve, last_bytes);
}

void throw_if_memory_is_short() {
    if (first_reserve == nullptr) throw std::bad_alloc();
}

}  // namespace whittle::cli
