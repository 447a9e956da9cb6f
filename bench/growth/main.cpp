// How what the library does grows with hostile histories (tests/support/generators_hostile.hpp); bench/check_growth
// counts its instructions under callgrind. A work with "long_" in front of its name finds texts and arguments that are
// worth an edit. Usage: bench_growth TYPE SHAPE WORK N..., or bench_growth list
#include "support/generators_hostile.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace whittle::bench {

bool grow_chat(std::string_view work, const testing::History& history);
bool grow_openai(std::string_view work, const testing::History& history);
bool grow_anthropic(std::string_view work, const testing::History& history);

/// Only what happens in here is counted.
extern "C" [[gnu::noinline]] void whittle_grow(const std::function<void()>& work) { work(); }

}  // namespace whittle::bench

namespace {

using namespace whittle;

int list_shapes() {
    for (const testing::HostileShape& shape : testing::hostile_shapes())
        std::printf("%s %s\n", shape.name.data(), shape.is_one_run ? "one_run" : "many_runs");
    return 0;
}

/// The same with texts and arguments that are worth an edit, and a round behind them that keeps its own.
testing::History lengthened(testing::History history) {
    for (ChatMessage& m : history) {
        for (Part& part : m.parts) {
            const bool is_call = part.kind == PartKind::tool_call;
            if (is_call) part.text = R"({"path":")" + std::string(600, 'a') + R"("})";
            if (part.kind == PartKind::tool_result || part.kind == PartKind::text) part.text += std::string(600, '.');
        }
    }
    history.push_back(ChatMessage::assistant().call("last", "read"));
    history.push_back(ChatMessage::result("last", "read", "the end"));
    history.push_back(ChatMessage::assistant("done"));
    history.push_back(ChatMessage::user("and the last"));
    return history;
}

bool grow(std::string_view type, std::string_view work, const testing::History& history) {
    constexpr std::string_view long_texts = "long_";
    if (work.starts_with(long_texts)) return grow(type, work.substr(long_texts.size()), lengthened(history));
    if (type == "chat") return bench::grow_chat(work, history);
    if (type == "openai") return bench::grow_openai(work, history);
    if (type == "anthropic") return bench::grow_anthropic(work, history);
    return false;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc == 2 && std::string_view(argv[1]) == "list") return list_shapes();
    const auto& shapes = testing::hostile_shapes();
    const std::string_view name = argc > 4 ? argv[2] : "";
    const auto shape = std::ranges::find(shapes, name, &testing::HostileShape::name);
    bool is_known = shape != shapes.end();
    for (int i = 4; i < argc && is_known; ++i)
        is_known = grow(argv[1], argv[3], shape->make(static_cast<std::size_t>(std::atoll(argv[i]))));
    if (is_known) return 0;
    std::fprintf(stderr, "usage: bench_growth chat|openai|anthropic SHAPE WORK N..., or bench_growth list\n");
    return 2;
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_growth: %s\n", error.what());
    return 1;
}
