#include "whittle/storage_conformance/storage_conformance.hpp"

#include "check_run.hpp"

#include <exception>

namespace whittle::inline v0 {
namespace {

StorageChecks all_checks() {
    StorageChecks all;
    for (auto* const part : {checks_of_objects, checks_of_keys, checks_of_writers, checks_of_listing, checks_of_sizes,
                             checks_of_sharing}) {
        const StorageChecks checks = part();
        all.insert(all.end(), checks.begin(), checks.end());
    }
    return all;
}

bool is_offered(const CheckRun& run, CheckNeeds needs) {
    switch (needs) {
        case CheckNeeds::nothing: return true;
        case CheckNeeds::listing: return run.lists();
        case CheckNeeds::removal: return run.removes();
        case CheckNeeds::listing_and_removal: return run.lists() && run.removes();
        case CheckNeeds::streams: return run.streams();
    }
    return true;
}

StorageCheckResult result_of(const StorageCheck& check, const OpenStorage& open,
                             const StorageConformanceOptions& options) {
    StorageCheckResult result{.name = check.name};
    try {
        CheckRun run(open, options);
        if (!is_offered(run, check.needs)) {
            result.outcome = StorageCheckOutcome::not_offered;
            return result;
        }
        try {
            check.run(run);
        } catch (const std::exception& error) {
            run.fail(fmt::format("threw: {}", error.what()));
        }
        result.failures = run.take_failures();
    } catch (const std::exception& error) {
        result.failures.push_back(fmt::format("opening threw: {}", error.what()));
    }
    if (!result.failures.empty()) result.outcome = StorageCheckOutcome::failed;
    return result;
}

void require_sizes(const StorageConformanceOptions& options) {
    Problems problems;
    const auto at_least_one = [&](std::string_view field, std::int64_t value) {
        if (value < 1) problems.error(std::string(field), std::to_string(value), "1 or more");
    };
    at_least_one("large_bytes", options.large_bytes);
    at_least_one("objects", options.objects);
    at_least_one("threads", options.threads);
    at_least_one("rounds", options.rounds);
    problems.throw_if_errors("check_storage_conformance");
}

std::string_view word_for(StorageCheckOutcome outcome) {
    switch (outcome) {
        case StorageCheckOutcome::passed: return "passed";
        case StorageCheckOutcome::failed: return "FAILED";
        case StorageCheckOutcome::not_offered: return "not offered";
    }
    return "";
}

}  // namespace

std::vector<std::string_view> storage_conformance_checks() {
    std::vector<std::string_view> names;
    for (const StorageCheck& check : all_checks()) names.push_back(check.name);
    return names;
}

bool check_storage_conformance(const NewStorage& fresh, const std::function<void(const StorageCheckResult&)>& report,
                               const StorageConformanceOptions& options) {
    require_sizes(options);
    bool found = false;
    bool passed = true;
    for (const StorageCheck& check : all_checks()) {
        if (!options.only.empty() && check.name != options.only) continue;
        found = true;
        const StorageCheckResult result = result_of(check, fresh(), options);
        passed &= result.outcome != StorageCheckOutcome::failed;
        report(result);
    }
    if (!found)
        throw Error(Errc::not_found, fmt::format("check_storage_conformance: there is no check \"{}\"", options.only));
    return passed;
}

std::string to_string(const StorageCheckResult& result) {
    std::string text = fmt::format("{}: {}", word_for(result.outcome), result.name);
    for (const std::string& failure : result.failures) text += fmt::format("\n    {}", failure);
    return text;
}

}  // namespace whittle::inline v0
