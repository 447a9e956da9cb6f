#pragma once

#include "evaluation/evaluation.hpp"
#include "evaluation/recorded.hpp"
#include "whittle/message/part.hpp"
#include "whittle/saved/trajectory.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// Where the prices of a session come from.
enum class CacheSource : std::uint8_t {
    choice,   ///< the command line or the configuration
    bill,     ///< what the provider billed for the recorded calls
    model,    ///< the name of the recorded model
    assumed,  ///< nothing says it
};
[[nodiscard]] std::string_view to_string(CacheSource source) noexcept;

/// What the calls of a session are paid by: the same in every command.
struct CostBasis {
    evaluation::CostProfile profile{};
    CacheSource source = CacheSource::assumed;
    /// What the first call was billed beyond its messages: system text and tools, which no recording of messages holds.
    /// In tokens by our count (characters / 4), as all figures are. Absent where no call's bill says it.
    std::optional<std::int64_t> front{};
    bool is_front_chosen = false;   ///< by the command line instead
    double billed_per_counted = 1;  ///< tokens that the provider bills where we count one, by how its bills grow
};

/// What a recording says of its bill.
struct RecordedBill {
    std::span<const RecordedUsage> calls{};
    std::span<const std::optional<double>> seconds{};  ///< of each message; empty: unknown
    std::span<const std::int64_t> counted{};           ///< tokens in front of each message by our count
    std::string_view model{};                          ///< of the first call; empty: not recorded
    bool is_anthropic = false;                         ///< its messages have that shape
};

/// What was sent: plain, read from the cache and written to it.
[[nodiscard]] std::int64_t input_of(const Usage& usage) noexcept;

/// In tokens at the plain input price. What was written to the cache for a time that is told costs what Anthropic takes
/// for that time, the rest what the profile says.
[[nodiscard]] double cost_of(const Usage& usage, const evaluation::CostProfile& profile) noexcept;

/// Prices from the bill: Anthropic's cache for its messages, for models called Claude, and where tokens written to a
/// cache were billed, which other models' recordings have for those of OpenAI alone; for an hour if most of what was
/// written was told to live that long, or, where nothing was told, if most of what was asked for after 5 minutes to an
/// hour was read still. Without a bill from the model's name.
[[nodiscard]] CostBasis cost_basis_of(const RecordedBill& bill);

/// The profile of that cache as a chain has it: its own prices, with the output price of the provider it belongs to.
[[nodiscard]] evaluation::CostProfile cost_profile_of(const ModelProfile& profile);

/// Puts so many tokens in front of every request of a session. What size the session has stays as it is.
void add_front(evaluation::SessionInput& input, std::int64_t tokens);

/// The name of the model that a recording has in `meta`; empty: none.
[[nodiscard]] std::string_view model_in_meta(const nlohmann::ordered_json& rest) noexcept;

/// The model of the first billed call, or else the one in `meta`; empty: neither is recorded.
[[nodiscard]] std::string_view first_model(std::span<const RecordedUsage> calls,
                                           const nlohmann::ordered_json& rest) noexcept;

/// `input`: the same session as figures see it.
template <JsonMessage M>
[[nodiscard]] CostBasis cost_basis_of(const Trajectory<M>& trajectory, const evaluation::SessionInput& input) {
    std::vector<std::int64_t> counted;
    std::int64_t sum = evaluation::estimated_tokens(input.system) + evaluation::estimated_tokens(input.tools);
    if (!trajectory.usage_by_call.empty()) {
        for (const M& message : trajectory.messages) {
            counted.push_back(sum);
            for (const evaluation::Message& one : evaluation::detail::messages_of(message))
                sum += evaluation::estimated_tokens(evaluation::text_of(one));
        }
    }
    RecordedBill bill{.calls = trajectory.usage_by_call, .seconds = trajectory.seconds_since_first, .counted = counted};
    bill.model = first_model(trajectory.usage_by_call, trajectory.rest);
    bill.is_anthropic = !std::same_as<M, openai::Message>;
    return cost_basis_of(bill);
}

}  // namespace whittle::cli
