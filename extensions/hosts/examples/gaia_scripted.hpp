// What stands in for a Lemonade server: gaia's client, its agent and its tools are gaia's own, only the bytes do not
// leave the process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace scripted {

/// Answers a POST to a path under the base URL with a body. One for the program.
std::function<std::string(const std::string& path, const std::string& body)>& server();

}  // namespace scripted
