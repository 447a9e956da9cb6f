// A chain that a JSON text describes, and what is said of a wrong one.
#include <whittle/config/config_json.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <string_view>

using namespace whittle;

namespace {

constexpr std::string_view right = R"({
  "preset": "recommended",
  "profile": {"context_window": 200000},
  "middlewares": [{"type": "token_saving"}]
})";

constexpr std::string_view wrong = R"({
  "storage": {"type": "memory"},
  "on_error": "ignore",
  "middlewares": [{"type": "reduction", "max_tokens_for_clear": 0}]
})";

void run(std::string_view json) {
    // [read]
    try {
        const ChainSettings settings = read_chain_settings(json, {.name = "chain.json"});
        const Chain<ChatMessage> chain = make_chain<ChatMessage>(settings);
        for (const auto& stage : chain.stages()) std::cout << stage->name() << '\n';
    } catch (const Error& error) {
        std::cout << error.what() << '\n';  // all problems at once
    }
    // [/read]
}

}  // namespace

int main() {
    run(right);
    run(wrong);
}
