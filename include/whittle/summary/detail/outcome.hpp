#pragma once

#include "whittle/summary/config.hpp"
#include "whittle/summary/detail/attempt.hpp"
#include "whittle/summary/detail/chunks.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What came of generating a summary, whatever the type of the messages.
struct SummaryGenerationOutcome {
    std::string summary{};                        ///< accepted and cleaned; empty on failure
    std::optional<SummaryError> failure{};        ///< absent: it worked
    Usage usage{};                                ///< of all calls that said it
    int model_calls = 0;                          ///< calls of a model, failed ones among them
    std::vector<ChunkRecord> chunks{};            ///< requests of this run that were accepted, in order
    std::vector<std::string> missing_sections{};  ///< required ones that the summary lacks after all
    bool resumed = false;                         ///< went on from the state instead of starting anew

    /// Whether there is a summary.
    [[nodiscard]] bool ok() const noexcept { return !failure; }
};

namespace detail {

/// A summary of the messages of a draft, as plain code orders it from whoever knows their type. A view.
struct SummaryOrder {
    const SummaryGenerationConfig& config;
    std::span<const std::size_t> fold{};  ///< the rest: as in `SummaryGenerationTask`
    std::int64_t replaced_tokens = 0;
    std::function<std::string(std::string_view)> accept{};
};

}  // namespace detail

}  // namespace whittle::inline v0
