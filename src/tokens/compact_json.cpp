#include "whittle/base/text.hpp"
#include "whittle/tokens/counter.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>

namespace whittle::inline v0 {
namespace {

void append_escaped(std::string& out, char c) {
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
        out += c;
    }
}

void append_string(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : to_valid_utf8(text)) append_escaped(out, c);
    out += '"';
}

bool is_json_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// `json`, which is valid, without white space between its tokens. Keeps order, duplicate keys and spelling of numbers.
void append_minified(std::string& out, std::string_view json) {
    bool in_string = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (!in_string && is_json_space(c)) continue;
        out += c;
        if (in_string && c == '\\') out += json[++i];
        if (c == '"') in_string = !in_string;
    }
}

void append_parameters(std::string& out, std::string_view parameters) {
    if (is_blank(parameters)) {
        out += "{}";
    } else if (nlohmann::json::accept(parameters)) {
        append_minified(out, parameters);
    } else {
        out += parameters;
    }
}

}  // namespace

std::string to_compact_json(const ToolSpec& tool) {
    std::string out;
    out.reserve(tool.name.size() + tool.description.size() + tool.parameters.size() + 48);
    out += R"({"name":)";
    append_string(out, tool.name);
    out += R"(,"description":)";
    append_string(out, tool.description);
    out += R"(,"parameters":)";
    append_parameters(out, tool.parameters);
    out += '}';
    return out;
}

}  // namespace whittle::inline v0
