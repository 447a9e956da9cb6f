// A context that takes and gives strings: all that a runtime compiled as C++17 sees of whittle.
#include <whittle/boundary/boundary.hpp>

#include <iostream>
#include <string>

using whittle::boundary::Context;

int main() {
    // [context]
    whittle::boundary::Options options;
    options.config = R"({"storage": {"type": "memory"},
                         "middlewares": [{"type": "reduction", "max_length_for_trunc": 2000}]})";
    options.id = "chat-1";
    Context context(options);
    context.push(R"({"role": "user", "content": "Read the log."})");
    context.push(R"({"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}]})");
    const std::string shown = context.reduce_and_push_result("c1", std::string(9'000, '.'));
    std::cout << shown.size() << " of 9000 bytes are shown\n"
              << context.prepare_messages().size() << " bytes are sent\n";
    // [/context]
}
