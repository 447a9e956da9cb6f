#pragma once

#include "whittle/servers/server_facts.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// What a server said to a question.
struct ServerAnswer {
    int status = 0;
    nlohmann::ordered_json json{};  ///< discarded where the answer was no JSON

    [[nodiscard]] bool is_object() const noexcept { return status == 200 && json.is_object(); }
};

/// "http://host:1/v1/" -> "http://host:1"
[[nodiscard]] std::string server_root(std::string_view base_url);

/// GET where `body` is empty. `path` begins with a slash. Throws what the transport throws.
[[nodiscard]] ServerAnswer query_server(HttpTransport& transport, const ServerAddress& address, std::string_view path,
                                        std::string body = {});

/// The first whole number above 0 at one of the places.
[[nodiscard]] std::optional<std::int64_t> number_at(const nlohmann::ordered_json& json,
                                                    std::initializer_list<const char*> pointers);

/// The text of a member; empty: there is none.
[[nodiscard]] std::string text_at(const nlohmann::ordered_json& json, const char* key);

/// The entry of a list of objects whose member `key` is `id`, or the only one where no id is asked for; null: none.
[[nodiscard]] const nlohmann::ordered_json* entry_of(const nlohmann::ordered_json& answer, const char* list,
                                                     const char* key, std::string_view id);

}  // namespace whittle::inline v0::detail
