#pragma once

#include <string>
#include <string_view>

namespace whittle::cli {

/// Where a page of the documentation is, by its place in the repository, such as "docs/storage.md": its path where it
/// was installed with the program, wherever that was moved to, or in the sources that the program was built in; else
/// its place in the repository.
[[nodiscard]] std::string documentation(std::string_view page);

/// A line that names the folder of all pages, for the end of a help.
[[nodiscard]] std::string documentation_line();

}  // namespace whittle::cli
