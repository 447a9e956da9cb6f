#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::detail {

/// Keys that a plan will write, with a fingerprint of their content. By fingerprint too: where two keys had the same,
/// one would get a number that it does not need.
class PlannedKeys {
public:
    /// The content planned for `key`, or null.
    [[nodiscard]] const Hash128* find(std::string_view key) const noexcept;
    /// Leaves the content that there is for it already.
    void add(std::string_view key, const Hash128& content);
    /// What is added from here on can be taken back together.
    void begin_edit_group() noexcept { edit_group_.clear(); }
    void drop_edit_group() noexcept;

    /// Below this, the numbered forms of `key` have other content.
    [[nodiscard]] int first_number(const std::string& key) const;
    void set_first_number(const std::string& key, int number) { first_numbers_[key] = number; }

private:
    struct LowBits {
        std::size_t operator()(const Hash128& hash) const noexcept { return static_cast<std::size_t>(hash.low); }
    };

    std::pmr::monotonic_buffer_resource memory_{};
    std::pmr::unordered_map<Hash128, Hash128, LowBits> contents_{&memory_};  // by fingerprint of the key
    std::vector<Hash128> edit_group_{};
    std::unordered_map<std::string, int> first_numbers_{};  // of keys that had to be numbered
};

/// `key`, or with a number if the store has, or the plan will put, other content under it. What cannot be found out is
/// left to the write. Throws Error(already_exists) after 10,000 numbers.
[[nodiscard]] std::string free_key(Storage& storage, std::string key, std::string_view content, PlannedKeys& planned);

/// Calls `write(key)`, with `key-2`, `key-3`, ... as long as it throws Error(already_exists): for what is written at
/// once, or is not in memory. Returns the key that was free; gives up after 10,000 numbers, with that error.
std::string write_to_free_key(const std::string& key, FunctionRef<void(const std::string&)> write);
/// Stores `content` under the first of these keys that has no other content. Throws what the store throws.
std::string put_to_free_key(Storage& storage, const std::string& key, std::string_view content);

/// In order, each once.
void sort_unique(std::vector<std::string>& keys);

}  // namespace whittle::inline v0::detail
