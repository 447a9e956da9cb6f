#include "read_offloaded_arguments.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <array>

namespace whittle::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 7> argument_names{"reference", "offset", "max_bytes", "first_line",
                                                         "lines",     "grep",   "context"};

[[noreturn]] void refuse(std::string_view name, const std::string& reason) {
    throw Error(Errc::invalid_argument, fmt::format("\"{}\": {}", name, reason));
}

void refuse_unknown(std::string_view name) {
    for (const std::string_view known : argument_names) {
        if (name == known) return;
    }
    const std::string_view meant = closest_match(name, argument_names);
    std::string reason = "there is no such argument";
    if (!meant.empty()) reason += fmt::format("; did you mean \"{}\"?", meant);
    reason += " There are:";
    for (const std::string_view known : argument_names) reason += fmt::format(" {}", known);
    throw Error(Errc::invalid_argument, in_quotes(name) + ": " + reason);
}

std::string shown(const JsonValue& value) {
    if (value.is_array()) return "an array";
    if (value.is_object()) return "an object";
    return value.string() != nullptr ? in_quotes(*value.string()) : value.literal();
}

std::optional<std::int64_t> number(const JsonValue& json, const char* name, std::int64_t least,
                                   std::int64_t most = INT64_MAX) {
    const auto found = json.find(name);
    if (!found || found->is_null()) return std::nullopt;
    const auto given = found->integer();
    if (given && *given >= least && *given <= most) return given;
    const std::string range =
        most == INT64_MAX ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
    refuse(name, fmt::format("expected a whole number, {}, found {}", range, shown(*found)));
}

std::optional<std::string> text(const JsonValue& json, const char* name) {
    const auto found = json.find(name);
    if (!found || found->is_null()) return std::nullopt;
    const std::string* const text = found->string();
    if (text == nullptr) refuse(name, fmt::format("expected a string, found {}", shown(*found)));
    if (text->empty()) refuse(name, "it is empty");
    return *text;
}

void refuse_mixtures(const ReadArguments& arguments) {
    const bool by_byte = arguments.offset || arguments.max_bytes;
    const bool by_line = arguments.first_line || arguments.lines;
    if (by_byte && by_line)
        refuse("offset", "page by byte (offset, max_bytes) or by line (first_line, lines), not both");
    if (arguments.grep && by_byte) refuse("grep", "it goes with first_line and context, not with offset and max_bytes");
    if (arguments.grep && arguments.lines) refuse("grep", "it goes with first_line and context, not with lines");
    if (arguments.grep && arguments.grep->find('\n') != std::string::npos)
        refuse("grep", "it is searched in single lines and cannot hold a line feed");
    if (arguments.context && !arguments.grep) refuse("context", "it goes with grep");
}

}  // namespace

ReadArguments parse_read_arguments(std::string_view json_text, std::int64_t largest_context) {
    const JsonValue json = parse_json(json_text);
    if (!json.is_object()) throw Error(Errc::invalid_argument, "the arguments are not a JSON object");
    for (const auto& [name, value] : json.members()) refuse_unknown(name);
    ReadArguments arguments{.offset = number(json, "offset", 0),
                            .max_bytes = number(json, "max_bytes", 1),
                            .first_line = number(json, "first_line", 1),
                            .lines = number(json, "lines", 1),
                            .grep = text(json, "grep"),
                            .context = number(json, "context", 0, largest_context)};
    auto reference = text(json, "reference");
    if (!reference) refuse("reference", "it is missing; give it exactly as a placeholder or a notice does");
    arguments.reference = *std::move(reference);
    refuse_mixtures(arguments);
    return arguments;
}

std::string read_arguments_schema(std::int64_t largest_context) {
    return fmt::format(
        R"({{"type":"object","properties":{{"reference":{{"type":"string"}},"offset":{{"type":"integer","minimum":0}},)"
        R"("max_bytes":{{"type":"integer","minimum":1}},"first_line":{{"type":"integer","minimum":1}},)"
        R"("lines":{{"type":"integer","minimum":1}},"grep":{{"type":"string"}},)"
        R"("context":{{"type":"integer","minimum":0,"maximum":{}}}}},)"
        R"("required":["reference"],"additionalProperties":false}})",
        largest_context);
}

}  // namespace whittle::inline v0::detail
