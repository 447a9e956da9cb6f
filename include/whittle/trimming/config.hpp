#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What stays of an old text.
enum class TrimUnit : std::uint8_t {
    passages,  ///< whole stretches that belong together, long enough to be copied, or nothing
    lines,     ///< single lines, wherever they stand: cheaper, but what is left is hard to edit by
};

/// Settings of `Trimming`: docs/trimming.md has the reasons, and the ages at which text goes.
struct TrimmingConfig {
    TrimUnit unit = TrimUnit::passages;  ///< what stays of an old text: whole `passages`, or single `lines`
    /// Cached text of requests of up to that size stays as it is; after a pause longer than the cache lives of up to
    /// 10,000, if that is less.
    std::int64_t start_tokens = 20'000;
    int keep_rounds = 1;  ///< newest model calls whose results stay as they came
    double force_above_window_fraction =
        0.0;                          ///< above this part of a known window what may go goes, whatever it costs; 0: off
    bool trim_reads = true;           ///< trim the content of files
    bool trim_program_output = true;  ///< trim what programs and searches print
    bool trim_arguments = true;       ///< trim arguments of calls that worked
    bool drop_known_lines_on_arrival = true;  ///< by lines: drop from new results what the model has before it already
    std::int64_t min_result_bytes = 400;      ///< results of fewer bytes stay
    std::int64_t min_argument_bytes = 240;    ///< arguments of fewer bytes stay
    /// Tools whose results and arguments stay, beside `protected_tools` of the chain.
    std::vector<std::string> exclude_tools{};
    std::shared_ptr<Storage> storage{};  ///< own storage. Null: the chain's
};

/// The `Provenance::reason` of what stands in place of trimmed text.
inline constexpr std::string_view trimmed_reason = "trim";

/// Adds the problems of `config`. `name`: of the middleware.
void check_trimming(const TrimmingConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems);

/// As configurations write it; `make_trimming` makes it.
[[nodiscard]] MiddlewareType<TrimmingConfig> trimming_type();

}  // namespace whittle::inline v0
