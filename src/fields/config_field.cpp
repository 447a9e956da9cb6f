#include "whittle/base/error.hpp"
#include "whittle/fields/detail/bound_field.hpp"
#include "whittle/fields/detail/check_numbers.hpp"

#include <fmt/format.h>

namespace whittle::inline v0::detail {
namespace {

struct NumberCheck {
    const FieldInfo& info;
    FieldCheck& check;

    // Pointers as the value has them: to `const` they would be a conversion, and the template the better match.
    void operator()(int* number) const { check.at_least(*number, info.lowest, info.name); }
    void operator()(std::int64_t* number) const { check.at_least(*number, info.lowest, info.name); }
    void operator()(std::optional<int>* number) const {
        check.at_least(number->value_or(info.lowest), info.lowest, info.name);
    }
    void operator()(double* number) const {
        if (info.highest == 1) check.fraction(*number, info.name);
    }
    template <typename Other>
    void operator()(const Other&) const {}
};

}  // namespace

void FieldTable::add(FieldInfo info, Binding binding) {
    if (!binding)
        throw Error(Errc::invalid_argument, fmt::format("register key \"{}\": it names no member", info.name));
    infos_.push_back(std::move(info));
    bindings_.push_back(std::move(binding));
}

BoundFields FieldTable::bind(void* object) const {
    BoundFields bound;
    for (std::size_t i = 0; i < infos_.size(); ++i) bound.all.push_back({&infos_[i], bindings_[i](object)});
    return bound;
}

BoundFields FieldTable::defaults() const {
    const std::shared_ptr<void> object = make_object_();
    BoundFields bound = bind(object.get());
    bound.owner = object;
    return bound;
}

BoundObject bound_object(TypeId type, void* object, const SharedTable& table, void (*reset)(void* object)) {
    return {.type = type,
            .now = [object, table] { return table->bind(object); },
            .open =
                [object, table, reset] {
                    if (reset != nullptr) reset(object);
                    return table->bind(object);
                },
            .defaults = [table] { return table->defaults(); }};
}

void check_numbers(const BoundFields& fields, FieldCheck& check) {
    for (const BoundField& field : fields.all) std::visit(NumberCheck{*field.info, check}, field.value);
}

}  // namespace whittle::inline v0::detail
