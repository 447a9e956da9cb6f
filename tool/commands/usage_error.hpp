#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace whittle::cli {

/// What is wrong with a command line that `app` did not take, in lines: which word or option nobody knows, the one that
/// is most like it, and where the help is. What the user wrote is escaped for a terminal and without secrets.
[[nodiscard]] std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace whittle::cli
