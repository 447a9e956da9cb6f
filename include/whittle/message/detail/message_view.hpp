#pragma once

#include "whittle/message/traits.hpp"

#include <compare>
#include <cstddef>
#include <iterator>
#include <span>

namespace whittle::inline v0 {

/// Messages in order that need not be contiguous: those of a conversation, or of a transaction's projection. A view:
/// valid until what it was made from changes.
template <AgentMessage M>
class MessageView {
public:
    class Iterator {
    public:
        using iterator_category = std::random_access_iterator_tag;
        using value_type = M;
        using difference_type = std::ptrdiff_t;
        using pointer = const M*;
        using reference = const M&;

        Iterator() = default;
        Iterator(const MessageView* view, std::ptrdiff_t at) noexcept : view_(view), at_(at) {}
        reference operator*() const noexcept { return (*view_)[static_cast<std::size_t>(at_)]; }
        pointer operator->() const noexcept { return &**this; }
        reference operator[](difference_type n) const noexcept { return *(*this + n); }
        Iterator& operator++() noexcept { return *this += 1; }
        Iterator operator++(int) noexcept { return {view_, at_++}; }
        Iterator& operator--() noexcept { return *this -= 1; }
        Iterator operator--(int) noexcept { return {view_, at_--}; }
        Iterator& operator+=(difference_type n) noexcept { return at_ += n, *this; }
        Iterator& operator-=(difference_type n) noexcept { return at_ -= n, *this; }
        friend Iterator operator+(Iterator i, difference_type n) noexcept { return i += n; }
        friend Iterator operator+(difference_type n, Iterator i) noexcept { return i += n; }
        friend Iterator operator-(Iterator i, difference_type n) noexcept { return i -= n; }
        friend difference_type operator-(Iterator a, Iterator b) noexcept { return a.at_ - b.at_; }
        friend bool operator==(Iterator a, Iterator b) noexcept { return a.at_ == b.at_; }
        friend std::strong_ordering operator<=>(Iterator a, Iterator b) noexcept { return a.at_ <=> b.at_; }

    private:
        const MessageView* view_ = nullptr;
        std::ptrdiff_t at_ = 0;
    };

    MessageView() = default;
    /// Of messages that stand one behind the other.
    MessageView(std::span<const M> messages) noexcept : messages_(messages) {}  // NOLINT(google-explicit-constructor)
    /// Of messages that stand at these addresses.
    [[nodiscard]] static MessageView at(std::span<const void* const> addresses) noexcept {
        MessageView view;
        view.overlay_ = addresses;
        view.is_overlay_ = true;
        return view;
    }

    [[nodiscard]] std::size_t size() const noexcept { return is_overlay_ ? overlay_.size() : messages_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] const M& operator[](std::size_t i) const noexcept {
        return is_overlay_ ? *static_cast<const M*>(overlay_[i]) : messages_[i];
    }
    [[nodiscard]] Iterator begin() const noexcept { return {this, 0}; }
    [[nodiscard]] Iterator end() const noexcept { return {this, static_cast<std::ptrdiff_t>(size())}; }

private:
    std::span<const M> messages_{};
    std::span<const void* const> overlay_{};
    bool is_overlay_ = false;
};

}  // namespace whittle::inline v0
