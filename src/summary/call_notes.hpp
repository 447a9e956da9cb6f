#pragma once

#include "whittle/base/version.hpp"

#include <string>
#include <string_view>
#include <vector>

// What the arguments of a tool call say of the work, whatever the tool is called.

namespace whittle::inline v0::detail {

/// A file that a call names, and what it does with it where that can be seen.
struct FileTouch {
    std::string path{};
    std::string range{};  ///< lines that are read, "10-80" or "from 10"; empty: all of it, or not said
    bool is_read = false;
    bool is_written = false;

    friend bool operator==(const FileTouch&, const FileTouch&) = default;
};

struct CallNotes {
    std::vector<FileTouch> files{};   ///< each path once; the first 200
    std::string command{};            ///< of a shell, its first line
    bool is_plan = false;             ///< it writes a plan or a task list, which may be empty
    std::vector<std::string> plan{};  ///< its items, such as "[done] say what is planned"
};

/// Linear in the size. Nothing of arguments that are no JSON object.
[[nodiscard]] CallNotes notes_of_call(std::string_view tool, std::string_view arguments);

/// A tool whose name says that it writes.
[[nodiscard]] bool is_writing_tool(std::string_view tool);

}  // namespace whittle::inline v0::detail
