#include "claude_usage.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>

namespace whittle::inline v0::logs {
namespace {

std::int64_t characters_in(std::string_view text) {
    return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

/// Of what the model wrote, signatures left out.
std::int64_t characters_of_blocks(const ordered_json& blocks) {
    std::int64_t characters = 0;
    for (const ordered_json& block : blocks) {
        for (const char* key : {"text", "thinking", "name"}) characters += characters_in(text_at(block, key));
        const ordered_json* input = detail::find_member(block, "input");
        if (input != nullptr) characters += characters_in(to_json_text(*input));
    }
    return characters;
}

}  // namespace

bool has_input(const Usage& usage) noexcept {
    return usage.uncached_input > 0 || usage.cache_read > 0 || usage.cache_write > 0;
}

void take_usage(Entry& reply, const Usage& recorded, bool is_end) {
    const bool is_reported = is_end && has_input(recorded);
    if (reply.usage_is_reported && !is_reported) return;
    Usage& usage = reply.call->usage ? *reply.call->usage : reply.call->usage.emplace();
    const std::int64_t output = is_reported ? recorded.output : std::max(usage.output, recorded.output);
    if (is_reported || recorded.total() >= usage.total()) usage = recorded;
    usage.output = output;
    reply.usage_is_reported = is_reported;
}

/// Half of characters / 4 is too little for any text: some have more characters for a token than others.
void estimate_output(Entry& reply) {
    if (!reply.call || reply.has_end || !is_bill(reply.call->usage)) return;
    const std::int64_t estimated = characters_of_blocks(reply.message["content"]) / 4;
    const std::int64_t output = reply.call->usage->output;
    if (output < estimated / 2) reply.call->unrecorded_output = estimated - output;
}

}  // namespace whittle::inline v0::logs
