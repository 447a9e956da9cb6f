#include "profile_of_bill.hpp"

#include "scan_session.hpp"
#include "whittle/chain/config.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace whittle::cli {
namespace {

bool has_paid_writes(const logs::Session& session) {
    const auto writes = [](const logs::Call& call) { return call.usage && call.usage->cache_write > 0; };
    return (session.billed_in_all && session.billed_in_all->cache_write > 0) ||
           std::ranges::any_of(session.calls, writes);
}

bool is_of_openai(const logs::Session& session) {
    return std::ranges::any_of(session.calls, [](const logs::Call& call) { return call.model.starts_with("gpt-"); });
}

/// Of calls that came after `life` seconds, but within `longer`, with a context that had not fallen: whether more were
/// read from the cache than not.
bool is_kept_longer(const logs::Session& session, std::int64_t life, std::int64_t longer) {
    constexpr double most = 0.6;  // of the context before
    struct Asked {
        double at;
        double tokens;
    };
    std::optional<Asked> before;
    int read = 0;
    for (const logs::Call& call : session.calls) {
        const auto& seconds = session.recording.seconds;
        if (!call.usage || call.reply >= seconds.size() || !seconds[call.reply]) continue;
        const auto cached = static_cast<double>(call.usage->cache_read);
        const Asked now{*seconds[call.reply], static_cast<double>(input_of(*call.usage))};
        const double gap = before ? now.at - before->at : 0.0;
        if (gap > static_cast<double>(life) && gap <= static_cast<double>(longer) &&
            now.tokens >= most * before->tokens)
            read += cached >= most * std::min(before->tokens, now.tokens) ? 1 : -1;
        before = now;
    }
    return read > 0;
}

}  // namespace

evaluation::CostProfile profile_of_bill(const logs::Session& session, bool is_anthropic) {
    const bool has_writes = has_paid_writes(session);
    if (!is_anthropic && !has_writes) return *evaluation::find_cost_profile("openai");
    if (!is_anthropic && is_of_openai(session)) return *evaluation::find_cost_profile("openai_2026");
    evaluation::CostProfile profile = *evaluation::find_cost_profile("anthropic_5m");
    const CacheProfile& hour = *find_cache_profile("anthropic_1h");
    if (is_kept_longer(session, profile.cache.ttl_seconds, hour.ttl_seconds)) profile.cache = hour;
    return profile;
}

}  // namespace whittle::cli
