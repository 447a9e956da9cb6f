#include "config_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace whittle::inline v0 {

namespace detail {

namespace {

[[noreturn]] void refuse_type(Errc code, std::string_view what, std::string_view type, std::string_view why) {
    throw Error(code, fmt::format("register {} \"{}\": {}", what, type, why));
}

bool is_type_name(std::string_view name) {
    const auto is_good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    return !name.empty() && std::ranges::all_of(name, is_good);
}

/// What is wrong with a key, whose default is `value`; empty: nothing.
struct KeyFault {
    const FieldInfo& field;

    std::string operator()(int* value) const { return of_number(std::int64_t{*value}); }
    std::string operator()(std::int64_t* value) const { return of_number(*value); }
    std::string operator()(double* value) const { return of_number(*value); }
    std::string operator()(std::string* value) const {
        if (field.words.empty() || field.required || std::ranges::count(field.words, *value) > 0) return {};
        return fmt::format("its default \"{}\" is none of its words", *value);
    }
    std::string operator()(const BoundWord& word) const {
        if (word.values != 0 && word.values != field.words.size())
            return fmt::format("{} words for {} values", field.words.size(), word.values);
        const bool is_known = word.now < field.words.size() || !field.fallback.empty();
        return is_known ? "" : "its default is none of its words";
    }
    template <typename Other>
    std::string operator()(const Other&) const {
        return field.words.empty() ? "" : "only a string can have words";
    }

private:
    template <typename Number>
    [[nodiscard]] std::string of_number(Number value) const {
        if (field.lowest > field.highest) return fmt::format("{} to {} is no range", field.lowest, field.highest);
        const bool is_open = field.highest == INT64_MAX;
        const bool is_inside =
            value >= static_cast<Number>(field.lowest) && (is_open || value <= static_cast<Number>(field.highest));
        if (!field.required && field.fallback.empty() && !is_inside)
            return fmt::format("its default {} is outside of its range", value);
        return field.words.empty() ? "" : "only a string can have words";
    }
};

std::string key_fault(const BoundField& field) {
    if (field.info->name.empty()) return "it has no name";
    if (field.info->name.find('.') != std::string::npos) return "it has a dot, which separates keys in paths";
    return std::visit(KeyFault{*field.info}, field.value);
}

/// The member that a key fills; null: it fills none, or in a way of its own.
const void* member_of(const FieldValue& value) {
    return std::visit(
        [](const auto& kind) -> const void* {
            if constexpr (std::is_pointer_v<std::decay_t<decltype(kind)>>) return kind;
            return nullptr;
        },
        value);
}

/// Whether only a middleware can have such a key: who else would be asked for the model, or opens the storage?
bool is_reference(const FieldValue& value) {
    return std::holds_alternative<BoundModel>(value) || std::holds_alternative<std::shared_ptr<Storage>*>(value);
}

enum class References { allowed, refused };

/// What is wrong with a key, or with one below it; empty: nothing. `taken`: names and members that are.
std::string field_fault(const BoundField& field, References references);

std::string fields_fault(const BoundFields& fields, std::set<std::string_view> taken, References references) {
    std::set<const void*> members;
    for (const BoundField& field : fields.all) {
        std::string fault = field_fault(field, references);
        const void* member = member_of(field.value);
        if (fault.empty() && !taken.insert(field.info->name).second) fault = "a second key of that name";
        if (fault.empty() && member != nullptr && !members.insert(member).second)
            fault = "another key fills its member";
        if (!fault.empty()) return fmt::format("key \"{}\": {}", field.info->name, fault);
    }
    return {};
}

std::string field_fault(const BoundField& field, References references) {
    if (references == References::refused && is_reference(field.value))
        return "only a middleware's own keys can name a model or a storage";
    if (const auto* object = std::get_if<BoundObject>(&field.value))
        return fields_fault(object->defaults(), {}, references);
    if (const auto* map = std::get_if<BoundMap>(&field.value)) return fields_fault(map->defaults(), {}, references);
    if (const auto* either = std::get_if<BoundWordOrObject>(&field.value))
        return fields_fault(either->object.defaults(), {}, References::refused);
    if (const auto* list = std::get_if<BoundList>(&field.value))
        return fields_fault(list->defaults(), {}, References::refused);
    return key_fault(field);
}

/// `taken`: keys that are no fields.
void check_row(std::string_view what, const Row& row, const std::set<std::string_view>& taken, References references) {
    if (!is_type_name(row.name))
        refuse_type(Errc::invalid_argument, what, row.name, "a type has characters a to z, 0 to 9 and _");
    std::any config = row.defaults();
    const std::string fault = fields_fault(row.bind(config), taken, references);
    if (!fault.empty()) refuse_type(Errc::invalid_argument, what, row.name, fault);
}

/// Adds a row whose name neither the core nor the host has.
template <typename RowType>
void add_row(std::string_view what, SharedRows<RowType>& rows, const SharedRows<RowType>& of_core, RowType row,
             const std::set<std::string_view>& taken, References references = References::refused) {
    if (find_row(rows, row.name) || find_row(of_core, row.name))
        refuse_type(Errc::already_exists, what, row.name, "there is a type of that name");
    check_row(what, row, taken, references);
    rows.push_back(std::make_shared<const RowType>(std::move(row)));
}

ConfigRows make_core_rows() {
    ConfigRows rows;
    visit_core_middlewares([&](const auto& type, const auto&) {
        rows.middlewares.push_back(std::make_shared<const MiddlewareRow>(middleware_row(type)));
    });
    visit_core_models([&](const auto& type, const auto&) {
        rows.models.push_back(std::make_shared<const ModelRow>(row_of<ModelRow>(type)));
    });
    visit_core_stores(
        [&](const auto& type) { rows.stores.push_back(std::make_shared<const StoreRow>(store_row(type))); });
    visit_core_counters(
        [&](const auto& type) { rows.counters.push_back(std::make_shared<const CounterRow>(counter_row(type))); });
    rows.caches.assign(cache_profiles().begin(), cache_profiles().end());
    for (const ValidityProfile* profile : validity_profiles())
        rows.rules.push_back(std::make_shared<const ValidityProfile>(*profile));
    return rows;
}

template <typename Items>
void append(Items& all, const Items& own) {
    all.insert(all.end(), own.begin(), own.end());
}

/// Refuses a key of a store around others that one of `rows` has, too: one of them would never get it.
template <typename RowType>
void refuse_shared_keys(const SharedRows<RowType>& rows, const Row& around) {
    std::any config = around.defaults();
    for (const BoundField& field : around.bind(config).all) {
        for (const auto& row : rows) {
            std::any other = row->defaults();
            if (row->name != around.name && find_field(row->bind(other), field.info->name) != nullptr)
                refuse_type(Errc::already_exists, "store around others", around.name,
                            fmt::format("\"{}\" has the key \"{}\"", row->name, field.info->name));
        }
    }
}

}  // namespace

const ConfigRows& core_rows() {
    static const ConfigRows rows = make_core_rows();
    return rows;
}

ConfigRows with_core(const ConfigRows& own) {
    ConfigRows all = core_rows();
    append(all.middlewares, own.middlewares);
    append(all.models, own.models);
    append(all.stores, own.stores);
    append(all.around, own.around);
    append(all.counters, own.counters);
    append(all.caches, own.caches);
    append(all.rules, own.rules);
    return all;
}

void fail_no_maker(std::string_view what, std::string_view type) {
    throw Error(Errc::not_offered,
                fmt::format("make {}: type \"{}\" is not registered for this message type", what, type));
}

void fail_unknown(std::string_view what, std::string_view name) {
    throw Error(
        Errc::not_offered,
        fmt::format("make {0}: type \"{1}\" is not registered: `ConfigSource::types` has to have it", what, name));
}

void fail_other_config() {
    throw Error(Errc::invalid_argument,
                "make what a configuration names: the settings were not read, or hold another type's configuration");
}

void fail_no_function(std::string_view type) {
    throw Error(Errc::invalid_argument, fmt::format("register \"{}\": it has no function that makes it", type));
}

void fail_made(std::string_view what, std::string_view type, std::string_view name, std::string_view made) {
    throw Error(Errc::invalid_argument,
                fmt::format("make {} \"{}\": the maker of type \"{}\" made {}", what, name, type,
                            made.empty() ? std::string("none") : fmt::format("one named \"{}\"", made)));
}

std::shared_ptr<const ModelRow> row_of_model(const ModelSettings& settings) {
    if (settings.type.empty())
        throw Error(Errc::not_offered,
                    fmt::format("make model \"{}\": it is a provider's name: give make_chain a maker "
                                "that knows it",
                                settings.name));
    auto row = find_row(&ConfigRows::models, rows_of(settings.types), settings.type);
    if (!row) fail_unknown("model", settings.type);
    return row;
}

std::shared_ptr<const MiddlewareRow> row_of_stage(const StageSettings& stage, const ConfigTypes& types) {
    auto row = find_row(&ConfigRows::middlewares, rows_of(types), stage.type);
    if (!row) fail_unknown("middleware", stage.type);
    return row;
}

}  // namespace detail

