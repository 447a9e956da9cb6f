#include "arguments.hpp"

#include <whittle/base/error.hpp>

#include <algorithm>

namespace agent {
namespace {

using whittle::Errc;
using whittle::Error;

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
    throw Error(Errc::invalid_argument, "read the arguments: \"" + name + "\": " + reason);
}

}  // namespace

Arguments::Arguments(std::string_view json) : json_(nlohmann::json::parse(json, nullptr, false)) {
    if (!json_.is_object()) throw Error(Errc::parse_failed, "read the arguments: they are not a JSON object");
}

const nlohmann::json* Arguments::find(const char* name) {
    known_.emplace_back(name);
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
}

std::string Arguments::text(const char* name) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) refuse(name, "it is missing");
    if (!value->is_string()) refuse(name, "expected a string, found " + std::string(value->type_name()));
    return value->get<std::string>();
}

std::string Arguments::text_or(const char* name, std::string_view fallback) {
    return json_.contains(name) ? text(name) : (known_.emplace_back(name), std::string(fallback));
}

std::size_t Arguments::count_or(const char* name, std::size_t fallback) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return fallback;
    if (!value->is_number_unsigned()) refuse(name, "expected a whole number, 0 or more, found " + value->dump());
    return value->get<std::size_t>();
}

void Arguments::done() const {
    for (const auto& [name, value] : json_.items()) {
        if (std::ranges::find(known_, name) != known_.end()) continue;
        std::string reason = "there is no such argument; there are:";
        for (const std::string& known : known_) reason += " " + known;
        refuse(name, reason);
    }
}

}  // namespace agent
