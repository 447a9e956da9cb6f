#pragma once

#include "whittle/trimming/detail/line_forms.hpp"
#include "whittle/trimming/detail/text_shape.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// What the result of a call is, as far as trimming goes.
enum class ResultClass {
    read,     ///< the content of files, whatever printed it: also diffs
    edit,     ///< what an edit says of itself
    search,   ///< hits
    listing,  ///< names of files
    shell,    ///< the output of programs
    other,
};

/// The class that the name of a tool tells, whatever way of writing it has: "Read", "read_file", "mcp__fs__readFile".
[[nodiscard]] std::optional<ResultClass> class_of_tool(std::string_view tool);
/// Whether a tool runs command lines, by its name.
[[nodiscard]] bool runs_commands(std::string_view tool);
/// The command line among the arguments of a call (raw JSON); nullopt if there is none.
[[nodiscard]] std::optional<std::string> command_line_of(std::string_view arguments);
/// What a command line prints: of its pipelines the first commands count, here-documents do not, and what reads goes
/// before what searches, lists, runs and edits.
[[nodiscard]] ResultClass class_of_command(std::string_view command_line);

/// What a call tells of its result, before there is one.
struct CallClass {
    std::optional<ResultClass> by_name{};
    std::optional<ResultClass> by_command{};
    bool runs_commands = false;

    [[nodiscard]] bool is_edit() const noexcept { return by_name == ResultClass::edit; }
};
[[nodiscard]] CallClass class_of_call(std::string_view tool, std::string_view arguments);

/// A result, looked at.
struct ResultForm {
    ResultClass kind = ResultClass::other;
    LineMarks marks = LineMarks::none;
};

/// Class and marks of a result from its call and its content: what was run goes before what the tool is called, and for
/// programs and unknown tools the shape of a longer text goes before both.
[[nodiscard]] ResultForm form_of_result(const CallClass& call, std::string_view text,
                                        std::span<const std::string_view> lines);

}  // namespace whittle::inline v0::detail
