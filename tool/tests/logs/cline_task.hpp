#pragma once

#include "log_file.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

inline nlohmann::ordered_json said_in_task(const char* role, const std::string& text, std::int64_t ms) {
    return {{"role", role}, {"content", {{{"type", "text"}, {"text", text}}}}, {"ts", ms}};
}

/// As older versions wrote it.
inline nlohmann::ordered_json said_without_time(const char* role, const std::string& text) {
    nlohmann::ordered_json message = said_in_task(role, text, 0);
    message.erase("ts");
    return message;
}

inline nlohmann::ordered_json ui_request(std::int64_t ms, nlohmann::ordered_json reported,
                                         const nlohmann::ordered_json& more = nlohmann::ordered_json::object()) {
    nlohmann::ordered_json record{{"ts", ms}, {"type", "say"}, {"say", "api_req_started"}, {"text", reported.dump()}};
    record.update(more);
    return record;
}

inline nlohmann::ordered_json ui_say(const char* kind, std::int64_t ms) {
    return {{"ts", ms}, {"type", "say"}, {"say", kind}};
}

inline nlohmann::ordered_json tokens_of_task(int in, int out, int written, int read) {
    return {{"tokensIn", in}, {"tokensOut", out}, {"cacheWrites", written}, {"cacheReads", read}};
}

inline nlohmann::ordered_json list_of(const std::vector<nlohmann::ordered_json>& items) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const nlohmann::ordered_json& item : items) list.push_back(item);
    return list;
}

inline ReadLog read_task(const std::vector<nlohmann::ordered_json>& files) {
    std::string text;
    for (const nlohmann::ordered_json& file : files) text += file.dump() + "\n";
    return read_text_as(text, logs::Format::cline, {.name = "tasks/1770"});
}

}  // namespace whittle::testing
