#include "whittle/base/text.hpp"
#include "whittle/host_conformance/conformance.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

namespace {

std::string_view check_of_text(PartKind kind) noexcept {
    switch (kind) {
        case PartKind::thinking: return "thinking";
        case PartKind::tool_call: return "arguments";
        case PartKind::tool_result: return "results";
        default: return "texts";
    }
}

/// A result's tool is shown where the message has it.
bool same_tool(const Part& expected, const Part& shown, bool results_name_tools) {
    const bool may_lack = expected.kind == PartKind::tool_result && !results_name_tools;
    return shown.tool == expected.tool || (may_lack && shown.tool.empty());
}

/// The type may be known from the URL.
bool same_media(const Media& expected, const Media& shown) {
    const bool same_type = expected.mime == shown.mime || (expected.mime.empty() && !expected.url.empty());
    return same_type && expected.bytes == shown.bytes && expected.url == shown.url;
}

/// Without the empty texts behind media that are all of a result: where text goes that takes their place.
std::vector<Part> without_places(const std::vector<Part>& shown) {
    std::vector<Part> parts;
    for (const Part& part : shown) {
        const bool is_behind_media =
            !parts.empty() && parts.back().kind == PartKind::media && parts.back().call_id == part.call_id;
        if (part.kind == PartKind::tool_result && part.text.empty() && is_behind_media) continue;
        parts.push_back(part);
    }
    return parts;
}

bool same_part(const Part& expected, const Part& shown, bool results_name_tools) {
    return expected.kind == shown.kind && expected.text == shown.text && expected.call_id == shown.call_id &&
           expected.is_error == shown.is_error && same_tool(expected, shown, results_name_tools) &&
           same_media(expected.media, shown.media);
}

/// The same parts in another order.
bool is_reordered(const std::vector<Part>& expected, const std::vector<Part>& shown, bool results_name_tools) {
    const auto same = [&](const Part& a, const Part& b) { return same_part(a, b, results_name_tools); };
    return !std::ranges::equal(expected, shown, same) && std::ranges::is_permutation(expected, shown, same);
}

void check_part(ConformanceLog& log, const Part& expected, const Part& shown, bool results_name_tools) {
    const auto what = [&] { return "built " + describe_parts({expected}) + ", shown " + describe_parts({shown}); };
    if (!log.check("part_kinds", expected.kind == shown.kind, what)) return;
    log.check(check_of_text(expected.kind), expected.text == shown.text, what);
    log.check("errors", expected.is_error == shown.is_error, what);
    log.check("call_ids", expected.call_id == shown.call_id, what);
    log.check("tool_names", same_tool(expected, shown, results_name_tools), what);
    log.check("media", same_media(expected.media, shown.media), what);
}

/// Some providers take no blank texts, so that results are made without them.
std::string without_blanks(std::string_view text) {
    std::string rest(text);
    std::erase_if(rest, [](char c) { return is_blank(std::string_view(&c, 1)); });
    return rest;
}

bool is_empty_text(const Part& part) noexcept {
    return part.text.empty() && (part.kind == PartKind::text || part.kind == PartKind::thinking);
}

}  // namespace

void check_shown(ConformanceLog& log, const std::vector<Part>& expected, const std::vector<Part>& all,
                 bool results_name_tools) {
    const std::vector<Part> shown = all.size() == expected.size() ? all : without_places(all);
    const auto what = [&] { return "built " + describe_parts(expected) + ", shown " + describe_parts(shown); };
    if (!log.check("every_part", expected.size() == shown.size(), what)) return;
    if (!log.check("part_order", !is_reordered(expected, shown, results_name_tools), what)) return;
    for (std::size_t i = 0; i < expected.size(); ++i) check_part(log, expected[i], shown[i], results_name_tools);
}

bool shows(const std::vector<Part>& expected, const std::vector<Part>& all, bool results_name_tools) {
    const std::vector<Part> shown = all.size() <= expected.size() ? all : without_places(all);
    auto next = shown.begin();
    for (const Part& part : expected) {
        if (next != shown.end() && same_part(part, *next, results_name_tools)) {
            ++next;
        } else if (!is_empty_text(part)) {
            return false;
        }
    }
    return next == shown.end();
}

bool shows_results(std::span<const ToolResult> results, std::vector<Part> shown, bool with_errors, bool with_media,
                   bool results_name_tools) {
    if (!with_media) std::erase_if(shown, [](const Part& part) { return part.kind != PartKind::tool_result; });
    auto next = shown.begin();
    for (const ToolResult& result : results) {
        std::string text;
        std::string expected;
        std::int64_t media = 0;
        const auto begin = next;
        for (; next != shown.end() && next->call_id == result.call_id; ++next) {
            if (next->kind == PartKind::media) ++media;
            if (next->kind != PartKind::media && next->kind != PartKind::tool_result) return false;
            if (with_errors && next->kind == PartKind::tool_result && next->is_error != result.is_error) return false;
            if (results_name_tools && next->kind == PartKind::tool_result && next->tool != result.tool) return false;
            text += without_blanks(next->text);
        }
        if (begin == next) return false;
        for (const Part& part : result.parts) {
            if (part.kind == PartKind::media) --media;
            expected += without_blanks(part.text);
        }
        if (with_media ? text != expected || media != 0 : !text.starts_with(expected)) return false;
    }
    return next == shown.end();
}

bool keeps_fields(const FieldValues& given, std::string_view before, std::string_view after, std::size_t without) {
    return std::ranges::all_of(given.given(), [&](const FieldValues::Given& field) {
        if (field.part == without || before.find(field.value) == std::string_view::npos) return true;
        return after.find(field.value) != std::string_view::npos;
    });
}

}  // namespace whittle::inline v0::detail
