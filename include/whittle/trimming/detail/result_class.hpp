#pragma once

#include "whittle/trimming/detail/line_forms.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// What a text looks like, whoever gave it.
struct TextShape {
    bool is_numbered = false;  ///< most lines have a number, most of these the next one
    bool is_diff = false;
    bool is_hits = false;    ///< most lines are hits of a search
    bool is_source = false;  ///< most lines are indented or end as those of programs and data do

    [[nodiscard]] bool is_content() const noexcept { return is_numbered || is_diff || is_source; }
};

/// Judged by the first lines; a text of fewer than four lines has no shape.
[[nodiscard]] TextShape shape_of(std::span<const std::string_view> lines) noexcept;

/// A line that tells of a failure, or of the outcome of a test.
[[nodiscard]] bool tells_of_error(std::string_view line) noexcept;
/// A text that starts as the output of something that failed.
[[nodiscard]] bool starts_as_failure(std::string_view text) noexcept;
/// A text that starts as a failure, but for what says first that it went well.
[[nodiscard]] bool is_failed_output(std::string_view text) noexcept;

/// Whether `word` is one of `words`, which blanks separate.
[[nodiscard]] bool is_word_of(std::string_view word, std::string_view words) noexcept;

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
