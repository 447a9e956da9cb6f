#include "model_prices.hpp"

#include "cost_basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

/// Anthropic: reading the cache a tenth of the input price, writing 1.25 times, for an hour twice.
constexpr ModelPrices claude(double input, double output, double read) {
    return {.input = input,
            .output = output,
            .cache_read = read,
            .cache_write = 1.25 * input,
            .cache_write_hour = 2 * input};
}
constexpr ModelPrices claude(double input, double output) { return claude(input, output, 0.1 * input); }

/// A provider whose cache costs nothing to write to.
constexpr ModelPrices free_writes(double input, double output, double read) {
    return {.input = input, .output = output, .cache_read = read, .cache_write = input, .cache_write_hour = input};
}

/// OpenAI since GPT-5.6.
constexpr ModelPrices paid_writes(double input, double output, double read) {
    return {.input = input,
            .output = output,
            .cache_read = read,
            .cache_write = 1.25 * input,
            .cache_write_hour = 1.25 * input};
}

/// OpenAI and Google take twice the input price and one and a half times the output price above so many input tokens.
constexpr ModelPrices dearer_above(std::int64_t tokens, ModelPrices prices, double input = 2, double output = 1.5) {
    prices.long_above = tokens;
    prices.long_input = input;
    prices.long_output = output;
    return prices;
}

constexpr std::int64_t long_of_openai = 272'000;
constexpr std::int64_t long_of_google = 200'000;

