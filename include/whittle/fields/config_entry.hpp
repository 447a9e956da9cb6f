#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Values by name, such as those of a program's environment; nothing: it has no value.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view)>;

/// What can be asked when what a configuration names is made, and as long as it lives.
struct ConfigContext {
    EnvironmentLookup lookup{};  ///< empty: it has no values
};

/// An object of a configuration while it is read: what its type can ask, and report, beside the values of its fields.
class ConfigEntry {
public:
    virtual ~ConfigEntry() = default;

    /// Whether the object has that key.
    [[nodiscard]] virtual bool gives(std::string_view key) const = 0;
    /// The name of the model that a key gives, or a preset; empty: none.
    [[nodiscard]] virtual std::string_view model(std::string_view key) const = 0;
    /// The environment as the host lets it be seen; empty: not at all.
    [[nodiscard]] virtual const EnvironmentLookup& lookup() const = 0;
    /// A path that is relative to the configuration, as one that is not.
    [[nodiscard]] virtual std::string resolved(const std::string& path) const = 0;

    /// Reports a key that is not there.
    virtual void missing(std::string_view key, std::string_view expected) = 0;
    /// Reports the value of a key that is there.
    virtual void unexpected(std::string_view key, std::string_view expected) = 0;
    /// Reports anything else about a key that is there.
    virtual void problem(std::string_view key, std::string_view text) = 0;
    /// Reports a value of the environment.
    virtual void unexpected_variable(std::string_view name, std::string_view value, std::string_view expected) = 0;
    /// The environment has a model's name, which is as if the entry had it under that key; empty: it has none.
    virtual void take_model_from_environment(std::string_view key, std::string_view variable) = 0;
};

}  // namespace whittle::inline v0
