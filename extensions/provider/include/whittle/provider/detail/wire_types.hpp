#pragma once

#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/provider/detail/wire_violation.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Rule G13, for both formats: a member of a known name has the type that the format gives it. Members and blocks of
/// unknown names are the provider's to know.
namespace whittle::inline v0::detail {

class WireTypes {
public:
    using ordered_json = nlohmann::ordered_json;
    enum class Needed { yes, no };

    explicit WireTypes(std::vector<WireViolation>& found) noexcept : found_(found) {}

    void place(std::size_t message, std::size_t block) noexcept { message_ = message, block_ = block; }

    void add(const std::string& place, std::string_view expected, const ordered_json* found) {
        found_.push_back({"G13", Severity::refused, message_, block_,
                          place + ": expected " + std::string(expected) + ", found " +
                              (found == nullptr ? std::string("nothing") : found_text(*found))});
    }

    /// A string at each of `keys`; a null where it is not needed.
    void strings(const ordered_json& object, const std::string& where, std::initializer_list<const char*> keys,
                 Needed needed = Needed::yes) {
        for (const char* key : keys) {
            const ordered_json* value = find_member(object, key);
            const bool is_absent = value == nullptr || value->is_null();
            if (is_absent ? needed == Needed::no : value->is_string()) continue;
            add(where + "." + key, "a string", value);
        }
    }

    /// An object at `key`; null, with a violation, where it is none.
    [[nodiscard]] const ordered_json* object(const ordered_json& parent, const std::string& where, const char* key) {
        const ordered_json* value = find_member(parent, key);
        if (value != nullptr && value->is_object()) return value;
        add(where + "." + key, "an object", value);
        return nullptr;
    }

    /// Whether `value` is an object with a string "type", as all blocks are.
    [[nodiscard]] bool is_block(const ordered_json& value, const std::string& where) {
        if (!value.is_object()) return add(where, "an object with a \"type\"", &value), false;
        if (find_string(value, "type")) return true;
        return add(where + ".type", "a string", find_member(value, "type")), false;
    }

    [[nodiscard]] static std::string at(const std::string& list, std::size_t index) {
        return list + "[" + std::to_string(index) + "]";
    }

private:
    std::vector<WireViolation>& found_;
    std::size_t message_ = 0;
    std::size_t block_ = 0;
};

}  // namespace whittle::inline v0::detail
