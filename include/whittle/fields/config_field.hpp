#pragma once

#include "whittle/fields/detail/bound_field.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

template <typename Config>
class ConfigMember;

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

namespace detail {

/// How a member finds what it fills in a configuration.
struct MemberBinding {
    template <typename Member, typename Bind>
    [[nodiscard]] static Member make(Bind bind) {
        Member member;
        member.bind_ = std::move(bind);
        return member;
    }
    template <typename Config>
    [[nodiscard]] static const Binding& of(const ConfigMember<Config>& member) {
        return member.bind_;
    }

    template <typename Config>
    [[nodiscard]] static BoundWord value_of(Config& config, const WordMember<Config>& member) {
        return {member.chosen(config), [&config, &member](std::size_t word) { member.choose(config, word); },
                member.values};
    }
    template <typename Config>
    [[nodiscard]] static BoundObject value_of(Config& config, const ObjectMember<Config>& member) {
        return member.bind_(config);
    }
    template <typename Config>
    [[nodiscard]] static BoundWordOrObject value_of(Config& config, const WordOrObjectMember<Config>& member) {
        return {value_of(config, member.word), value_of(config, member.object)};
    }
    template <typename Config>
    [[nodiscard]] static BoundList value_of(Config& config, const ListMember<Config>& member) {
        return member.bind_(config);
    }
    template <typename Config>
    [[nodiscard]] static BoundMap value_of(Config& config, const MapMember<Config>& member) {
        return member.bind_(config);
    }
    template <typename Config>
    [[nodiscard]] static BoundModel value_of(Config&, const ModelMember&) {
        return {};
    }
};

template <typename Base, typename Config>
concept BaseOf = std::derived_from<Config, Base>;

template <typename Kind, typename Config>
concept MemberOf = requires(Config& config, const Kind& kind) {
    MemberBinding::value_of(config, kind);
};

}  // namespace detail

/// What a key fills: a member of `Config`, or what the functions below make of one.
template <typename Config>
class ConfigMember {
public:
    /// A member of `Config` or of a base: bool, int, std::int64_t, double, std::string, an optional of the first four,
    /// std::vector<std::string>, that or a bool, milliseconds, a shared `Storage` or `const TokenCounter`.
    template <detail::FieldMember Value, detail::BaseOf<Config> Of>
    ConfigMember(Value Of::*member) {
        if (member == nullptr) return;
        bind_ = [member](void* config) -> detail::FieldValue { return &(static_cast<Config*>(config)->*member); };
    }
    /// A member that is more than a value: `WordMember`, `ObjectMember`, `WordOrObjectMember`, `ListMember`,
    /// `MapMember`, `JsonMember`, `ModelMember`.
    template <detail::MemberOf<Config> Kind>
    ConfigMember(Kind kind)
        : bind_([kind = std::move(kind)](void* config) -> detail::FieldValue {
              return detail::MemberBinding::value_of(*static_cast<Config*>(config), kind);
          }) {}
    ConfigMember(JsonMember<Config> json) {
        if (json.text == nullptr) return;
        bind_ = [json](void* config) -> detail::FieldValue {
            return detail::BoundJson{&(static_cast<Config*>(config)->*json.text)};
        };
    }

private:
    friend struct detail::MemberBinding;
    detail::Binding bind_{};
};

/// One key of a configuration, with its documentation. Its default is what the member has in `Config{}`.
template <typename Config>
struct ConfigField {
    std::string name{};                ///< the key
    ConfigMember<Config> member;       ///< what it fills; without a default, so that none is forgotten
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

/// Throws Error(invalid_argument) for a key that names no member.
template <typename Config>
[[nodiscard]] FieldTable table_of(const ConfigFields<Config>& fields) {
    FieldTable table([] { return std::make_shared<Config>(); });
    for (const ConfigField<Config>& field : fields)
        table.add({field.name, field.meaning, field.documented_default, field.lowest, field.highest, field.words,
                   field.required},
                  MemberBinding::of(field.member));
    return table;
}

template <typename Object>
[[nodiscard]] SharedTable shared_table(const ConfigFields<Object>& fields) {
    return std::make_shared<const FieldTable>(table_of(fields));
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
            void (*const reset)(void*) = [](void* object) { *static_cast<Object*>(object) = Object{}; };
            return detail::bound_object(detail::type_id<Object>(), &(config.*member), table,
                                        given == GivenObject::replaces ? reset : nullptr);
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
                .now = [&object, table] { return object ? std::optional(table->bind(&*object)) : std::nullopt; },
                .open = [&object, table] { return table->bind(object ? &*object : &object.emplace()); },
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
                .add_object = [&items, table] { return table->bind(&items.emplace_back()); },
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
                        for (auto& [name, object] : objects) now.emplace_back(name, table->bind(&object));
                        return now;
                    },
                .open = [&objects, table](const std::string& name) { return table->bind(&objects[name]); },
                .defaults = [table] { return table->defaults(); }};
        });
}

}  // namespace whittle::inline v0
