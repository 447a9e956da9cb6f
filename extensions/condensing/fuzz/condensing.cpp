// Any bytes as a result: the form is valid UTF-8 where the text is, the same for the same bytes, JSON again where it
// says that nothing is lost, and undo gives the text back.
#include "whittle/condensing/condensing.hpp"

#include "whittle/base/text.hpp"
#include "whittle/chain/chain.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace whittle;

void require(bool condition) {
    if (!condition) __builtin_trap();
}

CondensingConfig all_that_may_go() {
    return {.min_bytes = 1,
            .min_gain = 0.0,
            .max_lossless_json_bytes = 60,
            .cut_above_rows = 3,
            .head_rows = 1,
            .tail_rows = 1,
            .max_outliers = 1,
            .max_string_bytes = 16};
}

void check_form(const std::string& text, const CondensingConfig& config, TextAuthor author) {
    const auto form = condense(text, config, Language::english, author);
    if (!form) return;
    require(form->text == condense(text, config, Language::english, author)->text);
    require(is_valid_utf8(form->text) || !is_valid_utf8(text));
    if (form->format == TextFormat::json && form->is_lossless && text.starts_with('{'))
        require(nlohmann::json::accept(form->text));
}

void check_undo(const std::string& text) {
    const Chain<> chain{ChainConfig{.storage = memory_storage()}, Condensing<>{all_that_may_go()}};
    Conversation<> conversation("fuzz");
    conversation.push_back(ChatMessage::user("go"));
    conversation.push_back(ChatMessage::assistant("").call("c1", "tool"));
    CollectingSink sink;
    const ToolContext call = chain.pending_tool_calls(conversation).at(0);
    ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
        out.write(text);
        return ToolOutcome{};
    });
    conversation.push_tool_results(std::vector{collect_tool_return(call, sink, std::move(outcome))});
    while (conversation.undo()) {
    }
    require(conversation.messages()[2].parts.empty() || text_of(conversation.messages()[2], 0) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    CondensingConfig lossless;
    lossless.max_lossless_json_bytes = 1 << 30;
    check_form(text, all_that_may_go(), TextAuthor::program);
    check_form(text, lossless, TextAuthor::unknown);
    check_undo(text);
    return 0;
}
