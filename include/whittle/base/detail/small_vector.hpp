#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace whittle::inline v0 {

/// A vector that holds one element in itself and takes memory from the heap only for more: most messages have one part
/// and one token count. Moving it moves a single element, and references to that one are no longer valid then.
template <typename T>
class SmallVector {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>);

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    /// Empty.
    SmallVector() noexcept {}
    /// Copies of these.
    SmallVector(std::initializer_list<T> elements) { append(elements.begin(), elements.size()); }
    SmallVector(const SmallVector& other) { append(other.data(), other.size_); }
    SmallVector(SmallVector&& other) noexcept { take(other); }
    SmallVector& operator=(const SmallVector& other) {
        if (this != &other) *this = SmallVector(other);
        return *this;
    }
    SmallVector& operator=(SmallVector&& other) noexcept {
        if (this == &other) return *this;
        destroy();
        take(other);
        return *this;
    }
    ~SmallVector() { destroy(); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] T* data() noexcept { return is_inline() ? &one_ : many_; }
    [[nodiscard]] const T* data() const noexcept { return is_inline() ? &one_ : many_; }
    [[nodiscard]] T* begin() noexcept { return data(); }
    [[nodiscard]] T* end() noexcept { return data() + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size_; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
    [[nodiscard]] T& front() noexcept { return *data(); }
    [[nodiscard]] const T& front() const noexcept { return *data(); }
    [[nodiscard]] T& back() noexcept { return data()[size_ - 1]; }
    [[nodiscard]] const T& back() const noexcept { return data()[size_ - 1]; }

    /// Strong guarantee, as for all that take memory; an element that is moved in may be lost. Throws std::length_error
    /// above 2^32 - 1 elements.
    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        if (capacity > (std::numeric_limits<std::uint32_t>::max)()) throw std::length_error("SmallVector: too long");
        T* const more = std::allocator<T>().allocate(capacity);
        std::uninitialized_move(begin(), end(), more);
        const std::size_t size = size_;
        destroy();
        many_ = more;
        capacity_ = static_cast<std::uint32_t>(capacity);
        size_ = static_cast<std::uint32_t>(size);
    }
    void push_back(T element) {
        if (size_ == capacity_) reserve(2 * std::size_t{capacity_});
        std::construct_at(end(), std::move(element));
        ++size_;
    }
    void resize(std::size_t size) {
        reserve(size);
        if (size > size_) std::uninitialized_value_construct(end(), data() + size);
        if (size < size_) std::destroy(data() + size, end());
        size_ = static_cast<std::uint32_t>(size);
    }
    void clear() noexcept {
        std::destroy(begin(), end());
        size_ = 0;
    }

    friend bool operator==(const SmallVector& a, const SmallVector& b) noexcept(noexcept(a[0] == b[0])) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    [[nodiscard]] bool is_inline() const noexcept { return capacity_ == 1; }

    void append(const T* elements, std::size_t count) {
        try {
            reserve(count);
            std::uninitialized_copy(elements, elements + count, end());
        } catch (...) {
            destroy();
            throw;
        }
        size_ = static_cast<std::uint32_t>(count);
    }
    /// Leaves `other` empty. Only where there are no elements of our own.
    void take(SmallVector& other) noexcept {
        if (other.is_inline()) {
            std::uninitialized_move(other.begin(), other.end(), &one_);
            size_ = other.size_;
            other.clear();
            return;
        }
        many_ = other.many_;
        capacity_ = std::exchange(other.capacity_, 1);
        size_ = std::exchange(other.size_, 0);
    }
    /// Back to an empty one.
    void destroy() noexcept {
        clear();
        if (!is_inline()) std::allocator<T>().deallocate(many_, capacity_);
        capacity_ = 1;
    }

    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 1;  // 1: the element is in the object
    union {
        T one_;
        T* many_;
    };
};

}  // namespace whittle::inline v0
