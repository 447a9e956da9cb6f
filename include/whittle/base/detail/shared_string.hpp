#pragma once

#include "whittle/base/version.hpp"

#include <atomic>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace whittle::inline v0 {

/// An immutable string whose copies share one block; as wide as a pointer, and an empty one takes no memory. For ids
/// and names that many records of a conversation repeat. Becomes a string_view by itself, a string by `str`. Copies may
/// be used in different threads.
class SharedString {
public:
    SharedString() noexcept = default;
    /// Copies `text`; implicit, so that it can be set like a string. Throws std::length_error at 4 GiB.
    template <std::convertible_to<std::string_view> Text>
    requires(!std::same_as<Text, SharedString>) SharedString(const Text& text)
        : block_(block_of(text)) {}  // NOLINT(google-explicit-constructor)
    SharedString(const SharedString& other) noexcept : block_(other.block_) {
        if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    SharedString(SharedString&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    SharedString& operator=(SharedString other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~SharedString() { release(); }

    /// Valid while any copy of this string lives.
    [[nodiscard]] std::string_view view() const noexcept {
        return block_ == nullptr ? std::string_view() : std::string_view(text_of(block_), block_->size);
    }
    /// Valid while any copy of this string lives.
    operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)
    [[nodiscard]] std::string str() const { return std::string(view()); }
    [[nodiscard]] std::size_t size() const noexcept { return block_ == nullptr ? 0 : block_->size; }
    [[nodiscard]] bool empty() const noexcept { return block_ == nullptr; }
    /// Holds an equal text once: takes the block of `other` in place of its own.
    void share_if_equal(const SharedString& other) noexcept {
        if (*this == other) *this = other;
    }
    /// Whether both are the same block, or both empty.
    [[nodiscard]] bool shares_with(const SharedString& other) const noexcept { return block_ == other.block_; }

    friend bool operator==(const SharedString& a, const SharedString& b) noexcept {
        return a.block_ == b.block_ || a.view() == b.view();
    }
    template <std::convertible_to<std::string_view> Text>
    friend bool operator==(const SharedString& a, const Text& b) noexcept {
        return a.view() == std::string_view(b);
    }
    friend std::strong_ordering operator<=>(const SharedString& a, const SharedString& b) noexcept {
        return a.view() <=> b.view();
    }
    template <std::convertible_to<std::string_view> Text>
    friend std::strong_ordering operator<=>(const SharedString& a, const Text& b) noexcept {
        return a.view() <=> std::string_view(b);
    }

private:
    /// The text stands behind it.
    struct Block {
        std::atomic<std::uint32_t> owners{1};
        std::uint32_t size = 0;
    };

    static Block* block_of(std::string_view text);
    [[nodiscard]] static const char* text_of(const Block* block) noexcept {
        return reinterpret_cast<const char*>(block + 1);
    }
    void release() noexcept;

    Block* block_ = nullptr;
};

}  // namespace whittle::inline v0

/// Lets algorithms compare with a view, as in `std::ranges::find(parts, id, &PartInfo::call_id)`.
template <template <typename> typename A, template <typename> typename B>
struct std::basic_common_reference<whittle::SharedString, std::string_view, A, B> {
    using type = std::string_view;
};
template <template <typename> typename A, template <typename> typename B>
struct std::basic_common_reference<std::string_view, whittle::SharedString, A, B> {
    using type = std::string_view;
};

template <>
struct std::hash<whittle::SharedString> {
    /// Not noexcept: libstdc++ would then hash again at every step of a search.
    std::size_t operator()(const whittle::SharedString& text) const {
        return std::hash<std::string_view>()(text.view());
    }
};
