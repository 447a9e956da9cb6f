#include "tools.hpp"

#include "arguments.hpp"
#include "files.hpp"
#include "process.hpp"

#include <whittle/base/error.hpp>
#include <whittle/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace agent {
namespace {

namespace fs = std::filesystem;
using whittle::Errc;
using whittle::Error;
using whittle::Tool;

constexpr std::size_t max_editable_bytes = 4'000'000;
constexpr std::size_t longest_character = 4;  // bytes in UTF-8

std::string read_file(const Sandbox& sandbox, const ToolLimits& limits, std::string_view json) {
    Arguments arguments(json);
    const std::string path = arguments.text("path");
    const std::size_t offset = arguments.count_or("offset", 0);
    const std::size_t limit = std::min(arguments.count_or("limit", limits.page_bytes), limits.page_bytes);
    arguments.done();
    const FilePart part = read_part(sandbox.allowed_file(path), offset, limit + longest_character);
    const std::string_view shown = whittle::grapheme_prefix(part.text, limit);
    const std::size_t end = offset + shown.size();
    if (end >= part.file_bytes) return std::string(shown);
    return fmt::format("{}\n[bytes {} to {} of {}; go on with offset {}]", shown, offset, end, part.file_bytes, end);
}

std::string list_files(const Sandbox& sandbox, const ToolLimits& limits, std::string_view json) {
    Arguments arguments(json);
    const fs::path directory = sandbox.allowed(arguments.text_or("path", "."));
    arguments.done();
    std::string text;
    std::size_t count = 0;
    walk_files(directory, [&](const fs::path& file) {
        if (sandbox.is_of_store(file)) return true;
        if (count == limits.max_entries) {
            text += fmt::format("[only the first {} files; list a folder below]\n", count);
            return false;
        }
        std::error_code error;
        text += fmt::format("{:>9}  {}\n", fs::file_size(file, error), sandbox.shown(file));
        return ++count > 0;
    });
    return text.empty() ? "no files\n" : text;
}

/// Adds the matching lines of a file. False once there are enough.
bool grep_file(const std::string& shown, std::string_view content, std::string_view pattern, const ToolLimits& limits,
               std::size_t& matches, std::string& text) {
    std::size_t number = 0;
    for (std::size_t at = 0; at < content.size();) {
        const std::size_t end = std::min(content.find('\n', at), content.size());
        const std::string_view line = content.substr(at, end - at);
        at = end + 1;
        ++number;
        if (line.find(pattern) == std::string_view::npos) continue;
        if (matches++ == limits.max_matches) {
            text += fmt::format("[only the first {} matching lines]\n", limits.max_matches);
            return false;
        }
        text += fmt::format("{}:{}: {}\n", shown, number, whittle::grapheme_prefix(line, limits.max_line_bytes));
    }
    return true;
}

std::string grep(const Sandbox& sandbox, const ToolLimits& limits, std::string_view json) {
    Arguments arguments(json);
    const std::string pattern = arguments.text("pattern");
    const fs::path directory = sandbox.allowed(arguments.text_or("path", "."));
    arguments.done();
    if (pattern.empty()) throw Error(Errc::invalid_argument, "search: the pattern is empty");
    std::string text;
    std::size_t matches = 0;
    walk_files(directory, [&](const fs::path& file) {
        if (sandbox.is_of_store(file)) return true;
        const std::string content = read_part(file, 0, std::numeric_limits<std::size_t>::max()).text;
        const bool is_binary = std::string_view(content).substr(0, 8'000).find('\0') != std::string_view::npos;
        return is_binary || grep_file(sandbox.shown(file), content, pattern, limits, matches, text);
    });
    return text.empty() ? "no matches\n" : text;
}

std::size_t count_of(std::string_view content, std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = content.find(text); at != std::string_view::npos; at = content.find(text, at + 1)) ++count;
    return count;
}

std::string edit_file(const Sandbox& sandbox, std::string_view json) {
    Arguments arguments(json);
    const std::string path = arguments.text("path");
    const std::string before = arguments.text("old");
    const std::string after = arguments.text("new");
    arguments.done();
    const fs::path file = sandbox.allowed_file(path);
    if (before.empty()) throw Error(Errc::invalid_argument, "edit \"" + path + "\": \"old\" is empty");
    FilePart part = read_part(file, 0, max_editable_bytes);
    if (part.text.size() < part.file_bytes)
        throw Error(Errc::invalid_argument, "edit \"" + path + "\": it is too large");
    const std::size_t count = count_of(part.text, before);
    if (count != 1)
        throw Error(Errc::invalid_argument,
                    fmt::format("edit \"{}\": \"old\" must be there exactly once, it is there {} times", path, count));
    const std::size_t at = part.text.find(before);
    part.text.replace(at, before.size(), after);
    write_whole(file, part.text);
    const auto line =
        whittle::count_lines(std::string_view(part.text).substr(0, at)) + (at == 0 || part.text[at - 1] == '\n');
    return fmt::format("edited {} at line {}: {} bytes became {}\n", sandbox.shown(file), line, before.size(),
                       after.size());
}

std::string ending(const ShellResult& result, const ToolLimits& limits) {
    if (result.end == ShellEnd::stopped) return "[stopped: the run was asked to end]";
    if (result.end == ShellEnd::timed_out) return fmt::format("[killed after {} s]", limits.command_timeout.count());
    return fmt::format("[exit code {}]", result.status);
}

whittle::ToolOutcome run_command(const Sandbox& sandbox, const ToolLimits& limits, const whittle::ToolContext& context,
                                 whittle::PartSink& out) {
    Arguments arguments(context.arguments);
    const std::string command = arguments.text("command");
    arguments.done();
    const ShellOptions options{sandbox.workspace(), limits.command_timeout, limits.max_output_bytes};
    bool is_at_line_start = true;
    const ShellResult result = run_shell(command, options, context.stop, [&](std::string_view text) {
        is_at_line_start = text.ends_with('\n');
        out.write(text);
    });
    if (!is_at_line_start) out.write("\n");
    if (result.dropped_bytes > 0) out.write(fmt::format("[{} more bytes dropped]\n", result.dropped_bytes));
    out.write(ending(result, limits));
    return {.is_error = result.end != ShellEnd::exited || result.status != 0};
}

/// Tools that only look run together; the others run alone.
class Turns {
public:
    [[nodiscard]] auto shared(std::function<std::string(std::string_view)> work) const {
        return [mutex = mutex_, work = std::move(work)](std::string_view arguments) {
            const std::shared_lock lock(*mutex);
            return work(arguments);
        };
    }
    [[nodiscard]] std::unique_lock<std::shared_mutex> alone() const { return std::unique_lock(*mutex_); }

private:
    std::shared_ptr<std::shared_mutex> mutex_ = std::make_shared<std::shared_mutex>();
};

std::string schema(std::string_view properties, std::string_view required) {
    return fmt::format(R"({{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false}})",
                       properties, required);
}

}  // namespace