void ConfigTypes::add(detail::MiddlewareRow row) {
    if (detail::is_top_level_key(row.name))
        detail::refuse_type(Errc::already_exists, "middleware", row.name, "configurations have a section of that name");
    detail::add_row("middleware", rows_.middlewares, detail::core_rows().middlewares, std::move(row), {"type", "name"},
                    detail::References::allowed);
}

void ConfigTypes::add(detail::ModelRow row) {
    detail::add_row("model", rows_.models, detail::core_rows().models, std::move(row), {"type"});
}

void ConfigTypes::add(detail::StoreRow row) {
    const detail::SharedRows<detail::StoreRow> only{std::make_shared<const detail::StoreRow>(row)};
    for (const auto& around : rows_.around) detail::refuse_shared_keys(only, *around);
    detail::add_row("store", rows_.stores, detail::core_rows().stores, std::move(row), {"type"});
}

void ConfigTypes::add(detail::StoreAroundRow row) {
    detail::refuse_shared_keys(detail::core_rows().stores, row);
    detail::refuse_shared_keys(rows_.stores, row);
    detail::refuse_shared_keys(rows_.around, row);
    std::any config = row.defaults();
    for (const detail::BoundField& field : row.bind(config).all) {
        if (field.info->required)
            detail::refuse_type(
                Errc::invalid_argument, "store around others", row.name,
                fmt::format("key \"{}\" is required: it is there only where a file asks for it", field.info->name));
    }
    detail::add_row("store around others", rows_.around, {}, std::move(row), {"type"});
}

void ConfigTypes::add(detail::CounterRow row) {
    detail::add_row("counter", rows_.counters, detail::core_rows().counters, std::move(row), {"counter"});
}

void ConfigTypes::register_cache_profile(CacheProfile profile) {
    for (const CacheProfile& known : detail::with_core(rows_).caches) {
        if (known.name == profile.name)
            detail::refuse_type(Errc::already_exists, "cache profile", profile.name, "there is one of that name");
    }
    rows_.caches.push_back(std::move(profile));
}

void ConfigTypes::register_validity_profile(ValidityProfile profile) {
    if (detail::find_row(detail::with_core(rows_).rules, profile.name))
        detail::refuse_type(Errc::already_exists, "validity profile", profile.name, "there is one of that name");
    rows_.rules.push_back(std::make_shared<const ValidityProfile>(std::move(profile)));
}

}  // namespace whittle::inline v0