/// The list prices of the providers' own interfaces, as `prices_as_of` says; standard service, no batches.
constexpr std::array listed_prices{
    std::pair{"claude-3-haiku", claude(0.25, 1.25, 0.03)},
    std::pair{"claude-3-opus", claude(15, 75)},
    std::pair{"claude-3-5-haiku", claude(0.8, 4)},
    std::pair{"claude-3-5-sonnet", claude(3, 15)},
    std::pair{"claude-3-7-sonnet", claude(3, 15)},
    std::pair{"claude-opus-4", claude(15, 75)},
    std::pair{"claude-opus-4-1", claude(15, 75)},
    std::pair{"claude-opus-4-5", claude(5, 25)},
    std::pair{"claude-opus-4-6", claude(5, 25)},
    std::pair{"claude-opus-4-7", claude(5, 25)},
    std::pair{"claude-opus-4-8", claude(5, 25)},
    std::pair{"claude-opus-5", claude(5, 25)},
    std::pair{"claude-opus-5-5", claude(4, 20, 0.2)},
    std::pair{"claude-sonnet-4", claude(3, 15)},
    std::pair{"claude-sonnet-4-5", claude(3, 15)},
    std::pair{"claude-sonnet-4-6", claude(3, 15)},
    std::pair{"claude-sonnet-5", claude(2, 10)},
    std::pair{"claude-sonnet-5-5", claude(2, 10, 0.1)},
    std::pair{"claude-haiku-4-5", claude(1, 5)},
    std::pair{"claude-haiku-5-5", dearer_above(100'000, claude(0.1, 0.5), 5, 5)},
    std::pair{"claude-fable-5", claude(10, 50)},
    std::pair{"claude-fable-5-1", claude(10, 50, 0.25)},
    std::pair{"claude-mythos-5", claude(10, 50)},
    std::pair{"claude-mythos-5-1", claude(10, 50, 0.25)},
    std::pair{"gpt-4o", free_writes(2.5, 10, 1.25)},
    std::pair{"gpt-4o-mini", free_writes(0.15, 0.6, 0.075)},
    std::pair{"gpt-4.1", free_writes(2, 8, 0.5)},
    std::pair{"gpt-4.1-mini", free_writes(0.4, 1.6, 0.1)},
    std::pair{"gpt-4.1-nano", free_writes(0.1, 0.4, 0.025)},
    std::pair{"o3", free_writes(2, 8, 0.5)},
    std::pair{"o4-mini", free_writes(1.1, 4.4, 0.275)},
    std::pair{"gpt-5", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5-codex", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5-mini", free_writes(0.25, 2, 0.025)},
    std::pair{"gpt-5-nano", free_writes(0.05, 0.4, 0.005)},
    std::pair{"gpt-5.1", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5.1-codex", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5.1-codex-max", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5.1-codex-mini", free_writes(0.25, 2, 0.025)},
    std::pair{"gpt-5.2", free_writes(1.75, 14, 0.175)},
    std::pair{"gpt-5.2-codex", free_writes(1.75, 14, 0.175)},
    std::pair{"gpt-5.3-codex", free_writes(1.75, 14, 0.175)},
    std::pair{"gpt-5.4", dearer_above(long_of_openai, free_writes(2.5, 15, 0.25))},
    std::pair{"gpt-5.4-mini", free_writes(0.75, 4.5, 0.075)},
    std::pair{"gpt-5.4-nano", free_writes(0.2, 1.25, 0.02)},
    std::pair{"gpt-5.5", dearer_above(long_of_openai, free_writes(5, 30, 0.5))},
    std::pair{"gpt-5.6", dearer_above(long_of_openai, paid_writes(4, 20, 0.4))},
    std::pair{"gpt-5.6-sol", dearer_above(long_of_openai, paid_writes(4, 20, 0.4))},
    std::pair{"gpt-5.6-terra", dearer_above(long_of_openai, paid_writes(2, 12, 0.2))},
    std::pair{"gpt-5.6-luna", dearer_above(long_of_openai, paid_writes(0.2, 1.2, 0.02))},
    std::pair{"gpt-6-astra", dearer_above(long_of_openai, paid_writes(10, 50, 1))},
    std::pair{"gpt-6-sol", dearer_above(long_of_openai, paid_writes(2, 10, 0.2))},
    std::pair{"gpt-6-luna", dearer_above(long_of_openai, paid_writes(0.1, 0.5, 0.01))},
    std::pair{"gpt-6.1-sol", dearer_above(long_of_openai, paid_writes(2, 10, 0.1))},
    std::pair{"gpt-6.1-terra", dearer_above(long_of_openai, paid_writes(1, 5, 0.05))},
    std::pair{"gemini-2.5-pro", dearer_above(long_of_google, free_writes(1.25, 10, 0.125))},
    std::pair{"gemini-2.5-flash", free_writes(0.3, 2.5, 0.03)},
    std::pair{"gemini-2.5-flash-lite", free_writes(0.1, 0.4, 0.01)},
    std::pair{"gemini-3-flash-preview", free_writes(0.5, 3, 0.05)},
    std::pair{"gemini-3-pro-preview", dearer_above(long_of_google, free_writes(2, 12, 0.2))},
    std::pair{"gemini-3.1-pro-preview", dearer_above(long_of_google, free_writes(2, 12, 0.2))},
    std::pair{"gemini-3.1-flash-lite", free_writes(0.25, 1.5, 0.025)},
    std::pair{"gemini-3.5-flash", free_writes(1.5, 9, 0.15)},
    std::pair{"gemini-3.5-flash-lite", free_writes(0.3, 2.5, 0.03)},
    std::pair{"gemini-3.6-flash", free_writes(0.75, 3.75, 0.075)},
    std::pair{"gemini-3.7-flash", free_writes(0.75, 3.75, 0.075)},
    std::pair{"gemini-3.8-flash", free_writes(0.75, 3.75, 0.075)},
    std::pair{"gemini-4-argon", free_writes(2, 10, 0.1)},
    std::pair{"gemini-4-hydrogen", free_writes(1.5, 7.5, 0.075)},
};

bool is_digit_char(char c) noexcept { return c >= '0' && c <= '9'; }

/// "-20250929" or "-2026-03-05" at the end of it.
std::size_t length_of_date(std::string_view name) noexcept {
    const auto ends_like = [&](std::string_view form) {
        if (name.size() <= form.size()) return false;
        const std::string_view end = name.substr(name.size() - form.size());
        return std::ranges::equal(end, form, [](char c, char f) { return f == '0' ? is_digit_char(c) : c == f; });
    };
    for (const std::string_view form : {"-00000000", "-0000-00-00"}) {
        if (ends_like(form)) return form.size();
    }
    return 0;
}

/// The name of the model alone, as it is listed.
std::string listed_name_of(std::string_view model) {
    std::string name(model);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    name.erase(0, name.rfind('/') + 1);  // nothing where there is none
    const std::size_t claude_at = name.find("claude-");
    const bool is_claude = claude_at != std::string::npos;
    if (is_claude) name.erase(0, claude_at);
    name.erase(std::min(name.find_first_of("@["), name.size()));
    if (const std::size_t version = name.rfind("-v1"); version != std::string::npos && is_claude) name.erase(version);
    if (name.ends_with("-latest")) name.erase(name.size() - std::string_view("-latest").size());
    name.erase(name.size() - length_of_date(name));
    if (is_claude) std::ranges::replace(name, '.', '-');
    return name;
}

std::optional<double> price_of(std::string_view text) {
    double price = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), price);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number && std::isfinite(price) && price >= 0 ? std::optional(price) : std::nullopt;
}

}  // namespace

