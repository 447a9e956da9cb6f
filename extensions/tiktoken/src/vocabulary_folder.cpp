#include "whittle/tiktoken/vocabulary.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

std::string vocabulary_folder(const std::function<std::optional<std::string>(std::string_view)>& lookup) {
    const auto value = [&](std::string_view name) { return lookup ? lookup(name).value_or("") : std::string(); };
    if (std::string folder = value("WHITTLE_VOCABULARIES"); !folder.empty()) return folder;
    if (const std::string data = value("XDG_DATA_HOME"); !data.empty()) return data + "/whittle/vocabularies";
    if (const std::string home = value("HOME"); !home.empty()) return home + "/.local/share/whittle/vocabularies";
    return {};
}

std::string vocabulary_path(std::string_view folder, std::string_view name) {
    return fmt::format("{}/{}.whittle", folder, name);
}

}  // namespace whittle::inline v0
