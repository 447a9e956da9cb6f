#include "replay.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>

namespace whittle::inline v0 {

PrefixElement overhead_piece(std::string_view system, std::span<const ToolSpec> tools, const TokenCounter& counter) {
    Hash128 hash = hash128(system);
    for (const ToolSpec& tool : tools) hash = hash128(to_compact_json(tool), hash);
    return {hash, count_overhead(system, tools, counter)};
}

namespace detail {

bool ViolationLog::contains(const std::vector<Violation>& after) const {
    return std::ranges::all_of(after, [&](const Violation& violation) {
        const std::pair same(violation.rule, violation.serial);
        return known_.contains(same) || recorded_.contains(same);
    });
}

void ViolationLog::add(std::string_view trajectory, std::int64_t call, const std::vector<Violation>& before,
                       const std::vector<Violation>& after) {
    for (const Violation& violation : before) recorded_.emplace(violation.rule, violation.serial);
    for (const Violation& violation : new_violations(before, after)) {
        if (!known_.emplace(violation.rule, violation.serial).second) continue;
        found_.push_back({std::string(trajectory), call, violation});
    }
}

namespace {

void add_side_call(ReplayTotals& totals, const ModelCallReport& call) noexcept {
    ++totals.side_calls;
    if (!call.usage) return;
    const std::int64_t output = call.usage->output;
    totals.side_input = add_saturating(totals.side_input, sub_saturating(call.usage->total(), output));
    totals.side_output = add_saturating(totals.side_output, output);
}

}  // namespace

void add_report(ReplayTotals& totals, std::string_view trajectory, const Report& report) {
    const auto add_failure = [&](const StageReport& stage, std::string_view why) {
        totals.add_error(std::string(trajectory) + ": " + std::string(stage.middleware) + ": " + std::string(why));
    };
    for (const StageReport& stage : report.stages) {
        if (stage.outcome == Outcome::failed) ++totals.failed_hooks;
        if (!stage.details) continue;
        totals.bytes_stored = add_saturating(totals.bytes_stored, stage.details->bytes_stored);
        for (const ModelCallReport& call : stage.details->model_calls) add_side_call(totals, call);
        totals.failed_writes += static_cast<std::int64_t>(stage.details->store_failures.size());
        for (const StoreFailure& failure : stage.details->store_failures) add_failure(stage, failure.reason);
        if (!stage.details->error.empty()) add_failure(stage, stage.details->error);
    }
}

void ArrivalFailures::operator()(const Event& event) {
    const bool is_write = event.kind == "store_failed";
    const bool is_hook = event.kind == "failed" && !was_write_;
    was_write_ = is_write;
    if (!is_write && !is_hook) return;
    ++(is_write ? totals_.failed_writes : totals_.failed_hooks);
    totals_.add_error(std::string(trajectory_) + ": " + std::string(event.source) + ": " + std::string(event.text));
}

void throw_if_stopped(std::string_view trajectory, const StopToken& stop) {
    if (stop.stop_requested()) throw Error(Errc::cancelled, "replay \"" + std::string(trajectory) + "\": stopped");
}

std::int64_t bytes_of(const MessageInfo& info) noexcept {
    std::int64_t bytes = 0;
    for (const PartInfo& part : info.parts) bytes = add_saturating(bytes, part.text_bytes);
    return bytes;
}

}  // namespace detail

}  // namespace whittle::inline v0
