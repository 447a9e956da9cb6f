#pragma once

namespace whittle::cli {

/// Keeps memory aside for the time when there is none left, as long as it lives: what unwinds then may have to ask for
/// some, such as a large JSON value that ends. One at a time.
class MemoryReserve {
public:
    MemoryReserve();
    ~MemoryReserve();
    MemoryReserve(const MemoryReserve&) = delete;
    MemoryReserve& operator=(const MemoryReserve&) = delete;

    /// Takes it back, if it was needed. Throws std::bad_alloc where there still is none.
    static void refill();
};

/// Throws std::bad_alloc if the reserve is in use: what needed so much has to end.
void throw_if_memory_is_short();

}  // namespace whittle::cli
