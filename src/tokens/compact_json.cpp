#include "whittle/base/detail/json.hpp"
#include "whittle/base/text.hpp"
#include "whittle/tokens/counter.hpp"

namespace whittle::inline v0 {
namespace {

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
    } else if (detail::is_json(parameters)) {
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
    detail::append_json_literal(out, tool.name);
    out += R"(,"description":)";
    detail::append_json_literal(out, tool.description);
    out += R"(,"parameters":)";
    append_parameters(out, tool.parameters);
    out += '}';
    return out;
}

}  // namespace whittle::inline v0
