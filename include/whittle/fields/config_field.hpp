#pragma once

#include "whittle/fields/detail/bound_field.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

namespace detail {
struct MemberBinding;
}  // namespace detail

/// A member of which a key chooses one of `ConfigField::words`.
template <typename Config>
struct WordMember {
    std::function<std::size_t(const Config&)> chosen{};  ///< the index in `words`
    std::function<void(Config&, std::size_t)> choose{};  ///< sets the member to the value of an index in `words`
    std::size_t values = 0;  ///< how many there are: as many as words; 0: `choose` takes any index of a word
};

/// A member that is an object of keys of its own: `object_member` makes it.
template <typename Config>
class ObjectMember {
    friend struct detail::MemberBinding;
    std::function<detail::BoundObject(Config&)> bind_{};
};

/// A member that is one of `ConfigField::words`, or an object of keys of its own.
template <typename Config>
struct WordOrObjectMember {
    WordMember<Config> word{};      ///< taken where the value is a string
    ObjectMember<Config> object{};  ///< taken where the value is an object
};

/// A member that is a list of items which are texts, or objects of keys of their own: `list_member` makes it.
template <typename Config>
class ListMember {
    friend struct detail::MemberBinding;
    std::function<detail::BoundList(Config&)> bind_{};
};

/// A member that has objects by name: `map_member` makes it.
template <typename Config>
class MapMember {
    friend struct detail::MemberBinding;
    std::function<detail::BoundMap(Config&)> bind_{};
};

/// A text that is any JSON object.
template <typename Config>
struct JsonMember {
    std::string Config::*text = nullptr;  ///< the member that gets the object as JSON text
};

/// No member: the key names one of the configuration's models, which the maker gets (`MiddlewareBuildContext::model`).
struct ModelMember {};

/// What a key can fill.
template <typename Config>
using ConfigMember =
    std::variant<bool Config::*, int Config::*, std::int64_t Config::*, double Config::*, std::string Config::*,
                 std::vector<std::string> Config::*, std::optional<bool> Config::*, std::optional<int> Config::*,
                 std::optional<std::int64_t> Config::*, std::optional<double> Config::*,
                 std::variant<bool, std::vector<std::string>> Config::*, std::chrono::milliseconds Config::*,
                 std::shared_ptr<Storage> Config::*, std::shared_ptr<const TokenCounter> Config::*, WordMember<Config>,
                 ObjectMember<Config>, WordOrObjectMember<Config>, ListMember<Config>, MapMember<Config>,
                 JsonMember<Config>, ModelMember>;

/// One key of a configuration, with its documentation. Its default is what the member has in `Config{}`.
template <typename Config>
struct ConfigField {
    std::string name{};                ///< the key
    ConfigMember<Config> member;       ///< no initialiser, so that the compiler warns where it is missing
    std::string meaning{};             ///< one line, for documentation and schema
    std::int64_t lowest = 0;           ///< of numbers
    std::int64_t highest = INT64_MAX;  ///< of numbers; an `int` ends where its type does
    std::vector<std::string> words{};  ///< of a string: what it may be; empty: anything
    bool required = false;             ///< the key must be there
    std::string
        documented_default{};  ///< what the documentation says of the default, where it is not what the member has
};

/// The keys of an object, in the order of the documentation.
template <typename Config>
using ConfigFields = std::vector<ConfigField<Config>>;

namespace detail {

/// How a member that has keys of its own finds them in a configuration.
struct MemberBinding {
    template <typename Member, typename Bind>
    [[nodiscard]] static Member make(Bind bind) {
        Member member;
        member.bind_ = std::move(bind);
        return member;
    }
    template <typename Config, typename Member>
    [[nodiscard]] static auto bind(Config& config, const Member& member) {
        return member.bind_(config);
    }
};

/// Keys whose configuration has a type that who reads them does not know. Immutable, and shared by what it binds.
template <typename Config>
class FieldTable {
public:
    /// Throws Error(invalid_argument) for a key that names no member.
    explicit FieldTable(const ConfigFields<Config>& fields) {
        for (const ConfigField<Config>& field : fields) {
            const auto is_null = [](const auto& member) {
                if constexpr (std::is_member_pointer_v<std::decay_t<decltype(member)>>) return member == nullptr;
                return false;
            };
            if (std::visit(is_null, field.member)) fail_no_member(field.name);
            infos_.push_back({field.name, field.meaning, field.documented_default, field.lowest, field.highest,
                              field.words, field.required});
            members_.push_back(field.member);
        }
    }

    /// Valid while the table and `config` are.
    [[nodiscard]] BoundFields bind(Config& config) const {
        BoundFields bound;
        for (std::size_t i = 0; i < infos_.size(); ++i)
            bound.all.push_back({&infos_[i], value_of(config, members_[i])});
        return bound;
    }
    [[nodiscard]] BoundFields defaults() const {
        const auto config = std::make_shared<Config>();
        BoundFields bound = bind(*config);
        bound.owner = config;
        return bound;
    }

private:
    [[nodiscard]] static FieldValue value_of(Config& config, const ConfigMember<Config>& member) {
        return std::visit([&](const auto& kind) -> FieldValue { return value_of_kind(config, kind); }, member);
    }
    template <typename Value>
    [[nodiscard]] static FieldValue value_of_kind(Config& config, Value Config::*member) {
        return &(config.*member);
    }
    [[nodiscard]] static BoundWord value_of_kind(Config& config, const WordMember<Config>& member) {
        return {member.chosen(config), [&config, &member](std::size_t word) { member.choose(config, word); },
                member.values};
    }
    [[nodiscard]] static FieldValue value_of_kind(Config& config, const WordOrObjectMember<Config>& member) {
        return BoundWordOrObject{value_of_kind(config, member.word), MemberBinding::bind(config, member.object)};
    }
    [[nodiscard]] static FieldValue value_of_kind(Config& config, const ListMember<Config>& member) {
        return MemberBinding::bind(config, member);
    }
    [[nodiscard]] static FieldValue value_of_kind(Config& config, const ObjectMember<Config>& member) {
        return MemberBinding::bind(config, member);
    }
    [[nodiscard]] static FieldValue value_of_kind(Config& config, const MapMember<Config>& member) {
        return MemberBinding::bind(config, member);
    }
    [[nodiscard]] static FieldValue value_of_kind(Config& config, const JsonMember<Config>& member) {
        return BoundJson{&(config.*member.text)};
    }
    [[nodiscard]] static FieldValue value_of_kind(Config&, ModelMember) { return BoundModel{}; }

