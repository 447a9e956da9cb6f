#include "server_exchange.hpp"

#include <utility>

namespace whittle::inline v0::detail {

using nlohmann::ordered_json;

std::string server_root(std::string_view base_url) {
    const auto drop_slashes = [&] {
        while (base_url.ends_with('/')) base_url.remove_suffix(1);
    };
    drop_slashes();
    if (base_url.ends_with("/v1")) base_url.remove_suffix(3);
    drop_slashes();
    return std::string(base_url);
}

ServerAnswer query_server(HttpTransport& transport, const ServerAddress& address, std::string_view path,
                          std::string body) {
    HttpRequest request{.method = body.empty() ? "GET" : "POST",
                        .url = server_root(address.base_url).append(path),
                        .headers = address.headers,
                        .body = std::move(body),
                        .limits = address.limits,
                        .stop = address.stop};
    request.headers.emplace_back("Accept", "application/json");
    if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    const HttpResponse response = transport.send(request);
    return {response.status, ordered_json::parse(response.body, nullptr, false)};
}

std::optional<std::int64_t> number_at(const ordered_json& json, std::initializer_list<const char*> pointers) {
    for (const char* pointer : pointers) {
        const ordered_json::json_pointer place(pointer);
        if (!json.is_structured() || !json.contains(place) || !json[place].is_number_integer()) continue;
        if (const auto number = json[place].get<std::int64_t>(); number > 0) return number;
    }
    return std::nullopt;
}

std::string text_at(const ordered_json& json, const char* key) {
    const auto member = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && member != json.end() && member->is_string() ? member->get<std::string>() : "";
}

const ordered_json* entry_of(const ordered_json& answer, const char* list, const char* key, std::string_view id) {
    if (!answer.is_object() || !answer.contains(list) || !answer[list].is_array()) return nullptr;
    for (const ordered_json& entry : answer[list]) {
        if (!id.empty() && text_at(entry, key) == id) return &entry;
    }
    return answer[list].size() == 1 && answer[list][0].is_object() ? &answer[list][0] : nullptr;
}

}  // namespace whittle::inline v0::detail
