// A runtime whose messages are lists of blocks: no tool role, several results in one message, parsed JSON arguments.
#include "hosts/block_adapter.hpp"
#include "hosts/untouched.hpp"

#include <iostream>

namespace {

using blocks::message;

/// Three times two files are written, then the answer.
message model(const std::vector<message>& list) {
    const std::size_t round = list.size() / 2;
    if (round == 3) return {message::from::model, {blocks::text{"Done."}}};
    message reply{message::from::model, {blocks::text{"Next."}}};
    for (const char* name : {"a", "b"}) {
        const std::string path = name + std::to_string(round);
        reply.content.emplace_back(
            blocks::tool_use{path, "write", {{"path", path}, {"text", std::string(2'000, 't')}}});
    }
    return reply;
}

blocks::tool_result write_file(const blocks::tool_use& use) {
    const bool failed = use.id == "b0";
    return {use.id, (failed ? "disk full " : "written ") + std::string(failed ? 9'000 : 1'000, '.'), failed};
}

const void* place_of(const message& m) { return m.content.data(); }

}  // namespace

int main() {
    const whittle::Chain chain{
        whittle::ChainConfig{.storage = whittle::memory_storage()},
        whittle::Reduction<message>{
            {.max_length_for_trunc = 3'000, .max_tokens_for_clear = 2'000, .clear_tool_inputs = true}}};
    blocks::Attached whittled(chain, "blocks");

    const auto before_request = [&](std::vector<message>& list) {
        const std::size_t untouched = count_untouched(list, place_of, [&] { whittled.before_request(list); });
        std::cout << list.size() << " messages, " << untouched << " untouched, "
                  << whittle::validate(std::span<const message>(list), whittle::openai_chat()).size()
                  << " violations\n";
    };
    std::vector<message> list = blocks::run("Write the files.", model, write_file,
                                            {before_request, [&](const message& reply) { whittled.after_reply(reply); },
                                             [&](blocks::tool_result& result) { whittled.after_tool(result); }});
    before_request(list);  // again: what is cut is known, though no message says so
    for (const auto& block : list[1].content)
        if (const auto* use = std::get_if<blocks::tool_use>(&block)) std::cout << use->id << " " << use->input << '\n';
    for (const auto& block : list[2].content) {
        const auto& result = std::get<blocks::tool_result>(block);
        std::cout << result.id << (result.failed ? " failed: " : ": ") << result.content << '\n';
    }
    while (whittled.conversation().undo()) continue;
    const auto& first = std::get<blocks::tool_use>(whittled.conversation().messages()[1].content[1]);
    std::cout << "undone: " << first.input.dump().size() << " bytes of arguments again\n";
}
