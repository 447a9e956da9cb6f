#include "chain_replay.hpp"

#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace whittle::cli {

std::string reason_of_failure(const ReplayTotals& sum) {
    std::vector<std::string> reasons;
    const auto add = [&](std::int64_t number, std::string_view one, std::string_view more) {
        if (number > 0) reasons.push_back(fmt::format("{} {}", grouped(number), number == 1 ? one : more));
    };
    add(static_cast<std::int64_t>(sum.violations.size()), "message rule is broken that the recording keeps",
        "message rules are broken that the recording keeps");
    add(sum.not_undone, "session is not given back by undoing", "sessions are not given back by undoing");
    add(sum.failed_hooks, "run of a middleware failed", "runs of middlewares failed");
    add(sum.failed_writes, "write to the store failed", "writes to the store failed");
    return fmt::format("{}", fmt::join(reasons, ", "));
}

}  // namespace whittle::cli
