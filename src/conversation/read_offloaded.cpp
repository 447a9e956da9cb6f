#include "whittle/conversation/read_offloaded.hpp"
#include "object_reader.hpp"
#include "read_back.hpp"
#include "read_offloaded_arguments.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace whittle::inline v0 {

namespace {

using detail::ReadArguments;

struct Shown {
    std::string text{};
    std::string what{};  ///< for the event: which part
};

/// A note behind a text, on a line of its own.
std::string with_note(std::string text, const std::string& note) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    return std::move(text) + note;
}

/// The bytes of a page as they are shown. What is not UTF-8 grows when it is replaced: then the page gets shorter.
std::string to_shown(detail::Page& page, std::int64_t max_bytes) {
    std::string shown = to_valid_utf8(page.text);
    while (static_cast<std::int64_t>(shown.size()) > max_bytes) {
        page.text.resize(grapheme_prefix(page.text, page.text.size() / 2).size());
        page.end = page.begin + static_cast<std::int64_t>(page.text.size());
        shown = to_valid_utf8(page.text);
    }
    return shown;
}

class Reading {
public:
    Reading(const StoredObject& object, const ReadArguments& arguments, const ReadOffloadedOptions& options,
            const ToolContext& context)
        : object_(object), arguments_(arguments), options_(options), context_(context) {}

    [[nodiscard]] Shown show() const {
        Shown shown = arguments_.grep ? found_lines() : arguments_.first_line || arguments_.lines ? lines() : bytes();
        if (const std::string note = detail::note_on_masks(object_, context_.language); !note.empty())
            shown.text = with_note(std::move(shown.text), note);
        return shown;
    }

private:
    [[nodiscard]] bool is_chinese() const noexcept { return context_.language == Language::chinese; }

    [[nodiscard]] std::int64_t page_bytes() const noexcept {
        return std::clamp<std::int64_t>(arguments_.max_bytes.value_or(options_.page_bytes), 4, options_.page_bytes);
    }

    [[nodiscard]] Shown bytes() const {
        const std::int64_t size = detail::size_of(object_);
        const std::int64_t offset = arguments_.offset.value_or(0);
        if (offset > 0 && offset >= size) {
            throw Error(Errc::invalid_argument,
                        fmt::format("\"offset\" is {}, but the text has {} bytes", offset, size));
        }
        detail::Page page = detail::read_page(object_, offset, page_bytes());
        std::string text = to_shown(page, std::max(page_bytes(), std::int64_t{16}));
        if (page.begin > 0 || page.end < size) text = with_note(std::move(text), note_on_bytes(page, size));
        return {std::move(text), fmt::format("bytes {} to {}", page.begin, page.end)};
    }

    [[nodiscard]] std::string note_on_bytes(const detail::Page& page, std::int64_t size) const {
        if (is_chinese()) {
            const std::string end = page.end < size ? fmt::format("从 offset {} 继续", page.end) : "已到结尾";
            return fmt::format("[第 {} 至 {} 字节，共 {} 字节；{}]", page.begin, page.end, size, end);
        }
        const std::string end = page.end < size ? fmt::format("go on with offset {}", page.end) : "the end";
        return fmt::format("[bytes {} to {} of {}; {}]", page.begin, page.end, size, end);
    }

    [[nodiscard]] Shown lines() const {
        const std::int64_t size = detail::size_of(object_);
        detail::LineReader reader(object_, context_.stop);
        detail::Lines lines = detail::read_lines(reader, arguments_.first_line.value_or(1),
                                                 arguments_.lines.value_or(INT64_MAX), options_.page_bytes);
        if (lines.last == 0) {
            throw Error(Errc::invalid_argument,
                        fmt::format("\"first_line\" is {}, but the text has {} lines", lines.first, lines.seen));
        }
        const std::int64_t end = lines.page.end;
        std::string text = to_shown(lines.page, options_.page_bytes);
        lines.is_cut = lines.is_cut || lines.page.end < end;
        if (lines.page.begin > 0 || lines.page.end < size)
            text = with_note(std::move(text), note_on_lines(lines, size));
        return {std::move(text), fmt::format("lines {} to {}", lines.first, lines.last)};
    }

    [[nodiscard]] std::string note_on_lines(const detail::Lines& lines, std::int64_t size) const {
        const std::string how =
            lines.is_cut ? fmt::format("offset {}", lines.page.end) : fmt::format("first_line {}", lines.last + 1);
        const bool is_end = lines.page.end >= size;
        if (is_chinese()) {
            return fmt::format("[第 {} 至 {} 行，第 {} 至 {} 字节，共 {} 字节；{}]", lines.first, lines.last,
                               lines.page.begin, lines.page.end, size, is_end ? "已到结尾" : "从 " + how + " 继续");
        }
        return fmt::format("[lines {} to {}, bytes {} to {} of {}; {}]", lines.first, lines.last, lines.page.begin,
                           lines.page.end, size, is_end ? "the end" : "go on with " + how);
    }

