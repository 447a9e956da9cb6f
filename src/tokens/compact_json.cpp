#include "whittle/base/detail/json.hpp"
#include "whittle/base/detail/json_scanner.hpp"
#include "whittle/base/text.hpp"
#include "whittle/tokens/counter.hpp"

namespace whittle::inline v0 {
namespace {

/// `json` without white space between its tokens. Keeps order, duplicate keys and spelling of numbers.
void append_minified(std::string& out, std::string_view json) {
    detail::JsonScanner scanner(json);
    for (auto token = scanner.next(); token.kind != detail::JsonToken::Kind::end; token = scanner.next())
        out += scanner.text(token);
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
