// Private keys whose lines stand behind something, or in strings of their own.
#include "whittle/redaction/redaction.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::json;

namespace {

std::string masked_lines_of(std::string_view text) { return Redactor().text_or_json(text).text; }

/// No key: what its lines look like.
const std::vector<std::string> body{"MIIEpAIBAAKCAQEAw2Jx0b7QmYtZpR3kVn8sLq5dGhTfUeXoCaIyBzNvWlEr4S6D",
                                    "q9KpM1uHj7Zx3cVbN5mLkQ0wErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi1OpAsD2f",
                                    "Zx7cV9bN0mQ2wE4rT6yU8iO1pA3sD5fG7hJ9kL0zX2cV4bN6mQ8wE1rT3yU5iO7p", "aB3dE5=="};
constexpr const char* begin_line = "-----BEGIN RSA PRIVATE KEY-----";
constexpr const char* end_line = "-----END RSA PRIVATE KEY-----";

using Front = std::function<std::string(int)>;

std::string text_behind(const Front& front, bool has_begin) {
    std::string text = front(0) + "reads the file\n";
    int line = 1;
    if (has_begin) text += front(line++) + begin_line + "\n";
    for (const std::string& one : body) text += front(line++) + one + "\n";
    text += front(line++) + end_line + "\n";
    return text + front(line) + "done\n";
}

std::string text_of_masks(const Front& front, bool has_begin) {
    std::string text = front(0) + "reads the file\n";
    int line = 1;
    if (has_begin) text += front(line++) + begin_line + "\n";
    for (std::size_t i = 0; i < body.size(); ++i) text += front(line++) + "***\n";
    text += front(line++) + end_line + "\n";
    return text + front(line) + "done\n";
}

const std::vector<std::pair<std::string, Front>> fronts{
    {"a quote", [](int) { return "> "; }},
    {"a table", [](int) { return "| "; }},
    {"a comment of C++", [](int) { return "// "; }},
    {"a comment of a shell", [](int) { return "# "; }},
    {"a comment of SQL", [](int) { return "-- "; }},
    {"a comment in a block", [](int) { return " * "; }},
    {"a difference", [](int) { return "+ "; }},
    {"a number and a mark", [](int line) { return "  " + std::to_string(line + 8) + " | "; }},
    {"a search", [](int line) { return "deploy/key.pem:" + std::to_string(line + 98) + ":"; }},
    {"a time", [](int line) { return "2026-11-28T05:16:0" + std::to_string(line) + ".1234Z "; }},
    {"a log", [](int line) { return "[2026-11-28 05:16:0" + std::to_string(line) + ",123] INFO app.main: "; }},
    {"a system's log", [](int line) { return "Nov 28 05:16:0" + std::to_string(line) + " web-1 app[4711]: "; }},
    {"a container", [](int) { return "web-1  | "; }}};

}  // namespace

TEST_CASE("a private key is masked whatever stands in front of its lines, and that stays", "[redaction]") {
    for (const auto& [name, front] : fronts) {
        CAPTURE(name);
        const std::string text = text_behind(front, true);
        CHECK(masked_lines_of(text) == text_of_masks(front, true));
        CHECK(masked_lines_of(text_of_masks(front, true)) == text_of_masks(front, true));
        const json in_json = json::parse(masked_lines_of(json{{"text", text}}.dump()));
        CHECK(in_json["text"] == text_of_masks(front, true));
        CHECK(Redactor().text_or_json(text).places.at("private_key") == 1);
    }
}

TEST_CASE("a private key without its begin is masked whatever stands in front of its lines", "[redaction]") {
    for (const auto& [name, front] : fronts) {
        CAPTURE(name);
        const std::string masked = masked_lines_of(text_behind(front, false));
        for (const std::string& line : body) CHECK(masked.find(line) == std::string::npos);
        CHECK(masked.find("reads the file\n") != std::string::npos);
        CHECK(masked.find("done\n") != std::string::npos);
    }
}

TEST_CASE("what stands in front of a private key's line may be a secret too", "[redaction]") {
    const std::string text =
        std::string(begin_line) + "\ntoken=ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 " + body[1] + "\n";
    CHECK(masked_lines_of(text) == std::string(begin_line) + "\ntoken=*** ***\n");
}

TEST_CASE("a private key in an array of strings, a line each, is masked", "[redaction]") {
    for (const std::string_view line_end : {"", "\n"}) {
        for (const bool has_begin : {true, false}) {
            json lines = json::array({"first", begin_line});
            if (!has_begin) lines.erase(1);
            for (const std::string& line : body) lines.push_back(line);
            lines.push_back(end_line);
            lines.push_back("last");
            json hidden = lines;
            for (json& line : hidden) {
                if (std::ranges::find(body, line.get<std::string>()) != body.end()) line = "***";
            }
            for (json* list : {&lines, &hidden}) {
                for (json& line : *list) line = line.get<std::string>() + std::string(line_end);
            }
            const json document{{"cells", {{{"source", lines}}}}, {"more", {"first", "last"}}};
            const json expected{{"cells", {{{"source", hidden}}}}, {"more", {"first", "last"}}};
            CHECK(json::parse(masked_lines_of(document.dump())) == expected);
            CHECK(json::parse(masked_lines_of(document.dump(2))) == expected);
            CHECK(json::parse(masked_lines_of(json{{"arguments", document.dump()}}.dump())) ==
                  json{{"arguments", expected.dump()}});
            CHECK(Redactor().text_or_json(document.dump()).places.at("private_key") == 1);
        }
    }
}

TEST_CASE("lines that are no private key's stay, whatever stands in front of them", "[redaction]") {
    const std::string hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for (const std::string& text : {"commit " + hash + "\nAuthor: Ann\n",
                                    "INFO: found " + std::string(begin_line) + " in a.pem\nINFO: found none\n",
                                    "// " + std::string(begin_line) + "\n// a sentence about it\nreturn key;\n",
                                    "2026-11-28T05:16:01Z pulled " + hash + "\n2026-11-28T05:16:02Z started\n"})
        CHECK(masked_lines_of(text) == text);
    const json harmless{{"lines", {"first", hash, "-----BEGIN CERTIFICATE-----", body[1], body[2]}}};
    CHECK(masked_lines_of(harmless.dump()) == harmless.dump());
}
