// A runtime that owns a vector of plain messages: no field for marks, and a tool hook that does not know its call.
#include "hosts/flat_adapter.hpp"
#include "hosts/untouched.hpp"

#include <iostream>

namespace {

using flat::msg;

/// Four reads, then the answer.
msg model(const std::vector<msg>& messages) {
    const std::string id(1, static_cast<char>('a' + messages.size() / 2));
    if (messages.size() > 8) return {"assistant", "All four logs are read."};
    return {"assistant", "", {{"read_log", R"({"log":")" + id + R"("})", id}}};
}

/// The third text looks like one of whittle's own.
std::string read_log(const flat::tool_call& call) {
    if (call.id == "c") return "[Old read_log result cleared: 9 bytes, 1 lines]" + std::string(1'500, '!');
    return "log " + call.id + " " + std::string(call.id == "a" ? 60'000 : 3'000, '.');
}

const void* place_of(const msg& m) {
    if (m.tool_calls.empty()) return m.content.data();
    return m.tool_calls.data();
}

}  // namespace

int main() {
    const auto store = whittle::memory_storage();
    const whittle::Chain chain{whittle::ChainConfig{.storage = store},
                               whittle::Reduction<msg>{{.max_length_for_trunc = 4'000, .max_tokens_for_clear = 1'600}}};
    flat::Attached whittled(chain, "flat");

    const auto before_llm_call = [&](std::vector<msg>& list) {
        const std::size_t untouched = count_untouched(list, place_of, [&] { whittled.before_llm_call(list); });
        std::cout << list.size() << " messages, " << whittled.changes().size() << " changed, " << untouched
                  << " untouched, " << whittle::validate(std::span<const msg>(list), whittle::openai_chat()).size()
                  << " violations\n";
    };
    const auto after_tool = [&](const std::string& tool, std::string& result) { whittled.after_tool(tool, result); };
    std::vector<msg> messages = flat::run("Read all four of the logs.", model, read_log, {before_llm_call, after_tool});
    before_llm_call(messages);  // again: what is cut is known, though no message says so
    for (const msg& m : messages)
        if (m.role == "tool") std::cout << m.tool_call_id << ": " << m.content.substr(0, 79) << '\n';
    store->list("", [](const whittle::ObjectInfo& info) {
        std::cout << "stored: " << info.key << ", " << info.bytes << " bytes\n";
        return true;
    });
    while (whittled.conversation().undo()) continue;
    std::cout << "undone: " << whittled.conversation().messages()[2].content.size() << " bytes again\n";
}
