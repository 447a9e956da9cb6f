#include "whittle/provider/http_model_settings.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace whittle::inline v0::detail {

namespace {

/// `[A-Z_][A-Z0-9_]*`. Narrower than what a shell takes: a key that was written where a name belongs must not pass for
/// one, since names are told in errors.
bool is_variable_name(std::string_view name) noexcept {
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return !name.empty() && (name[0] < '0' || name[0] > '9') &&
           name.find_first_not_of(allowed) == std::string_view::npos;
}

[[noreturn]] void refuse_key(const std::string& name, std::string_view reason) {
    throw Error(Errc::invalid_config, fmt::format("make model \"{}\": {}", name, reason));
}

}  // namespace

void check_http_model(const HttpModelSettings& settings, ConfigEntry& entry) {
    const std::string& url = settings.base_url;
    if (entry.gives("base_url") && !url.starts_with("http://") && !url.starts_with("https://"))
        entry.unexpected("base_url", "an address that begins with http:// or https://");
    if (entry.gives("api_key_env") && !is_variable_name(settings.api_key_env))
        entry.problem("api_key_env",
                      "expected the name of an environment value in capital letters, such as OPENAI_API_KEY");
}

std::string look_up_key(const HttpModelSettings& settings, const std::string& name, const HttpModelSource& source) {
    if (settings.api_key_env.empty()) return {};
    if (!is_variable_name(settings.api_key_env))  // perhaps it is the key: not shown
        refuse_key(name, "api_key_env is not the name of an environment value: capital letters, digits and _");
    const auto key = source.lookup ? source.lookup(settings.api_key_env) : std::nullopt;
    if (!key || key->empty())
        refuse_key(name, fmt::format("the environment has no value \"{}\"", settings.api_key_env));
    return *key;
}

}  // namespace whittle::inline v0::detail
