#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/host_conformance/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

namespace whittle::inline v0 {

namespace {

struct ConformancePromise {
    std::string_view name;
    std::string_view promise;
};

constexpr auto conformance_promises = std::to_array<ConformancePromise>({
    {"messages_built", "`build` gives messages to try"},
    {"parts_covered", "every kind of part that the type holds was tried"},
    {"role", "the role that the message was built with"},
    {"every_part", "as many parts are shown as the message has"},
    {"part_order", "they are shown in the order of the message"},
    {"part_kinds", "each as what it is"},
    {"texts", "texts are shown byte for byte"},
    {"thinking", "so is thinking"},
    {"arguments", "so are the arguments of calls"},
    {"results", "so are texts of results"},
    {"errors", "a failed result is shown as failed, no other"},
    {"call_ids", "calls, results and media in results have their ids"},
    {"tool_names", "calls have the name of their tool, and results where the message has it"},
    {"media", "media have their type, bytes and URL"},
    {"set_text", "a text that is set is shown in its place, and nothing else changes in what is shown"},
    {"set_text_keeps_the_rest", "and the message is as if it had been built with that text: no other field changes"},
    {"erase_part", "a part that is erased is gone, and the others are shown as before"},
    {"erase_part_keeps_the_rest", "and no field of the others or of the message is lost"},
    {"bad_arguments", "arguments that are no JSON object are refused, and the message is as it was"},
    {"missing_part", "an edit of a part that is not there changes nothing"},
    {"copies", "an edit of a copy leaves the message as it was"},
    {"visitor_throws", "what a visitor throws comes out, and the message is as it was"},
    {"make", "a message that is made has its role and one text"},
    {"make_tool_results", "results that are made are shown with ids and texts, in order"},
    {"rename_call", "a call or a result that is renamed has its new id, and no other field changes"},
    {"codec", "bytes give the same message again"},
    {"part_index", "parts by their index are the same parts, and edits by it the same edits"},
    {"mark_id", "an id of marks is kept and saved, is in no part, and leaves nothing behind when it is taken off"},
    {"conversation", "a conversation shows the messages as they are, and `undo` gives them back with every field"},
});

constexpr std::size_t shown_bytes = 60;

std::string cut_text(std::string_view text) {
    const std::string readable = to_valid_utf8(text.substr(0, 4 * shown_bytes));
    std::string cut(grapheme_prefix(readable, shown_bytes));
    std::ranges::replace_if(
        cut, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text.size() > cut.size() ? fmt::format("{}... ({} bytes)", cut, text.size()) : cut;
}

}  // namespace

bool ConformanceReport::passed() const noexcept {
    return std::ranges::all_of(checks, [](const ConformanceCheck& check) { return check.failed == 0; });
}

std::vector<std::string> ConformanceReport::failed_checks() const {
    std::vector<std::string> names;
    for (const ConformanceCheck& check : checks) {
        if (check.failed > 0) names.emplace_back(check.name);
    }
    return names;
}

std::string ConformanceReport::text() const {
    std::string lines;
    std::int64_t tried = 0;
    for (const ConformanceCheck& check : checks) {
        tried += check.tried;
        if (check.failed == 0) continue;
        lines += fmt::format("{}: {} of {} failed ({})\n  {}\n", check.name, check.failed, check.tried, check.promise,
                             check.first);
    }
    return lines + fmt::format("{} messages, {} tries, {} checks failed\n", messages, tried, failed_checks().size());
}

namespace detail {

ConformanceLog::ConformanceLog(const ConformanceOptions& options) : options_(&options) {
    for (const auto& [name, promise] : conformance_promises) report_.checks.push_back({name, promise});
}

bool ConformanceLog::check(std::string_view name, bool holds, FunctionRef<std::string()> what) {
    const auto found = std::ranges::find(report_.checks, name, &ConformanceCheck::name);
    ++found->tried;
    if (holds) return true;
    const std::string text = what();
    if (found->failed++ == 0) found->first = text;
    if (options_->on_failure) options_->on_failure(name, text);
    return false;
}

bool ConformanceLog::guard(std::string_view name, FunctionRef<void()> action) {
    std::string thrown;
    try {
        action();
        return true;
    } catch (const std::exception& error) {
        thrown = error.what();
    } catch (...) {
        thrown = "something that is no std::exception";
    }
    return check(name, false, [&] { return "threw: " + cut_text(thrown); });
}

void require_conformance_input(bool has_functions, const ConformanceOptions& options) {
    if (!has_functions)
        throw Error(Errc::invalid_argument, "conformance: a MessageFixture has no `build` or no `dump`");
    if (options.messages < 1) throw Error(Errc::invalid_argument, "conformance: fewer than one message to try");
}

std::string describe_parts(const std::vector<Part>& parts) {
    std::string line = "[";
    for (const Part& part : parts) {
        if (line.size() > 1) line += ", ";
        line += fmt::format("{} \"{}\"", to_string(part.kind), cut_text(part.text));
        if (!part.call_id.empty()) line += fmt::format(" id \"{}\"", cut_text(part.call_id));
        if (!part.tool.empty()) line += fmt::format(" tool \"{}\"", cut_text(part.tool));
        if (part.is_error) line += " failed";
        if (!part.media.url.empty()) line += fmt::format(" url \"{}\"", cut_text(part.media.url));
        if (!part.media.bytes.empty()) line += fmt::format(" of {} bytes", part.media.bytes.size());
        if (!part.media.mime.empty()) line += fmt::format(" {}", cut_text(part.media.mime));
    }
    return line + "]";
}

std::string describe_results(std::span<const ToolResult> results) {
    std::string line;
    for (const ToolResult& result : results) {
        line += fmt::format("{}result \"{}\"{} {}", line.empty() ? "" : ", ", cut_text(result.call_id),
                            result.is_error ? " failed" : "", describe_parts(result.parts));
    }
    return line;
}

std::string describe_difference(std::string_view expected, std::string_view found) {
    const auto [a, b] = std::ranges::mismatch(expected, found);
    const auto from = static_cast<std::size_t>(a - expected.begin());
    const std::size_t begin = from - std::min<std::size_t>(from, 20);
    return fmt::format("from byte {}: expected \"{}\", found \"{}\"", from, cut_text(expected.substr(begin)),
                       cut_text(found.substr(std::min(begin, found.size()))));
}

}  // namespace detail

}  // namespace whittle::inline v0