    [[nodiscard]] Shown found_lines() const {
        detail::LineReader reader(object_, context_.stop);
        const detail::Matches matches = detail::grep_lines(reader, *arguments_.grep, arguments_.first_line.value_or(1),
                                                           {options_.grep_result_bytes, options_.grep_matches,
                                                            options_.grep_line_bytes, arguments_.context.value_or(0)});
        return {with_note(matches.text, note_on_matches(matches)), fmt::format("{} matching lines", matches.count)};
    }

    [[nodiscard]] std::string note_on_matches(const detail::Matches& matches) const {
        if (is_chinese()) {
            if (matches.go_on_at)
                return fmt::format("[{} 行匹配，还有更多；从 first_line {} 继续]", matches.count, *matches.go_on_at);
            return fmt::format("[{} 行匹配，共查找 {} 行]", matches.count, matches.lines);
        }
        if (matches.go_on_at)
            return fmt::format("[{} matching lines, there are more; go on with first_line {}]", matches.count,
                               *matches.go_on_at);
        return fmt::format("[{} matching lines in {} lines]", matches.count, matches.lines);
    }

    const StoredObject& object_;
    const ReadArguments& arguments_;
    const ReadOffloadedOptions& options_;
    const ToolContext& context_;
};

StoredObject find_object(const ToolContext& context, const std::shared_ptr<Storage>& storage,
                         const std::string& reference) {
    const auto fallback = storage ? storage : context.storage;
    auto object = detail::find_copied(context, fallback, reference);
    if (!object) {
        throw Error(Errc::not_found,
                    fmt::format("\"reference\": {} names nothing that was stored of this conversation ({} texts were); "
                                "use a reference exactly as a placeholder or a notice gives it",
                                detail::in_quotes(reference), context.objects ? context.objects->size() : 0));
    }
    if (!object->storage)
        throw Error(Errc::not_found, fmt::format("\"reference\": there is no storage to read {} from", object->key));
    return *std::move(object);
}

ToolOutcome read_offloaded(const ToolContext& context, PartSink& out, const std::shared_ptr<Storage>& storage,
                           const ReadOffloadedOptions& options) {
    ToolOutcome outcome;
    const auto problem = detail::problem_of([&] {
        const ReadArguments arguments = detail::parse_read_arguments(context.arguments, options.max_grep_context_lines);
        const StoredObject object = find_object(context, storage, arguments.reference);
        const Shown shown = Reading(object, arguments, options, context).show();
        out.write(shown.text);
        detail::emit_read_back(context, read_offloaded_name, fmt::format("read {} of {}", shown.what, object.key));
        outcome.read_back = {object.key};
    });
    if (!problem) return outcome;
    out.write(fmt::format("{}: {}", read_offloaded_name, *problem));
    return {.is_error = true};
}

void check_limits(const ReadOffloadedOptions& options) {
    Problems problems;
    const auto require = [&](std::string_view field, std::int64_t value, std::int64_t least) {
        if (value < least) problems.error(std::string(field), std::to_string(value), fmt::format("{} or more", least));
    };
    require("page_bytes", options.page_bytes, 256);
    require("grep_result_bytes", options.grep_result_bytes, 256);
    require("grep_matches", options.grep_matches, 1);
    require("max_grep_context_lines", options.max_grep_context_lines, 0);
    require("grep_line_bytes", options.grep_line_bytes, 32);
    problems.throw_if_errors("make read_offloaded");
}

std::string read_offloaded_description(const ReadOffloadedOptions& options) {
    if (options.description_language.value_or(default_language()) == Language::chinese) {
        return fmt::format(
            "读取本会话中被移出的原文。移出之处的标记说明缺少什么、如何取回，例如“[省略本结果第 22-178 行；"
            "read_offloaded(\"k/6\", first_line=22, lines=157)]”：reference 为 \"k/6\"，其余参数照写。每次最多 {} "
            "字节，按字节（offset、"
            "max_bytes）或按行（first_line、lines），末行说明如何继续；grep 按字面查找并给出行号。",
            options.page_bytes);
    }
    return fmt::format(
        "Reads a text that was moved out of this conversation. The mark in its place says what is gone and which call "
        "gives it back, such as [lines 22-178 of this result left out; read_offloaded(\"k/6\", first_line=22, "
        "lines=157)]: reference is \"k/6\", the others as they stand. At most {} bytes come at once, by byte (offset, "
        "max_bytes) or by line (first_line, lines), and the last line says how to go on; grep lists the lines that "
        "contain a text, taken literally, with their "
        "numbers.",
        options.page_bytes);
}

}  // namespace

Tool read_offloaded_tool(std::shared_ptr<Storage> storage, const ReadOffloadedOptions& options) {
    check_limits(options);
    return {.name = std::string(read_offloaded_name),
            .description = read_offloaded_description(options),
            .parameters = detail::read_arguments_schema(options.max_grep_context_lines),
            .return_direct = false,
            .invoke = [storage = std::move(storage), options](const ToolContext& context, PartSink& out) {
                return read_offloaded(context, out, storage, options);
            }};
}

}  // namespace whittle::inline v0
