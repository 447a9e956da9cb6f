#pragma once

#include "whittle/base/detail/type_id.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

class Storage;
class TokenCounter;

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

/// A `ConfigField` without what it fills.
struct FieldInfo {
    std::string name{};
    std::string meaning{};
    std::string fallback{};
    std::int64_t lowest = 0;
    std::int64_t highest = INT64_MAX;
    std::vector<std::string> words{};
    bool required = false;
};

struct BoundFields;

/// One of `FieldInfo::words`.
struct BoundWord {
    std::size_t now = 0;
    std::function<void(std::size_t)> choose{};
    std::size_t values = 0;  ///< 0: as many as words
};

/// An object of keys of its own.
struct BoundObject {
    TypeId type;                                        ///< of the object: its keys are documented once
    bool may_be_false = false;                          ///< which takes it away
    std::function<std::optional<BoundFields>()> now{};  ///< nullopt: it is not there
    std::function<BoundFields()> open{};                ///< to be read into: it is there afterwards
    std::function<void()> close{};                      ///< of one that may be false
    std::function<BoundFields()> defaults{};
};

/// One of `FieldInfo::words`, or an object of keys of its own.
struct BoundWordOrObject {
    BoundWord word{};
    BoundObject object;
};

/// A list whose items are texts, or objects of keys of their own.
struct BoundList {
    TypeId type;
    std::function<void(std::string)> add_text{};
    std::function<BoundFields()> add_object{};
    std::function<BoundFields()> defaults{};
};

/// Objects by name.
struct BoundMap {
    TypeId type;
    std::string name_of{};  ///< what a name stands for, in capitals
    std::function<std::vector<std::pair<std::string, BoundFields>>()> now{};
    std::function<BoundFields(const std::string&)> open{};
    std::function<BoundFields()> defaults{};
};

/// A text that is any JSON object.
struct BoundJson {
    std::string* text = nullptr;
};

/// The name of a model.
struct BoundModel {};

using FlagOrTexts = std::variant<bool, std::vector<std::string>>;

using FieldValue =
    std::variant<bool*, int*, std::int64_t*, double*, std::string*, std::vector<std::string>*, std::optional<bool>*,
                 std::optional<int>*, std::optional<std::int64_t>*, std::optional<double>*, FlagOrTexts*,
                 std::chrono::milliseconds*, std::shared_ptr<Storage>*, std::shared_ptr<const TokenCounter>*, BoundWord,
                 BoundObject, BoundWordOrObject, BoundList, BoundMap, BoundJson, BoundModel>;

/// Whether a key can fill a member of that type.
template <typename Value>
concept FieldMember = std::is_constructible_v<FieldValue, Value*>;

/// What a key fills of an object, which is of the type that the key is for. Empty: nothing.
using Binding = std::function<FieldValue(void* object)>;

/// A key, and what it fills of one object. Valid while both are.
struct BoundField {
    const FieldInfo* info;
    FieldValue value;
};

/// The keys of one object. `owner` keeps the object where nobody else does.
struct BoundFields {
    std::vector<BoundField> all{};
    std::shared_ptr<void> owner{};
};

/// The keys of objects of a type that who reads them does not know. What it binds is valid while it lives and
/// gets no further key.
class FieldTable {
public:
    /// `make_object`: one with its defaults.
    explicit FieldTable(std::function<std::shared_ptr<void>()> make_object) : make_object_(std::move(make_object)) {}

    /// Throws Error(invalid_argument) if the binding is empty: the key names no member.
    void add(FieldInfo info, Binding binding);
    [[nodiscard]] BoundFields bind(void* object) const;
    [[nodiscard]] BoundFields defaults() const;

private:
    std::function<std::shared_ptr<void>()> make_object_;
    std::vector<FieldInfo> infos_{};
    std::vector<Binding> bindings_{};
};

using SharedTable = std::shared_ptr<const FieldTable>;

/// An object that is always there. `reset`: gives it its defaults before it is read into; null: it keeps what it has.
[[nodiscard]] BoundObject bound_object(TypeId type, void* object, const SharedTable& table,
                                       void (*reset)(void* object));

}  // namespace whittle::inline v0::detail
