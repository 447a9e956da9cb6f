#include "whittle/base/detail/shared_string.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace whittle::inline v0 {

SharedString::Block* SharedString::block_of(std::string_view text) {
    if (text.empty()) return nullptr;
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("SharedString: 4 GiB or more");
    void* const memory = ::operator new(sizeof(Block) + text.size());
    std::memcpy(static_cast<char*>(memory) + sizeof(Block), text.data(), text.size());
    return new (memory) Block{.size = static_cast<std::uint32_t>(text.size())};
}

void SharedString::release() noexcept {
    if (block_ == nullptr || block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    block_->~Block();
    ::operator delete(block_);
}

}  // namespace whittle::inline v0
