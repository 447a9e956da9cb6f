#include "tool_models.hpp"

#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/openai/openai_chat_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace whittle::cli {
namespace {

/// What stands between "://" and the path; nothing if the address has a shape that readers differ about.
std::optional<std::string_view> authority_of(std::string_view url) noexcept {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::nullopt;
    url.remove_prefix(scheme + 3);
    const std::string_view authority = url.substr(0, url.find('/'));
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:[]-";
    if (authority.empty() || authority.find_first_not_of(plain) != std::string_view::npos) return std::nullopt;
    return authority;
}

/// 127.0.0.0/8 in the one form with four decimal numbers.
bool is_loopback_number(std::string_view host) noexcept {
    int parts = 0;
    for (std::string_view rest = host; !rest.empty(); ++parts) {
        const std::string_view part = rest.substr(0, rest.find('.'));
        unsigned value = 256;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        const bool has_extra_zero = part.size() > 1 && part.front() == '0';
        if (error != std::errc() || end != part.data() + part.size() || value > 255 || has_extra_zero) return false;
        if (parts == 0 && value != 127) return false;
        if (part.size() == rest.size()) return parts == 3;
        rest.remove_prefix(part.size() + 1);
    }
    return false;
}

}  // namespace

bool is_loopback(std::string_view base_url) noexcept {
    const auto authority = authority_of(base_url);
    if (!authority) return false;
    if (authority->starts_with("[::1]")) return authority->size() == 5 || (*authority)[5] == ':';
    const std::string_view host = authority->substr(0, authority->find(':'));
    return host == "localhost" || is_loopback_number(host);
}

std::string host_of(std::string_view base_url) {
    const std::size_t scheme = base_url.find("://");
    if (scheme == std::string_view::npos) return "an address without a scheme";
    std::string_view rest = base_url.substr(scheme + 3);
    rest = rest.substr(0, rest.find_first_of("/?#\\"));
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
    return fmt::format("{}://{}", base_url.substr(0, scheme), rest);
}

std::string address_of(const ModelSettings& model) {
    const HttpModelSettings* settings = http_settings_of(model);
    if (settings != nullptr && !settings->base_url.empty()) return settings->base_url;
    return model.type == "anthropic" ? AnthropicModelConfig{}.base_url : OpenAIModelConfig{}.base_url;
}

void require_local(const ModelSettings& model, bool allow_remote) {
    if (allow_remote || model.type == "scripted") return;
    if (http_settings_of(model) == nullptr)
        throw UsageError{
            fmt::format("model \"{}\" is of the type \"{}\", which may be on another machine; --allow-remote asks it",
                        model.name, model.type)};
    const std::string address = address_of(model);
    if (is_loopback(address)) return;
    throw UsageError{
        fmt::format("model \"{}\" is at {}: messages would be sent there, which may cost money; --allow-remote does it",
                    model.name, host_of(address))};
}

}  // namespace whittle::cli
