#include "whittle/tokens/counter_type.hpp"

namespace whittle::inline v0 {

namespace {

void check_chars(const CharsOptions& options, ConfigEntry& entry) {
    constexpr double fewest = 0.001;
    if (options.chars_per_token < fewest) entry.unexpected("chars_per_token", "a number from 0.001 to 1000000");
}

}  // namespace

CounterType<CharsOptions> chars_counter_type() {
    using C = CharsOptions;
    return {
        .type = "chars",
        .fields = {{"chars_per_token", &C::chars_per_token, "UTF-8 bytes per token, 0.001 to 1000000", 0, 1'000'000},
                   {"round_up", &C::round_up, "round up instead of down, per message"},
                   {"tokens_per_image", &C::tokens_per_image, "tokens of each media part"}},
        .open = [](const C& options, const ConfigContext&) { return chars_counter(options); },
        .after_fields_read = [](C& options, ConfigEntry& entry) { check_chars(options, entry); }};
}

CounterType<PlainCounterConfig> pessimistic_counter_type() {
    return {.type = "pessimistic",
            .open = [](const PlainCounterConfig&, const ConfigContext&) { return pessimistic_counter(); }};
}

CounterType<PlainCounterConfig> estimate_counter_type() {
    return {.type = "estimate",
            .open = [](const PlainCounterConfig&, const ConfigContext&) { return estimate_counter(); }};
}

}  // namespace whittle::inline v0
