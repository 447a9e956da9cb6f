#pragma once

#include "whittle/base/version.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON as the core needs it. The parser of nlohmann_json is heavy to compile; it is compiled once, in json.cpp.

namespace whittle::inline v0::detail {

/// A value in a JSON text that was parsed. Copies share what was parsed. Of members with one name the last one stands.
class JsonValue {
public:
    [[nodiscard]] bool is_null() const noexcept;
    [[nodiscard]] bool is_array() const noexcept;
    [[nodiscard]] bool is_object() const noexcept;
    /// The string that it is, or null.
    [[nodiscard]] const std::string* string() const noexcept;
    [[nodiscard]] std::optional<bool> boolean() const noexcept;
    /// The whole number that it is, if it is in range.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> natural() const noexcept;

    /// Elements of an array or members of an object; 0 of everything else.
    [[nodiscard]] std::size_t size() const noexcept;
    /// The elements of an array, or what the members of an object are, by name.
    [[nodiscard]] std::vector<JsonValue> values() const;
    /// The members of an object by name; none of everything else. The names live as long as the values.
    [[nodiscard]] std::vector<std::pair<std::string_view, JsonValue>> members() const;
    /// That member of an object, or nothing.
    [[nodiscard]] std::optional<JsonValue> find(std::string_view name) const;
    /// The string of that member, or null; it lives as long as the values.
    [[nodiscard]] const std::string* find_string(std::string_view name) const;

    /// As JSON; of an array or object, which may be nested to any depth, nothing.
    [[nodiscard]] std::string literal() const;

private:
    explicit JsonValue(std::shared_ptr<const void> value) : value_(std::move(value)) {}
    [[nodiscard]] JsonValue beside(const void* value) const { return JsonValue({value_, value}); }
    friend JsonValue parse_json(std::string_view text);
    friend JsonValue require_json(std::string_view text, std::string_view operation);

    std::shared_ptr<const void> value_;  // nlohmann::json
};

/// Without recursion on the depth. A text that is no JSON gives a value of no kind.
[[nodiscard]] JsonValue parse_json(std::string_view text);

/// The same, but throws Error(parse_failed), "`operation`: offset 7: not JSON".
[[nodiscard]] JsonValue require_json(std::string_view text, std::string_view operation);

[[nodiscard]] bool is_json(std::string_view text);

/// The strings in a JSON text, at any depth, but no names; none if it is no JSON.
[[nodiscard]] std::vector<std::string> strings_in_json(std::string_view text);

/// A JSON literal of `text`; what is not UTF-8 becomes U+FFFD.
void append_json_literal(std::string& out, std::string_view text);

/// Writes JSON without white space.
class JsonWriter {
public:
    void open_object() { open('{'); }
    void close_object() { out_ += '}'; }
    void open_array() { open('['); }
    void close_array() { out_ += ']'; }

    void value(std::string_view text);
    template <std::integral Number>
    void value(Number number) {
        separate();
        if constexpr (std::same_as<Number, bool>) {
            out_ += number ? "true" : "false";
        } else {
            out_ += std::to_string(number);
        }
    }
    /// In the fewest digits that read back as the same number; JSON has no other than finite ones, so those become 0.
    void value(double number);
    /// Of a member; what it is comes next.
    void name(std::string_view name);
    template <typename Value>
    void member(std::string_view member_name, const Value& is) {
        name(member_name);
        value(is);
    }
    /// A string; one that is not UTF-8 as {"base64": ...}, so that nothing is lost.
    void bytes_member(std::string_view member_name, std::string_view bytes);

    [[nodiscard]] std::string take() noexcept { return std::move(out_); }

private:
    void open(char bracket) {
        separate();
        out_ += bracket;
    }
    /// A comma behind a value.
    void separate();

    std::string out_{};
};

}  // namespace whittle::inline v0::detail
