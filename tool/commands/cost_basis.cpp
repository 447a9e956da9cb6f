#include "cost_basis.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/chain/config.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace whittle::cli {
namespace {

constexpr std::int64_t largest_front = 100'000;  // more is a call whose messages are not all recorded

bool has_paid_writes(std::span<const RecordedUsage> calls) {
    return std::ranges::any_of(calls, [](const RecordedUsage& call) { return call.usage.cache_write > 0; });
}

/// A gateway puts the provider in front: `openai/gpt-5`.
bool is_called(const RecordedBill& bill, std::string_view name) {
    return bill.model.find(name) != std::string_view::npos ||
           std::ranges::any_of(bill.calls,
                               [&](const RecordedUsage& call) { return call.model.find(name) != std::string::npos; });
}

bool is_of_openai(const RecordedBill& bill) { return is_called(bill, "gpt-"); }
bool is_of_anthropic(const RecordedBill& bill) { return bill.is_anthropic || is_called(bill, "claude"); }

/// Of calls that came after `life` seconds, but within `longer`, with a context that had not fallen: whether more were
/// read from the cache than not.
bool is_kept_longer(const RecordedBill& bill, std::int64_t life, std::int64_t longer) {
    constexpr double most = 0.6;  // of the context before
    struct Asked {
        double at;
        double tokens;
    };
    std::optional<Asked> before;
    int read = 0;
    for (const RecordedUsage& call : bill.calls) {
        if (call.message >= bill.seconds.size() || !bill.seconds[call.message]) continue;
        const auto cached = static_cast<double>(call.usage.cache_read);
        const Asked now{*bill.seconds[call.message], static_cast<double>(input_of(call.usage))};
        const double gap = before ? now.at - before->at : 0.0;
        if (gap > static_cast<double>(life) && gap <= static_cast<double>(longer) &&
            now.tokens >= most * before->tokens)
            read += cached >= most * std::min(before->tokens, now.tokens) ? 1 : -1;
        before = now;
    }
    return read > 0;
}

/// Whether what was written to the cache lives for an hour: as most of it was told, or else as it was read.
bool is_kept_an_hour(const RecordedBill& bill, std::int64_t life, std::int64_t hour) {
    Usage sum;
    for (const RecordedUsage& call : bill.calls) sum += call.usage;
    const bool is_reported = sum.cache_write_5m > 0 || sum.cache_write_1h > 0;
    return is_reported ? sum.cache_write_1h > sum.cache_write_5m : is_kept_longer(bill, life, hour);
}

evaluation::CostProfile profile_of_bill(const RecordedBill& bill) {
    const bool has_writes = has_paid_writes(bill.calls);
    if (!is_of_anthropic(bill) && !has_writes) return *evaluation::find_cost_profile("openai");
    if (!is_of_anthropic(bill) && is_of_openai(bill)) return *evaluation::find_cost_profile("openai_2026");
    evaluation::CostProfile profile = *evaluation::find_cost_profile("anthropic_5m");
    const CacheProfile& hour = *find_cache_profile("anthropic_1h");
    if (is_kept_an_hour(bill, profile.cache.ttl_seconds, hour.ttl_seconds)) profile.cache = hour;
    return profile;
}

/// What a call was billed against what we count of its messages.
struct BilledCount {
    double counted = 0;
    double billed = 0;
};

/// Of the calls up to the first whose context had fallen: behind it the recording is longer than what was sent.
std::vector<BilledCount> growing_calls(const RecordedBill& bill) {
    constexpr double fallen = 0.9;
    std::vector<BilledCount> calls;
    double largest = 0;
    for (const RecordedUsage& call : bill.calls) {
        const auto billed = static_cast<double>(input_of(call.usage));
        if (billed <= 0 || call.message >= bill.counted.size()) continue;
        if (billed < fallen * largest) break;
        largest = std::max(largest, billed);
        calls.push_back({static_cast<double>(bill.counted[call.message]), billed});
    }
    return calls;
}

/// The slope by least squares; 1 where the calls tell too little.
double billed_per_counted(const std::vector<BilledCount>& calls) {
    constexpr std::size_t fewest = 8;
    constexpr double min_growth = 2'000;  // tokens
    constexpr double least = 0.8;         // other tokenizers are between these, and what no recording holds grows too
    constexpr double most = 2.5;
    if (calls.size() < fewest || calls.back().counted - calls.front().counted < min_growth) return 1;
    BilledCount mean;
    for (const BilledCount& call : calls) mean.counted += call.counted, mean.billed += call.billed;
    mean.counted /= static_cast<double>(calls.size());
    mean.billed /= static_cast<double>(calls.size());
    double covariance = 0;
    double alone = 0;
    for (const BilledCount& call : calls) {
        covariance += (call.counted - mean.counted) * (call.billed - mean.billed);
        alone += (call.counted - mean.counted) * (call.counted - mean.counted);
    }
    return alone > 0 ? std::clamp(covariance / alone, least, most) : 1;
}

void take_front(CostBasis& basis, const std::vector<BilledCount>& calls) {
    if (calls.empty()) return;
    basis.billed_per_counted = billed_per_counted(calls);
    const double front = calls.front().billed / basis.billed_per_counted - calls.front().counted;
    basis.front = std::clamp<std::int64_t>(std::llround(front), 0, largest_front);
}

}  // namespace

