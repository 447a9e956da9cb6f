// What a plugin shows is one function of C. Errors of the library are caught inside.
#include <string>
#include <whittle/whittle.hpp>

namespace {

std::string reduced() {
    using namespace whittle;
    const auto store = memory_storage();
    const Chain chain{ChainConfig{.storage = store},
                      Reduction{{.max_tokens_for_clear = 2'000, .clear_target_tokens = 1'000}}};
    Conversation history(PLUGIN_NAME);
    history.push_back(ChatMessage::user("Read the book."));
    for (int page = 1; page <= 5; ++page) {
        const std::string id = "c" + std::to_string(page);
        history.push_back(ChatMessage::assistant().call(id, "read_page"));
        history.push_back(ChatMessage::result(id, "read_page", std::string(4'000, '.')));
    }
    chain.before_model(history);
    const auto stored = store->get(PLUGIN_NAME "/clear/c1");
    try {
        (void)store->get("no/../key");
    } catch (const Error& error) {
        if (stored && stored->size() == 4'000 && error.errc() == Errc::invalid_key) return WHITTLE_VERSION_STRING;
    }
    return "not reduced";
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* run_plugin() {
    static const std::string result = reduced();
    return result.c_str();
}
