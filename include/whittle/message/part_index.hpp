#pragma once

#include "whittle/message/traits.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Optional: an index of a message's parts, so that one part is read or set without walking over the others. Without it
/// many edits of one message cost the square of its parts.
/// * `PartIndex index_parts(const M&)`, a type of your own whose `size()` is the number of parts: where they are.
/// * `void visit_part(const M&, const PartIndex&, std::size_t part, visit)`: as `for_each_part`, for one part that is
///   there.
/// * `bool set_text_in_place(M&, const PartIndex&, std::size_t part, std::string_view text)`: does as `set_text` and
///   says true where no part but this comes, goes or changes, so that the index and what is known of the other parts
///   stay true. Else it does nothing and says false.
template <typename M>
concept HasPartIndex = requires(M& m, const M& shown, std::size_t part, std::string_view text,
                                FunctionRef<void(const PartView&)> visit) {
    { message_traits<M>::index_parts(shown).size() } -> std::convertible_to<std::size_t>;
    message_traits<M>::visit_part(shown, message_traits<M>::index_parts(shown), part, visit);
    {
        message_traits<M>::set_text_in_place(m, message_traits<M>::index_parts(shown), part, text)
        } -> std::same_as<bool>;
};

/// Optional beside these: `void rename_call(M&, const PartIndex&, std::size_t part, std::string_view call_id,
/// std::string_view tool)`, as the trait without an index, for a part that is there.
template <typename M>
concept HasIndexedRename = HasPartIndex<M> && requires(M& m, const M& shown, std::size_t part, std::string_view name) {
    message_traits<M>::rename_call(m, message_traits<M>::index_parts(shown), part, name, name);
};

/// Optional beside these: `void erase_parts(M&, const PartIndex&, std::span<const std::size_t> parts)`: takes out two
/// or more parts that are there, ascending and each named once, as `erase_part` does from the last of them to the
/// first. Throws without having changed the message.
template <typename M>
concept HasIndexedErase = HasPartIndex<M> && requires(M& m, const M& shown, std::span<const std::size_t> parts) {
    message_traits<M>::erase_parts(m, message_traits<M>::index_parts(shown), parts);
};

/// Takes these parts out of `m`, ascending and each named once: by an index where its type has that, else one by one,
/// from the last to the first.
template <AgentMessage M>
void erase_parts_of(M& m, std::span<const std::size_t> parts) {
    if constexpr (HasIndexedErase<M>) {
        if (parts.size() > 1) {
            const auto index = message_traits<M>::index_parts(m);
            if (parts.back() < index.size()) return message_traits<M>::erase_parts(m, index, parts);
        }
    }
    for (std::size_t i = parts.size(); i-- > 0;) message_traits<M>::erase_part(m, parts[i]);
}

/// Calls `visit(const PartView&)` for part `part` of `m`, if there is one.
template <AgentMessage M, typename Visit>
void visit_one_part(const M& m, std::size_t part, Visit&& visit) {
    std::size_t at = 0;
    message_traits<M>::for_each_part(m, [&](const PartView& view) {
        if (at++ == part) visit(view);
    });
}

/// Reads and sets single parts of one message, by its index where its type has one. The index is made for the second
/// of them, since the first alone is sooner walked to, and is true until the message changes in another way.
template <AgentMessage M>
class PartFinder {
public:
    /// As `visit_one_part`.
    template <typename Visit>
    void visit(const M& m, std::size_t part, Visit&& visit) {
        if constexpr (HasPartIndex<M>) {
            if (!is_first()) {
                const Index& index = index_of(m);
                if (part < index.size()) message_traits<M>::visit_part(m, index, part, visit);
                return;
            }
        }
        visit_one_part(m, part, visit);
    }

    /// As the trait of that name: false, and nothing done, where other parts would change or nobody knows.
    bool set_text_in_place(M& m, std::size_t part, std::string_view text) {
        if constexpr (HasPartIndex<M>) {
            const Index& index = index_of(m);
            return part < index.size() && message_traits<M>::set_text_in_place(m, index, part, text);
        } else {
            return false;
        }
    }

    /// The same for the trait `rename_call`.
    bool rename_call_in_place(M& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        if constexpr (HasIndexedRename<M>) {
            const Index& index = index_of(m);
            if (part >= index.size()) return false;
            message_traits<M>::rename_call(m, index, part, call_id, tool);
            return true;
        } else {
            return false;
        }
    }

    /// As the trait of that name, in place where that can be.
    void set_text(M& m, std::size_t part, std::string_view text) {
        if (!is_first() && set_text_in_place(m, part, text)) return;
        forget();
        message_traits<M>::set_text(m, part, text);
    }

    /// The message changed otherwise.
    void forget() noexcept { index_.reset(); }

private:
    struct None {};
    template <typename T>
    struct IndexOf {
        using type = None;
    };
    template <HasPartIndex T>
    struct IndexOf<T> {
        using type = decltype(message_traits<T>::index_parts(std::declval<const T&>()));
    };
    using Index = typename IndexOf<M>::type;

    const Index& index_of(const M& m) {
        if constexpr (HasPartIndex<M>) {
            if (!index_) index_.emplace(message_traits<M>::index_parts(m));
        }
        return *index_;
    }

    [[nodiscard]] bool is_first() noexcept { return !std::exchange(is_used_, true); }

    bool is_used_ = false;
    std::optional<Index> index_{};
};

}  // namespace whittle::inline v0
