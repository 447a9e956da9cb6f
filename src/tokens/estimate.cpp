#include "estimate_table.hpp"
#include "splitter.hpp"

#include "whittle/tokens/counter.hpp"

#include <algorithm>

namespace whittle::inline v0 {
namespace {

constexpr std::int64_t units_of_a_token = 1'000;

std::int64_t units_of(pieces::Kind kind, std::size_t characters) noexcept {
    const pieces::Weights& weights = pieces::weights[static_cast<std::size_t>(kind)];
    const std::size_t listed = std::clamp<std::size_t>(characters, 1, pieces::longest_listed);
    const auto further = static_cast<std::int64_t>(characters > listed ? characters - listed : 0);
    return weights.of_length[listed - 1] + further * weights.of_further_character;
}

class Estimate final : public TokenCounter {
public:
    std::string_view id() const noexcept override { return "estimate/2"; }

    /// In thousandths of a token.
    std::int64_t measure_units(std::string_view text) const override {
        std::int64_t units = 0;
        const auto add = [&units](pieces::Kind kind, std::size_t characters, std::size_t, std::size_t) {
            units += units_of(kind, characters);
        };
        pieces::Splitter(text, add).run();
        return units;
    }

    /// Rounded to the nearest, but no text is free.
    std::int64_t to_tokens(std::int64_t units) const noexcept override {
        if (units <= 0) return 0;
        const std::int64_t up = units % units_of_a_token * 2 >= units_of_a_token ? 1 : 0;
        return std::max<std::int64_t>(units / units_of_a_token + up, 1);
    }
};

}  // namespace

std::shared_ptr<const TokenCounter> estimate_counter() { return std::make_shared<const Estimate>(); }

}  // namespace whittle::inline v0
