#include "enum_list.hpp"

#include "request_view.hpp"

#include <cctype>

namespace agent {
namespace {

constexpr std::size_t max_columns = 110;

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find("//")); }

/// The names between the braces of an enumeration.
std::vector<std::string> values_in(std::string_view body) {
    std::string code;
    for (const std::string& line : lines_of(body)) code += std::string(without_comment(line)) + '\n';
    std::vector<std::string> values;
    for (std::size_t at = 0; at <= code.size();) {
        const std::size_t end = std::min(code.find(',', at), code.size());
        const std::string_view entry = trimmed(std::string_view(code).substr(at, end - at));
        const std::string_view name = trimmed(entry.substr(0, entry.find('=')));
        if (!name.empty()) values.emplace_back(name);
        at = end + 1;
    }
    return values;
}

}  // namespace

std::optional<EnumText> find_enum(std::string_view header, std::string_view name) {
    const std::string start = "enum class " + std::string(name) + " ";
    const std::size_t at = header.find(start);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t open = header.find('{', at);
    const std::size_t close = header.find("};", at);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
    EnumText found{std::string(name), std::string(header.substr(at, close + 2 - at)),
                   values_in(header.substr(open + 1, close - open - 1))};
    if (found.values.empty()) return std::nullopt;
    return found;
}

std::string list_name(std::string_view enum_name) {
    std::string name = "every";
    for (const char c : enum_name) {
        if (std::isupper(static_cast<unsigned char>(c)) != 0) name += '_';
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return name;
}

std::string with_list(const EnumText& enumeration) {
    std::string text = enumeration.block + "\n\n/// All values, in the order of their declaration.\n";
    text += "inline constexpr " + enumeration.name + " " + list_name(enumeration.name) + "[] = {\n";
    std::string line = "   ";
    for (const std::string& value : enumeration.values) {
        const std::string entry = " " + enumeration.name + "::" + value + ",";
        if (line.size() + entry.size() > max_columns) {
            text += line + "\n";
            line = "   ";
        }
        line += entry;
    }
    return text + line + "\n};";
}

}  // namespace agent
