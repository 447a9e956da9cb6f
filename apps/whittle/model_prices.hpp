#pragma once

#include "whittle/message/part.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
/// A name is looked up as it is, then without what gateways put around it (`openai/gpt-5`,
/// `us.anthropic.claude-...-v1:0`, `claude-...@20250929`, `...:thinking`), without "-latest", its date and "-preview";
/// upper and lower case are alike.
class PriceList {
public:
    PriceList();

    /// `MODEL=INPUT,OUTPUT[,CACHE_READ[,CACHE_WRITE]]`, in dollars per million tokens; it goes before what is listed.
    /// Where nothing is said of cached tokens, they cost in proportion what is listed for this model, or else what
    /// input costs. Without `MODEL=` it is for all models that have no price. Returns what is wrong with it; empty:
    /// nothing.
    [[nodiscard]] std::string add(std::string_view text);
    /// Null: no price is known.
    [[nodiscard]] const ModelPrices* find(std::string_view model) const;
    /// Names that `add` was given and none of these models has.
    [[nodiscard]] std::vector<std::string> unused(std::span<const std::string> models) const;

private:
    [[nodiscard]] const std::pair<const std::string, ModelPrices>* entry_of(std::string_view model) const;

    std::map<std::string, ModelPrices, std::less<>> by_model_{};
    std::optional<ModelPrices> of_others_{};
    std::vector<std::string> given_{};  // names in `by_model_`
};

/// How a call is charged that its usage does not tell.
struct Charging {
    bool is_one_call = true;  ///< otherwise the usage is a sum over calls, and none of them is taken for a long one
    bool writes_live_an_hour = false;  ///< what was written to the cache for a time that is not told
};
[[nodiscard]] double dollars_of(const Usage& usage, const ModelPrices& prices, const Charging& charging) noexcept;

}  // namespace whittle::cli
