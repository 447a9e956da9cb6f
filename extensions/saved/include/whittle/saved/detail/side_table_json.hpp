#pragma once

#include "whittle/conversation/detail/notes.hpp"
#include "whittle/conversation/detail/token_columns.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/saved/side_table.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

using nlohmann::ordered_json;

/// A string, or {"base64": ...} for bytes that are not UTF-8.
[[nodiscard]] ordered_json json_of_bytes(std::string_view bytes);
/// `whole`: also what a message says of itself; for originals, whose text may not be at hand.
[[nodiscard]] ordered_json json_of_info(const MessageInfo& info, bool whole);
[[nodiscard]] ordered_json json_of_notes(const NoteBook& notes);
[[nodiscard]] ordered_json json_of_calibrations(const Calibrations& calibrations);
[[nodiscard]] ordered_json json_of_entry(const SavedEntry& entry);
[[nodiscard]] ordered_json json_of_counters(const Counters& counters);

/// 32 hexadecimal digits, and back.
[[nodiscard]] std::string hex_of(const Hash128& hash);
[[nodiscard]] Hash128 hash_of(std::string_view digits, const std::string& where);

[[noreturn]] void fail_side_table(const std::string& where, std::string_view reason);
[[nodiscard]] std::string bytes_of(const ordered_json& json, const std::string& where);
[[nodiscard]] MessageInfo info_of(const ordered_json& json, const std::string& where);
[[nodiscard]] NoteBook notes_of(const ordered_json& json, const std::string& where);
[[nodiscard]] Calibrations calibrations_of(const ordered_json& json, const std::string& where);
[[nodiscard]] SavedEntry entry_of(const ordered_json& json, const std::string& where);
[[nodiscard]] Counters counters_of(const ordered_json& json);

/// Larger than any serial or count of a real conversation, small enough to add to.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 53U;
inline constexpr std::int64_t largest_int = 1'000'000'000;

/// The members of an object. Absent ones have the value that the writer leaves out; unknown ones are an error.
class ObjectReader {
public:
    ObjectReader(const ordered_json& json, std::string where);

    [[nodiscard]] const ordered_json* find(const char* name);
    [[nodiscard]] const ordered_json& require(const char* name);
    [[nodiscard]] std::int64_t integer(const char* name, std::int64_t lowest, std::int64_t highest,
                                       std::int64_t fallback = 0);
    [[nodiscard]] std::uint64_t serial(const char* name) {
        return static_cast<std::uint64_t>(integer(name, 0, largest_count));
    }
    [[nodiscard]] int small(const char* name) { return static_cast<int>(integer(name, 0, largest_int)); }
    [[nodiscard]] std::size_t index(const char* name) {
        return static_cast<std::size_t>(integer(name, 0, largest_count));
    }
    [[nodiscard]] double real(const char* name);
    [[nodiscard]] bool flag(const char* name);
    [[nodiscard]] std::string bytes(const char* name);
    [[nodiscard]] std::vector<std::string> list(const char* name);
    /// The index of the word in `words`.
    [[nodiscard]] std::size_t word(const char* name, std::span<const std::string_view> words);
    [[nodiscard]] std::string place(std::string_view name) const { return where_ + "." + std::string(name); }
    void done() const;

private:
    const ordered_json& json_;
    std::string where_;
    std::vector<std::string_view> known_{};
};

/// Calls `read(element, where)` for each element of an array; nothing for null.
template <typename Read>
void read_array(const ordered_json* json, const std::string& where, Read&& read) {
    if (json == nullptr) return;
    if (!json->is_array()) fail_side_table(where, "not an array");
    std::size_t i = 0;
    for (const ordered_json& element : *json) {
        read(element, where + "[" + std::to_string(i) + "]");
        ++i;
    }
}

}  // namespace whittle::inline v0::detail
