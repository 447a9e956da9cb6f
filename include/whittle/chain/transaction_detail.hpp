#pragma once

// Compiled helpers of Transaction<M>.

#include "whittle/chain/edit_environment.hpp"
#include "whittle/message/outline.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

struct CommitResult;

namespace detail {

/// Items that stay where they are, in blocks that grow: those of a deque hold one message each.
template <typename T>
class StableList {
public:
    T& push_back(T item) {
        if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) open_block();
        return blocks_.back().emplace_back(std::move(item));
    }
    [[nodiscard]] T& back() noexcept { return blocks_.back().back(); }
    void clear() noexcept { blocks_.clear(); }

private:
    void open_block() {
        constexpr std::size_t largest = 64;
        std::vector<T> block;
        block.reserve(blocks_.empty() ? 2 : std::min(largest, 2 * blocks_.back().size()));
        blocks_.push_back(std::move(block));
    }

    std::vector<std::vector<T>> blocks_{};
};

/// How far the serials [first, last] are from the nearest of `places`, which are sorted and not empty: 0 where they
/// hold one; else the more the farther, and of two that are as far the one in front is nearer.
[[nodiscard]] std::uint64_t distance_to(std::span<const Serial> places, Serial first, Serial last) noexcept;
/// Marks those messages that a transaction must leave alone; `spare_open_results`: not the results of the open round.
/// Linear.
[[nodiscard]] std::vector<bool> find_protected(const Outline& outline, std::string_view by,
                                               const std::function<bool(const MessageInfo&)>* pins,
                                               bool spare_open_results);
/// The part of `old` that is gone if `now` parts are left after an edit of part `edited`; the number of parts if none
/// is. Text that was set in place of a result's media takes away the empty part that stood for its missing text.
[[nodiscard]] std::size_t find_gone(std::span<const PartInfo> old, std::size_t now, std::size_t edited,
                                    bool is_text_set);
/// `info` describes a message anew after its content changed: gives it what was known of it as `old`, whose parts
/// `gone`, ascending and each once, are not in it.
void keep_known(MessageInfo& info, const MessageInfo& old, std::span<const std::size_t> gone);
/// `part` is described anew after its text changed: keeps what was known of it beside its content.
void describe_anew(PartInfo& part, const PartView& shown);
[[noreturn]] void throw_pinned(std::string_view by, std::string_view attempted, Serial serial, std::string_view rule);
[[noreturn]] void throw_split_thinking(std::string_view by, Serial serial);
[[noreturn]] void throw_new_violations(std::string_view by, const std::vector<Violation>& violations);
void tell_commit(const EventSink& events, std::string_view by, std::string_view conversation,
                 const CommitResult& result) noexcept;
/// Tells of writes that a store refused, as one event of kind "store_failed": how many, which was the first, and why.
/// `events` null: nobody listens.
void tell_store_failures(const EventSink* events, std::string_view by, std::string_view conversation,
                         std::span<const StoreFailure> failures) noexcept;
void sort_unique(std::vector<std::string>& keys);
/// Throws Error(cancelled) or Error(limit_exceeded).
void require_budget(const EditEnvironment& environment, std::string_view by, std::int64_t bytes);

}  // namespace detail

}  // namespace whittle::inline v0