std::vector<Tool> make_tools(const Sandbox& sandbox, const ToolLimits& limits) {
    const Turns turns;
    std::vector<Tool> tools;
    tools.push_back(whittle::text_tool(
        "read_file",
        fmt::format("Reads a file of the workspace, at most {} bytes from byte offset.", limits.page_bytes),
        schema(R"("path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"})", R"("path")"),
        turns.shared([=](std::string_view arguments) { return read_file(sandbox, limits, arguments); })));
    tools.push_back(whittle::text_tool(
        "list_files", "Lists the files below a folder with their sizes in bytes.",
        schema(R"("path":{"type":"string"})", ""),
        turns.shared([=](std::string_view arguments) { return list_files(sandbox, limits, arguments); })));
    tools.push_back(
        whittle::text_tool("grep", "Lists the lines below a folder that contain the pattern, taken literally.",
                           schema(R"("pattern":{"type":"string"},"path":{"type":"string"})", R"("pattern")"),
                           turns.shared([=](std::string_view arguments) { return grep(sandbox, limits, arguments); })));
    tools.push_back(whittle::text_tool(
        "edit_file", "Replaces the text old, which must be in the file exactly once, by new.",
        schema(R"("path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"})", R"("path","old","new")"),
        [=](std::string_view arguments) {
            const auto lock = turns.alone();
            return edit_file(sandbox, arguments);
        }));
    tools.push_back({.name = "run_command",
                     .description = fmt::format("Runs a shell command in the workspace, for at most {} s.",
                                                limits.command_timeout.count()),
                     .parameters = schema(R"("command":{"type":"string"})", R"("command")"),
                     .return_direct = false,
                     .invoke = [=](const whittle::ToolContext& context, whittle::PartSink& out) {
                         const auto lock = turns.alone();
                         return run_command(sandbox, limits, context, out);
                     }});
    return tools;
}

}  // namespace agent