    std::vector<FieldInfo> infos_{};
    std::vector<ConfigMember<Config>> members_{};
};

template <typename Object>
using SharedTable = std::shared_ptr<const FieldTable<Object>>;

template <typename Object>
[[nodiscard]] SharedTable<Object> shared_table(const ConfigFields<Object>& fields) {
    return std::make_shared<const FieldTable<Object>>(fields);
}

}  // namespace detail

/// One of `values`, which are in the order of `ConfigField::words`. Of a member that `Config` inherits: name `Config`.
template <typename Config, typename Of, typename Word>
[[nodiscard]] WordMember<Config> word_member(Word Of::*member, std::vector<Word> values) {
    return {[member, values](const Config& config) {
                return static_cast<std::size_t>(std::ranges::find(values, config.*member) - values.begin());
            },
            [member, values](Config& config, std::size_t word) { config.*member = values.at(word); }, values.size()};
}

template <typename Config, typename Word>
[[nodiscard]] WordMember<Config> word_member(Word Config::*member, std::vector<Word> values) {
    return word_member<Config, Config>(member, std::move(values));
}

/// What a key leaves as it is that is not in an object which is given.
enum class GivenObject {
    merges,    ///< all others have what they had
    replaces,  ///< all others have their defaults
};

/// The key is an object with keys of its own, those of `fields`.
template <typename Config, typename Object>
[[nodiscard]] ObjectMember<Config> object_member(Object Config::*member, const ConfigFields<Object>& fields,
                                                 GivenObject given = GivenObject::merges) {
    return detail::MemberBinding::make<ObjectMember<Config>>(
        [member, table = detail::shared_table(fields), given](Config& config) {
            Object& object = config.*member;
            return detail::BoundObject{.type = detail::type_id<Object>(),
                                       .now = [&object, table] { return table->bind(object); },
                                       .open =
                                           [&object, table, given] {
                                               if (given == GivenObject::replaces) object = Object{};
                                               return table->bind(object);
                                           },
                                       .defaults = [table] { return table->defaults(); }};
        });
}

/// What the value false means for an object that need not be there.
enum class FalseObject { refused, removes };

/// The same for an object that need not be there: the key makes it.
template <typename Config, typename Object>
[[nodiscard]] ObjectMember<Config> object_member(std::optional<Object> Config::*member,
                                                 const ConfigFields<Object>& fields,
                                                 FalseObject given_false = FalseObject::refused) {
    return detail::MemberBinding::make<ObjectMember<Config>>(
        [member, table = detail::shared_table(fields), given_false](Config& config) {
            std::optional<Object>& object = config.*member;
            return detail::BoundObject{
                .type = detail::type_id<Object>(),
                .may_be_false = given_false == FalseObject::removes,
                .now = [&object, table] { return object ? std::optional(table->bind(*object)) : std::nullopt; },
                .open = [&object, table] { return table->bind(object ? *object : object.emplace()); },
                .close = [&object] { object.reset(); },
                .defaults = [table] { return table->defaults(); }};
        });
}

/// An item that is a text fills `text` of it.
template <typename Config, typename Item>
[[nodiscard]] ListMember<Config> list_member(std::vector<Item> Config::*member, std::string Item::*text,
                                             const ConfigFields<Item>& fields) {
    return detail::MemberBinding::make<ListMember<Config>>(
        [member, text, table = detail::shared_table(fields)](Config& config) {
            std::vector<Item>& items = config.*member;
            return detail::BoundList{
                .type = detail::type_id<Item>(),
                .add_text = [&items, text](std::string given) { items.emplace_back().*text = std::move(given); },
                .add_object = [&items, table] { return table->bind(items.emplace_back()); },
                .defaults = [table] { return table->defaults(); }};
        });
}

/// `name_of`: what a name stands for, in capitals, such as "TOOL".
template <typename Config, typename Object>
[[nodiscard]] MapMember<Config> map_member(std::map<std::string, Object> Config::*member,
                                           const ConfigFields<Object>& fields, std::string name_of) {
    return detail::MemberBinding::make<MapMember<Config>>(
        [member, table = detail::shared_table(fields), name_of = std::move(name_of)](Config& config) {
            std::map<std::string, Object>& objects = config.*member;
            return detail::BoundMap{
                .type = detail::type_id<Object>(),
                .name_of = name_of,
                .now =
                    [&objects, table] {
                        std::vector<std::pair<std::string, detail::BoundFields>> now;
                        for (auto& [name, object] : objects) now.emplace_back(name, table->bind(object));
                        return now;
                    },
                .open = [&objects, table](const std::string& name) { return table->bind(objects[name]); },
                .defaults = [table] { return table->defaults(); }};
        });
}

}  // namespace whittle::inline v0
