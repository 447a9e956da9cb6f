#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/chain/middleware.hpp"
#include "whittle/model/model.hpp"

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

/// A member that a key can fill.
template <typename Config>
using ConfigMember = std::variant<bool Config::*, int Config::*, std::int64_t Config::*, double Config::*,
                                  std::string Config::*, std::vector<std::string> Config::*>;

/// One key of a host's own middleware. Its default is what the member has in `Config{}`.
template <typename Config>
struct ConfigField {
    std::string name{};
    ConfigMember<Config> member;       ///< no initialiser, so that the compiler warns where it is missing
    std::string meaning{};             ///< one line, for `config_keys`
    std::int64_t lowest = 0;           ///< of numbers
    std::int64_t highest = INT64_MAX;  ///< of numbers; an `int` ends where its type does
    std::vector<std::string> words{};  ///< of a string: what it may be; empty: anything
    bool required = false;
};

/// Whether an entry has the key "model": a name of the configuration's "models".
enum class AsksModel { no, may, must };

/// A host's own type of middleware, as configurations write it. Beside `fields` an entry has "type" and "name".
template <typename Config>
struct MiddlewareType {
    std::string type{};  ///< a to z, 0 to 9 and _
    std::vector<ConfigField<Config>> fields{};
    /// Reports what the middleware would refuse, by the names of the keys, with or without the entry's name and a dot
    /// in front. Called once for each entry that is read, on the thread that reads, which gets what it throws. Empty:
    /// every value that the fields allow is good.
    std::function<void(const Config&, const ChainInfo&, Problems&)> check{};
    AsksModel asks_model = AsksModel::no;
    std::string task{};  ///< as `Middleware::task`
};

/// What the maker of a middleware is told beside its configuration.
template <AgentMessage M>
struct StageContext {
    std::string name{};                 ///< the entry's "name", or the type's
    std::shared_ptr<Model<M>> model{};  ///< of the key "model"; null: the entry has none
};

namespace detail {

/// A member of a configuration that is being read.
using ConfigValue = std::variant<bool*, int*, std::int64_t*, double*, std::string*, std::vector<std::string>*>;

/// A `ConfigField` without the configuration's type.
struct FieldInfo {
    std::string name{};
    std::string meaning{};
    std::int64_t lowest = 0;
    std::int64_t highest = INT64_MAX;
    std::vector<std::string> words{};
    bool required = false;
};

/// A `MiddlewareType` without the configuration's type, which `std::any` holds. Immutable once it is registered.
struct RegisteredType {
    std::string name{};
    AsksModel asks_model = AsksModel::no;
    std::string task{};
    std::vector<FieldInfo> fields{};
    std::function<std::any()> defaults{};
    std::function<std::vector<ConfigValue>(std::any&)> values_of{};  ///< in the order of `fields`
    std::function<void(const std::any&, const ChainInfo&, Problems&)> check{};
    std::map<std::type_index, std::any> makers{};  ///< by message type; a `StageMaker` of it
};

template <AgentMessage M>
using StageMaker = std::function<std::shared_ptr<Middleware<M>>(const std::any& config, const StageContext<M>&)>;

[[noreturn]] void fail_no_maker(std::string_view type);
[[noreturn]] void fail_other_config();
/// `made`: the name of what the maker made; empty if it made nothing.
[[noreturn]] void fail_made(std::string_view type, std::string_view name, std::string_view made);

/// The configuration that `value` holds. Throws Error(invalid_argument) if it holds another type's, or none.
template <typename Config>
[[nodiscard]] const Config& config_in(const std::any& value) {
    const Config* config = std::any_cast<Config>(&value);
    if (config == nullptr) fail_other_config();
    return *config;
}

template <typename Config>
[[nodiscard]] ConfigValue value_of(Config& config, const ConfigMember<Config>& member) {
    return std::visit([&](auto pointer) -> ConfigValue { return &(config.*pointer); }, member);
}

template <typename Config>
[[nodiscard]] FieldInfo info_of(const ConfigField<Config>& field) {
    const bool has_member = std::visit([](auto pointer) { return pointer != nullptr; }, field.member);
    if (!has_member) throw Error(Errc::invalid_argument, "register key \"" + field.name + "\": it names no member");
    return {field.name, field.meaning, field.lowest, field.highest, field.words, field.required};
}

template <typename Config>
[[nodiscard]] RegisteredType without_type(MiddlewareType<Config> type) {
    RegisteredType plain{.name = std::move(type.type), .asks_model = type.asks_model, .task = std::move(type.task)};
    std::vector<ConfigMember<Config>> members;
    for (const ConfigField<Config>& field : type.fields) {
        plain.fields.push_back(info_of(field));
        members.push_back(field.member);
    }
    plain.defaults = [] { return std::any(Config{}); };
    plain.values_of = [members = std::move(members)](std::any& config) {
        std::vector<ConfigValue> values;
        for (const auto& member : members) values.push_back(value_of(*std::any_cast<Config>(&config), member));
        return values;
    };
    plain.check = [check = std::move(type.check)](const std::any& config, const ChainInfo& chain, Problems& problems) {
        if (check) check(config_in<Config>(config), chain, problems);
    };
    return plain;
}

}  // namespace detail