std::string_view to_string(CacheSource source) noexcept {
    constexpr std::array<std::string_view, 4> names{"choice", "bill", "model", "assumed"};
    return names[static_cast<std::size_t>(source)];
}

std::int64_t input_of(const Usage& usage) noexcept {
    return add_saturating(add_saturating(usage.uncached_input, usage.cache_read), usage.cache_write);
}

double cost_of(const Usage& usage, const evaluation::CostProfile& profile) noexcept {
    const double five_minutes = find_cache_profile("anthropic_5m")->write;
    const double hour = find_cache_profile("anthropic_1h")->write;
    const std::int64_t untold = usage.cache_write - usage.cache_write_5m - usage.cache_write_1h;
    return static_cast<double>(usage.uncached_input) + static_cast<double>(usage.cache_read) * profile.cache.read +
           static_cast<double>(untold) * profile.cache.write +
           static_cast<double>(usage.cache_write_5m) * five_minutes + static_cast<double>(usage.cache_write_1h) * hour +
           static_cast<double>(usage.output) * profile.output;
}

CostBasis cost_basis_of(const RecordedBill& bill) {
    CostBasis basis{.profile = *evaluation::find_cost_profile("anthropic_5m")};
    take_front(basis, growing_calls(bill));
    const bool is_billed =
        std::ranges::any_of(bill.calls, [](const RecordedUsage& call) { return input_of(call.usage) > 0; });
    if (is_billed) {
        basis.profile = profile_of_bill(bill);
        basis.source = CacheSource::bill;
    } else if (is_of_anthropic(bill)) {
        basis.source = CacheSource::model;
    } else if (is_of_openai(bill)) {
        basis.profile = *evaluation::find_cost_profile("openai");
        basis.source = CacheSource::model;
    }
    return basis;
}

evaluation::CostProfile cost_profile_of(const ModelProfile& profile) {
    const evaluation::CostProfile* known = evaluation::find_cost_profile(profile.cache.name);
    const CacheProfile* shipped = find_cache_profile(profile.cache.name);
    const bool is_shipped = shipped != nullptr && *shipped == profile.cache;
    evaluation::CostProfile cost = known != nullptr ? *known : evaluation::CostProfile{};
    if (known == nullptr || !is_shipped) cost.cache = profile.cache;
    if (profile.prices && profile.prices->input > 0) cost.output = profile.prices->output / profile.prices->input;
    return cost;
}

void add_front(evaluation::SessionInput& input, std::int64_t tokens) {
    constexpr std::size_t characters_of_token = 4;
    if (input.estimated_tokens == 0) {
        input.estimated_tokens = evaluation::estimated_tokens(input.system);
        for (const evaluation::Message& message : input.messages)
            input.estimated_tokens += evaluation::estimated_tokens(evaluation::text_of(message));
    }
    input.system.append(static_cast<std::size_t>(tokens) * characters_of_token, '.');
}

std::string_view model_in_meta(const nlohmann::ordered_json& rest) noexcept {
    const auto meta = rest.find("meta");
    if (meta == rest.end() || !meta->is_object()) return {};
    const auto model = meta->find("model");
    if (model == meta->end() || !model->is_string()) return {};
    return model->get_ref<const std::string&>();
}

std::string_view first_model(std::span<const RecordedUsage> calls, const nlohmann::ordered_json& rest) noexcept {
    return calls.empty() || calls.front().model.empty() ? model_in_meta(rest) : std::string_view(calls.front().model);
}

}  // namespace whittle::cli
