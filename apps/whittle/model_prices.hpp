#pragma once

#include "whittle/message/part.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::cli {

/// What a provider takes for a model, in dollars per million tokens.
struct ModelPrices {
    double input = 0;
    double output = 0;
    double cache_read = 0;
    double cache_write = 0;       ///< for five minutes, or as long as the provider likes
    double cache_write_hour = 0;  ///< for an hour
    /// A call with more input tokens than this costs more as a whole; 0: none does.
    std::int64_t long_above = 0;
    double long_input = 1;   ///< times the prices of input and cache
    double long_output = 1;  ///< times that of output
};

/// When the list prices below were looked up.
inline constexpr std::string_view prices_as_of = "November 2026";

/// Prices by the name of the model: those that Anthropic, OpenAI and Google list, and others that the user gives.
/// A name is looked up without what gateways put around it (`openai/gpt-5`, `us.anthropic.claude-...-v1:0`,
/// `claude-...@20250929`), without its date, and in no case.
class PriceList {
public:
    PriceList();

    /// `MODEL=INPUT,OUTPUT[,CACHE_READ[,CACHE_WRITE]]`, in dollars per million tokens; it goes before what is listed.
    /// Cached tokens cost what input costs where nothing else is said. Without `MODEL=` it is for all models that have
    /// no price. Returns what is wrong with it; empty: nothing.
    [[nodiscard]] std::string add(std::string_view text);
    /// Null: no price is known.
    [[nodiscard]] const ModelPrices* find(std::string_view model) const;

private:
    std::map<std::string, ModelPrices, std::less<>> by_model_{};
    std::optional<ModelPrices> of_others_{};
};

/// `is_one_call`: otherwise the usage is a sum over calls, and none of them is taken for a long one.
[[nodiscard]] double dollars_of(const Usage& usage, const ModelPrices& prices, bool is_one_call) noexcept;

}  // namespace whittle::cli