PriceList::PriceList() {
    for (const auto& [name, prices] : listed_prices) by_model_.emplace(name, prices);
}

std::string PriceList::add(std::string_view text) {
    const std::size_t sign = text.find('=');
    std::string_view numbers = sign == std::string_view::npos ? text : text.substr(sign + 1);
    std::vector<double> prices;
    for (bool is_last = false; !is_last;) {
        const std::size_t comma = numbers.find(',');
        is_last = comma == std::string_view::npos;
        const auto price = price_of(numbers.substr(0, comma));
        if (!price) prices.clear();
        if (!price) break;
        prices.push_back(*price);
        numbers.remove_prefix(is_last ? numbers.size() : comma + 1);
    }
    if (prices.size() < 2 || prices.size() > 4 || sign == 0)
        return fmt::format(
            "\"{}\": expected MODEL=INPUT,OUTPUT, dollars per million tokens, such as my-model=3,15 or, with the "
            "prices of cached tokens, my-model=3,15,0.3,3.75",
            text);
    ModelPrices given = free_writes(prices[0], prices[1], prices.size() > 2 ? prices[2] : prices[0]);
    if (prices.size() > 3) given.cache_write = given.cache_write_hour = prices[3];
    if (sign == std::string_view::npos) {
        of_others_ = given;
    } else {
        by_model_.insert_or_assign(listed_name_of(text.substr(0, sign)), given);
    }
    return {};
}

const ModelPrices* PriceList::find(std::string_view model) const {
    const std::string name = listed_name_of(model);
    for (const std::string& tried : {name, name + "-preview"}) {
        const auto known = by_model_.find(tried);
        if (known != by_model_.end()) return &known->second;
    }
    return of_others_ ? &*of_others_ : nullptr;
}

double dollars_of(const Usage& usage, const ModelPrices& prices, bool is_one_call) noexcept {
    constexpr double per_million = 1e-6;
    const std::int64_t hour = usage.cache_write_1h;
    const double input = static_cast<double>(usage.input) * prices.input +
                         static_cast<double>(usage.cache_read) * prices.cache_read +
                         static_cast<double>(usage.cache_write - hour) * prices.cache_write +
                         static_cast<double>(hour) * prices.cache_write_hour;
    const double output = static_cast<double>(usage.output) * prices.output;
    const bool is_long = is_one_call && prices.long_above > 0 && input_of(usage) > prices.long_above;
    return per_million * (is_long ? input * prices.long_input + output * prices.long_output : input + output);
}

}  // namespace whittle::cli