/// What an entry of a host's own type was read into. `std::any_cast<Config>(&value)` is its configuration. Only reading
/// fills it: no chain is made of one without a type, or with a value of another one.
struct RegisteredConfig {
    std::any value{};
    std::shared_ptr<const detail::RegisteredType> type{};
};

/// The types of middlewares that a host adds to those of a configuration; there is no global list. A value: copies are
/// independent. Registering needs the object for itself; reading with it is thread-safe. Checks and makers are called
/// on the thread that reads or makes, so that two threads that do may call them at once.
class MiddlewareTypes {
public:
    /// Adds a type for chains of each message type `Ms`. `make(config, context)` returns a
    /// `std::shared_ptr<Middleware<M>>` for a `StageContext<M>` of each, whose name is that of the context. Throws
    /// Error(already_exists) if whittle or this object has a type, or whittle a section, of that name, and
    /// Error(invalid_argument) for a name of other characters, a key without member or with a dot, two keys of one name
    /// ("type", "name" and "model" are taken) or one member, `words` of what is no string, and a default which the key
    /// itself does not allow.
    template <AgentMessage... Ms, typename Config, typename Make>
    void register_middleware(MiddlewareType<Config> type, const Make& make) {
        static_assert(sizeof...(Ms) > 0, "name the message types: register_middleware<ChatMessage>(...)");
        detail::RegisteredType plain = detail::without_type(std::move(type));
        (plain.makers.emplace(typeid(Ms), maker_of<Ms, Config>(make)), ...);
        add(std::move(plain));
    }

    [[nodiscard]] const std::vector<std::shared_ptr<const detail::RegisteredType>>& all() const noexcept {
        return types_;
    }

private:
    template <AgentMessage M, typename Config, typename Make>
    [[nodiscard]] static detail::StageMaker<M> maker_of(const Make& make) {
        return [make](const std::any& config, const StageContext<M>& context) -> std::shared_ptr<Middleware<M>> {
            return make(detail::config_in<Config>(config), context);
        };
    }

    void add(detail::RegisteredType type);

    std::vector<std::shared_ptr<const detail::RegisteredType>> types_{};
};

namespace detail {

/// Throws Error(not_offered) if the type was not registered for `M`, and Error(invalid_argument) for settings that were
/// not read, and for a maker that makes nothing or a middleware of another name.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_registered(const RegisteredConfig& config,
                                                             const StageContext<M>& context) {
    if (!config.type) fail_other_config();
    const auto found = config.type->makers.find(typeid(M));
    if (found == config.type->makers.end()) fail_no_maker(config.type->name);
    auto made = std::any_cast<const StageMaker<M>&>(found->second)(config.value, context);
    if (!made || made->name() != context.name)
        fail_made(config.type->name, context.name, made ? made->name() : std::string_view());
    return made;
}

}  // namespace detail

}  // namespace whittle::inline v0
