// The tool by which a model says what it no longer needs.
#include "release_notes.hpp"
#include "whittle/base/text.hpp"
#include "whittle/release_context/detail/release_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t shown_argument_bytes = 100;
constexpr std::size_t most_lines = 20;  // of each kind, in an answer

constexpr std::string_view parameters =
    R"({"type":"object","properties":{"what":{"type":"array","items":{"type":"string"}},"why":{"type":"string"}},)"
    R"("required":["what"]})";

std::string_view description(Language language) {
    if (language == Language::chinese) {
        return "声明不再需要的旧工具结果，使其移出上下文。what：各项为路径或调用参数中的其他文字、工具名或调用 id；"
               "why：原因。之后仍可读回。";
    }
    return "Says which earlier tool results you no longer need, so that they leave the context. what: for each, a path "
           "or other text that stands in the arguments of its call, a tool's name, or the call's id. why: in a few "
           "words. They can be read again later.";
}

std::string line_of_meant(const MeantResult& result) {
    std::string arguments = to_valid_utf8(grapheme_prefix(result.arguments, shown_argument_bytes));
    if (arguments.size() < result.arguments.size()) arguments += "...";
    std::string line = fmt::format("- {} {} ({} bytes)", result.tool, arguments, result.bytes);
    if (!result.rule.empty()) line += fmt::format(": {}", result.rule);
    return line;
}

void add_lines(std::string& out, std::string_view head, const std::vector<MeantResult>& results) {
    if (results.empty()) return;
    out += fmt::format("{}{}", out.empty() ? "" : "\n", head);
    const std::size_t shown = std::min(results.size(), most_lines);
    for (std::size_t i = 0; i < shown; ++i) out += "\n" + line_of_meant(results[i]);
    if (shown < results.size()) out += fmt::format("\n- ... {}", results.size() - shown);
}

std::string text_of_answer(const ReleaseAnswer& answer, Language language) {
    const bool is_chinese = language == Language::chinese;
    std::string out;
    add_lines(out, is_chinese ? "已释放：" : "Released:", answer.released);
    add_lines(out, is_chinese ? "保留：" : "Kept:", answer.kept);
    if (!answer.unclear.empty()) {
        const std::size_t shown = std::min(answer.unclear.size(), most_lines);
        const std::vector<std::string> some(answer.unclear.begin(),
                                            answer.unclear.begin() + static_cast<std::ptrdiff_t>(shown));
        out +=
            fmt::format("{}{}{}", out.empty() ? "" : "\n",
                        is_chinese ? "没有对应的旧结果：" : "No earlier result is meant by: ", fmt::join(some, ", "));
    }
    return out;
}

ToolOutcome release(const ReleaseContextConfig& config, const std::string& stage, const ToolContext& context,
                    PartSink& out) {
    std::optional<ReleaseAnswer> answer;
    if (context.caches) answer = ReleaseNotes::of(*context.caches, stage)->find(context.key_safe_call_id);
    if (!answer) {  // the host runs no hook behind the model's reply: it is looked at before the next one
        out.write(context.language == Language::chinese ? "已记录。" : "Noted.");
        return {};
    }
    const bool is_empty = answer->released.empty() && answer->kept.empty() && answer->unclear.empty();
    if (is_empty) out.write(fmt::format(R"({}: "what": expected an array of strings)", config.tool_name));
    out.write(text_of_answer(*answer, context.language));
    return {.is_error = answer->released.empty() && answer->kept.empty()};
}

}  // namespace

Tool release_context_tool(const ReleaseContextConfig& config, const std::string& stage, const ChainConfig& chain) {
    return {.name = config.tool_name,
            .description = std::string(description(chain.language.value_or(default_language()))),
            .parameters = std::string(parameters),
            .return_direct = false,
            .invoke = [config, stage](const ToolContext& context, PartSink& out) {
                return release(config, stage, context, out);
            }};
}

}  // namespace whittle::inline v0::detail
