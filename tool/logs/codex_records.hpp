#pragma once

#include "entries.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// Calls by token_usage_record that no sum of the session has held yet.
class CodexRecords {
public:
    void add(Call call);
    /// A sum grew by this: takes out the oldest record of that usage, or else all, if they are that much together.
    /// False: neither.
    [[nodiscard]] bool claim(const Usage& usage);
    /// Takes out those with this id, or all if it is empty; the oldest first.
    [[nodiscard]] std::vector<Call> take(std::string_view id);

private:
    using Counts = std::array<std::uint64_t, 4>;

    [[nodiscard]] static Counts counts_of(const Usage& usage) noexcept;
    Call take_one(std::size_t number);

    std::map<std::size_t, Call> records_{};  // by number, in the order in which they came
    std::set<std::pair<Counts, std::size_t>> by_usage_{};
    std::set<std::pair<std::string, std::size_t>> by_id_{};
    Counts sum_{};  // of all, modulo 2^64, so that what is taken out can be taken off
    std::size_t next_ = 0;
};

}  // namespace whittle::inline v0::logs
