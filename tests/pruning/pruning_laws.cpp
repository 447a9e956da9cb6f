// Pruning and the media stage, held to every law on every message type.
#include "media.hpp"
#include "support/laws.hpp"

#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// One callable for all settings, so that the laws are compiled once.
auto pruning(const PruningConfig& config) {
    return [config](auto type) { return Pruning<MessageOf<decltype(type)>>{config}; };
}

PruningConfig in_parts() {
    PruningConfig config{.skip_boundary_turns = 0, .partial = true};
    config.head_bytes = 100;
    config.tail_bytes = 50;
    return config;
}

}  // namespace

TEST_CASE("pruning without a store keeps every law on every message type", "[laws]") {
    run_laws(pruning({.skip_boundary_turns = 0, .placeholder = std::string(tool_output_compacted)}),
             {.with_storage = false});
}

// Head, tail and key follow the text, so that L11 cannot compare by size.
TEST_CASE("partial pruning into a store keeps every law on every message type", "[laws]") {
    run_laws(pruning(in_parts()), {.looks_at_sizes_only = false});
}

TEST_CASE("taking media out keeps every law on every message type", "[laws]") {
    run_laws([](auto type) { return Strip<MessageOf<decltype(type)>>{MediaMode::reference}; });
}
