// What an answer means that is no reply, and server-sent events from bytes that are cut anywhere.
#include <whittle/provider/classify_error.hpp>
#include <whittle/provider/sse_parser.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [classify]
    const ClassifiedError refused = classify_error(400, {}, R"({"error": {"message":
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."}})");
    std::cout << to_string(refused.error_class) << ": " << refused.requested_tokens << " of "
              << refused.context_limit_tokens << '\n';

    const ClassifiedError busy = classify_error(429, {{"Retry-After", "20"}}, "slow down");
    std::cout << to_string(busy.error_class) << ": wait " << busy.retry_after->count() << " ms\n";

    SseParser parser;
    for (const char* bytes : {"data: {\"text\":", "\"bees\"}\n", "\ndata: [DO", "NE]\n\n"})
        parser.feed(bytes, [](const SseEvent& event) { std::cout << event.data << '\n'; });
    // [/classify]
    return parser.ends_cleanly() ? 0 : 1;
}
