#pragma once

#include "whittle/fields/config_entry.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/tokens/counter.hpp"

#include <functional>
#include <memory>
#include <string>

namespace whittle::inline v0 {

/// A counter of tokens, as configurations write it. Beside `fields` its object has "counter".
template <typename Config>
struct CounterType {
    std::string type{};  ///< a to z, 0 to 9 and _
    /// The keys of its object.
    ConfigFields<Config> fields{};
    /// Called while the configuration is read; what it throws is reported at the counter's name.
    std::function<std::shared_ptr<const TokenCounter>(const Config&, const ConfigContext&)> open{};
    /// Called once the keys are read: what several of them say together, or the environment. Empty: nothing.
    std::function<void(Config&, ConfigEntry&)> after_fields_read{};
};

/// A counter that has no settings.
struct PlainCounterConfig {};

/// Type "chars": `chars_counter`.
[[nodiscard]] CounterType<CharsOptions> chars_counter_type();
/// Type "pessimistic": `pessimistic_counter`.
[[nodiscard]] CounterType<PlainCounterConfig> pessimistic_counter_type();
/// Type "estimate": `estimate_counter`.
[[nodiscard]] CounterType<PlainCounterConfig> estimate_counter_type();

namespace detail {
/// Calls `visit(type)` for each counter of the core. The first one counts where a configuration does not say.
template <typename Visit>
void visit_core_counters(const Visit& visit) {
    visit(chars_counter_type());
    visit(pessimistic_counter_type());
    visit(estimate_counter_type());
}
}  // namespace detail

}  // namespace whittle::inline v0
