#include "whittle/conversation/detail/planned_keys.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace whittle::inline v0::detail {

const Hash128* PlannedKeys::find(std::string_view key) const noexcept {
    const auto found = contents_.find(hash128(key));
    return found == contents_.end() ? nullptr : &found->second;
}

void PlannedKeys::add(std::string_view key, const Hash128& content) {
    const Hash128 print = hash128(key);
    if (contents_.try_emplace(print, content).second) edit_group_.push_back(print);
}

int PlannedKeys::first_number(const std::string& key) const {
    const auto found = first_numbers_.find(key);
    return found == first_numbers_.end() ? 2 : found->second;
}

void PlannedKeys::drop_edit_group() noexcept {
    for (const Hash128& key : edit_group_) contents_.erase(key);
    edit_group_.clear();
}

namespace {

constexpr int most_numbers = 10'000;  // in a row; a store that calls more of them taken calls all taken

std::string numbered_key(const std::string& key, int number) { return fmt::format("{}-{}", key, number); }

[[noreturn]] void refuse_no_free_key(const std::string& key, int last) {
    throw Error(Errc::already_exists,
                fmt::format("find a free key for \"{}\": the store says that this one and all others up to \"{}\" have "
                            "other content; remove objects that are no longer needed, or give the conversation an id, "
                            "or a folder, of its own",
                            key, numbered_key(key, last)));
}

struct Wanted {
    std::string_view content{};
    std::string_view kept{};  ///< what the store makes of it
};

bool is_taken(Storage& storage, const std::string& key, const Wanted& wanted, const PlannedKeys& planned) {
    if (const Hash128* const other = planned.find(key)) return *other != hash128(wanted.content);
    const auto info = storage.stat(key);
    if (!info) return false;
    return info->bytes != static_cast<std::int64_t>(wanted.kept.size()) || storage.get(key) != wanted.kept;
}

}  // namespace

/// A number that was too low once is not tried again: there may be thousands of results with one name.
std::string free_key(Storage& storage, std::string key, std::string_view content, PlannedKeys& planned) {
    const int first = planned.first_number(key);
    const int last = first + most_numbers - 1;
    try {
        const std::optional<std::string> kept = storage.masked(content);
        const Wanted wanted{content, kept ? *kept : content};
        if (!is_taken(storage, key, wanted, planned)) return key;
        for (int number = first; number <= last; ++number) {
            std::string candidate = numbered_key(key, number);
            if (is_taken(storage, candidate, wanted, planned)) continue;
            planned.set_first_number(key, number);
            return candidate;
        }
    } catch (const std::exception&) {
        return key;  // the write will say what is wrong
    }
    refuse_no_free_key(key, last);
}

std::string write_to_free_key(const std::string& key, FunctionRef<void(const std::string&)> write) {
    constexpr int last = most_numbers + 1;
    for (int number = 1; number <= last; ++number) {
        std::string candidate = number == 1 ? key : numbered_key(key, number);
        try {
            write(candidate);
            return candidate;
        } catch (const Error& error) {
            if (error.errc() != Errc::already_exists) throw;
        }
    }
    refuse_no_free_key(key, last);
}

std::string put_to_free_key(Storage& storage, const std::string& key, std::string_view content) {
    return write_to_free_key(key, [&](const std::string& free) { storage.put_if_absent(free, content); });
}

void sort_unique(std::vector<std::string>& keys) {
    if (std::ranges::adjacent_find(keys, std::ranges::greater_equal{}) == keys.end()) return;
    std::vector<std::string*> order;  // cheaper to swap than the texts
    order.reserve(keys.size());
    for (std::string& key : keys) order.push_back(&key);
    const auto to_key = [](const std::string* key) -> const std::string& { return *key; };
    std::ranges::sort(order, {}, to_key);
    std::vector<std::string> sorted;
    sorted.reserve(keys.size());
    for (std::string* key : order) {
        if (sorted.empty() || sorted.back() != *key) sorted.push_back(std::move(*key));
    }
    keys = std::move(sorted);
}

}  // namespace whittle::inline v0::detail
