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

/// What the cache costs to write to, times the input price.
struct WriteFactors {
    double short_time = 1;
    double hour = 1;
};

constexpr ModelPrices with_writes(double input, double output, double read, WriteFactors writes) {
    return {.input = input,
            .output = output,
            .cache_read = read,
            .cache_write = writes.short_time * input,
            .cache_write_hour = writes.hour * input};
}

/// Anthropic; its cache costs a tenth of the input price to read where nothing else is said.
constexpr ModelPrices claude(double input, double output, double read) {
    return with_writes(input, output, read, {1.25, 2});
}
constexpr ModelPrices claude(double input, double output) { return claude(input, output, 0.1 * input); }

/// A provider whose cache costs nothing to write to.
constexpr ModelPrices free_writes(double input, double output, double read) {
    return with_writes(input, output, read, {});
}

/// OpenAI since GPT-5.6.
constexpr ModelPrices paid_writes(double input, double output, double read) {
    return with_writes(input, output, read, {1.25, 1.25});
}

/// OpenAI and Google take twice the input price and one and a half times the output price above so many input tokens.
constexpr ModelPrices higher_above(std::int64_t tokens, ModelPrices prices, double input = 2, double output = 1.5) {
    prices.long_above = tokens;
    prices.long_input = input;
    prices.long_output = output;
    return prices;
}

/// Each price but that of output.
ModelPrices scaled(ModelPrices prices, double factor) {
    prices.cache_read *= factor;
    prices.cache_write *= factor;
    prices.cache_write_hour *= factor;
    return prices;
}

constexpr std::int64_t long_of_openai = 272'000;
constexpr std::int64_t long_of_google = 200'000;

/// The list prices of the providers' own interfaces, as `prices_as_of` says; standard service, no batches. From
/// the table of LiteLLM 1.110.2 (model_prices_and_context_window.json; MIT, see NOTICE).
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
    std::pair{"claude-haiku-5-5", higher_above(100'000, claude(0.1, 0.5), 5, 5)},
    std::pair{"claude-fable-5", claude(10, 50)},
    std::pair{"claude-fable-5-1", claude(10, 50, 0.25)},
    std::pair{"claude-mythos-preview", claude(10, 50)},
    std::pair{"claude-mythos-5", claude(10, 50)},
    std::pair{"claude-mythos-5-1", claude(10, 50, 0.25)},
    std::pair{"gpt-4-turbo", free_writes(10, 30, 10)},
    std::pair{"gpt-4o", free_writes(2.5, 10, 1.25)},
    std::pair{"gpt-4o-2024-05-13", free_writes(5, 15, 5)},
    std::pair{"gpt-4o-mini", free_writes(0.15, 0.6, 0.075)},
    std::pair{"gpt-4.1", free_writes(2, 8, 0.5)},
    std::pair{"gpt-4.1-mini", free_writes(0.4, 1.6, 0.1)},
    std::pair{"gpt-4.1-nano", free_writes(0.1, 0.4, 0.025)},
    std::pair{"o1", free_writes(15, 60, 7.5)},
    std::pair{"o3-mini", free_writes(1.1, 4.4, 0.55)},
    std::pair{"o3-pro", free_writes(20, 80, 20)},
    std::pair{"o3", free_writes(2, 8, 0.5)},
    std::pair{"o4-mini", free_writes(1.1, 4.4, 0.275)},
    std::pair{"gpt-5", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5-codex", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5-chat", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5-pro", free_writes(15, 120, 15)},
    std::pair{"gpt-5-mini", free_writes(0.25, 2, 0.025)},
    std::pair{"gpt-5-nano", free_writes(0.05, 0.4, 0.005)},
    std::pair{"gpt-5.1", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5.1-codex", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5.1-codex-max", free_writes(1.25, 10, 0.125)},
    std::pair{"gpt-5.1-codex-mini", free_writes(0.25, 2, 0.025)},
    std::pair{"gpt-5.2", free_writes(1.75, 14, 0.175)},
    std::pair{"gpt-5.2-codex", free_writes(1.75, 14, 0.175)},
    std::pair{"gpt-5.3-codex", free_writes(1.75, 14, 0.175)},
    std::pair{"gpt-5.4", higher_above(long_of_openai, free_writes(2.5, 15, 0.25))},
    std::pair{"gpt-5.4-mini", free_writes(0.75, 4.5, 0.075)},
    std::pair{"gpt-5.4-nano", free_writes(0.2, 1.25, 0.02)},
    std::pair{"gpt-5.5", higher_above(long_of_openai, free_writes(5, 30, 0.5))},
    std::pair{"gpt-5.6", higher_above(long_of_openai, paid_writes(4, 20, 0.4))},
    std::pair{"gpt-5.6-sol", higher_above(long_of_openai, paid_writes(4, 20, 0.4))},
    std::pair{"gpt-5.6-terra", higher_above(long_of_openai, paid_writes(2, 12, 0.2))},
    std::pair{"gpt-5.6-luna", higher_above(long_of_openai, paid_writes(0.2, 1.2, 0.02))},
    std::pair{"gpt-6-astra", higher_above(long_of_openai, paid_writes(10, 50, 1))},
    std::pair{"gpt-6-sol", higher_above(long_of_openai, paid_writes(2, 10, 0.2))},
    std::pair{"gpt-6-luna", higher_above(long_of_openai, paid_writes(0.1, 0.5, 0.01))},
    std::pair{"gpt-6.1-sol", higher_above(long_of_openai, paid_writes(2, 10, 0.1))},
    std::pair{"gpt-6.1-terra", higher_above(long_of_openai, paid_writes(1, 5, 0.05))},
    std::pair{"gemini-flash-latest", free_writes(0.75, 3.75, 0.075)},
    std::pair{"gemini-flash-lite-latest", free_writes(0.3, 2.5, 0.03)},
    std::pair{"gemini-pro-latest", higher_above(long_of_google, free_writes(2, 12, 0.2))},
    std::pair{"gemini-2.5-pro", higher_above(long_of_google, free_writes(1.25, 10, 0.125))},
    std::pair{"gemini-2.5-flash", free_writes(0.3, 2.5, 0.03)},
    std::pair{"gemini-2.5-flash-lite", free_writes(0.1, 0.4, 0.01)},
    std::pair{"gemini-3-flash-preview", free_writes(0.5, 3, 0.05)},
    std::pair{"gemini-3-pro-preview", higher_above(long_of_google, free_writes(2, 12, 0.2))},
    std::pair{"gemini-3.1-pro-preview", higher_above(long_of_google, free_writes(2, 12, 0.2))},
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

void cut_prefix(std::string& name) {
    name.erase(0, name.rfind('/') + 1);  // nothing where there is none
    for (const char* family : {"claude-", "gpt-", "gemini-"}) {
        const std::size_t at = name.find(family);
        if (at == std::string::npos || at == 0) continue;
        if (name[at - 1] == '.' || name[at - 1] == ':') return static_cast<void>(name.erase(0, at));
    }
}

/// "claude-4-5-sonnet" is listed as "claude-sonnet-4-5".
void order_claude(std::string& name) {
    std::ranges::replace(name, '.', '-');
    for (const std::string family : {"-sonnet", "-opus", "-haiku"}) {
        const std::size_t at = name.find(family);
        constexpr std::size_t front = std::string_view("claude").size();
        if (at == std::string::npos || at <= front || name[front + 1] < '4') continue;
        name = name.substr(0, front) + family + name.substr(front, at - front) + name.substr(at + family.size());
    }
}

void cut_at(std::string& name, std::string_view mark) {
    const std::size_t at = name.rfind(mark);
    if (at != std::string::npos && at > 0) name.erase(at);
}

/// Names under which a model may be listed, the most exact one first.
std::vector<std::string> listed_names_of(std::string_view model) {
    std::string name(model);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    std::vector<std::string> names{name};
    const auto add = [&] {
        if (!name.empty() && names.back() != name) names.push_back(name);
    };
    cut_prefix(name);
    name.erase(std::min(name.find_first_of("@["), name.size()));
    if (const std::size_t colon = name.find(':'); colon != std::string::npos && colon > 0) name.erase(colon);
    add();
    if (name.empty()) return names;
    const bool is_claude = name.starts_with("claude-");
    if (is_claude && (name.ends_with("-v1") || name.ends_with("-v2"))) name.erase(name.size() - 3);
    cut_at(name, "-latest");
    add();
    name.erase(name.size() - length_of_date(name));
    if (is_claude) order_claude(name);
    if (is_claude && name.ends_with("-0")) name.erase(name.size() - 2);
    if (name.starts_with("gemini-") && name.ends_with("-001")) name.erase(name.size() - 4);
    add();
    if (!name.ends_with("-preview")) names.push_back(name + "-preview");
    cut_at(name, "-preview");
    add();
    return names;
}

std::optional<double> price_of(std::string_view text) {
    double price = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), price);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    constexpr double most = 1e6;  // dollars for a million tokens
    return is_number && price >= 0 && price <= most ? std::optional(price) : std::nullopt;
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
    const bool is_named = sign == std::string_view::npos || !listed_names_of(text.substr(0, sign)).back().empty();
    if (prices.size() < 2 || prices.size() > 4 || !is_named)
        return fmt::format(
            "\"{}\": expected MODEL=INPUT,OUTPUT, dollars per million tokens, such as my-model=3,15 or, with the "
            "prices of cached tokens, my-model=3,15,0.3,3.75",
            text);
    const std::string model = sign == std::string_view::npos ? "" : listed_names_of(text.substr(0, sign)).back();
    const ModelPrices* const listed = sign == std::string_view::npos ? nullptr : find(text.substr(0, sign));
    ModelPrices given = listed != nullptr && listed->input > 0 ? scaled(*listed, prices[0] / listed->input)
                                                               : free_writes(prices[0], prices[1], prices[0]);
    given.input = prices[0];
    given.output = prices[1];
    if (prices.size() > 2) given.cache_read = prices[2];
    if (prices.size() > 3) {
        const double hour = given.cache_write > 0 ? given.cache_write_hour / given.cache_write : 1.0;
        given.cache_write = prices[3];
        given.cache_write_hour = prices[3] * hour;
    }
    if (sign == std::string_view::npos) {
        of_others_ = given;
        return {};
    }
    const auto* const known = entry_of(text.substr(0, sign));
    const std::string name = known != nullptr ? known->first : model;
    by_model_.insert_or_assign(name, given);
    given_.push_back(name);
    return {};
}

const std::pair<const std::string, ModelPrices>* PriceList::entry_of(std::string_view model) const {
    for (const std::string& name : listed_names_of(model)) {
        const auto known = by_model_.find(name);
        if (known != by_model_.end()) return &*known;
    }
    return nullptr;
}

const ModelPrices* PriceList::find(std::string_view model) const {
    const auto* const entry = entry_of(model);
    if (entry != nullptr) return &entry->second;
    return of_others_ ? &*of_others_ : nullptr;
}

std::vector<std::string> PriceList::unused(std::span<const std::string> models) const {
    std::vector<std::string> unused = given_;
    for (const std::string& model : models) {
        const auto* const entry = entry_of(model);
        if (entry != nullptr) std::erase(unused, entry->first);
    }
    return unused;
}

double dollars_of(const Usage& usage, const ModelPrices& prices, const Charging& charging) noexcept {
    constexpr double per_million = 1e-6;
    const std::int64_t hour =
        charging.writes_live_an_hour ? usage.cache_write - usage.cache_write_5m : usage.cache_write_1h;
    const double input = static_cast<double>(usage.uncached_input) * prices.input +
                         static_cast<double>(usage.cache_read) * prices.cache_read +
                         static_cast<double>(usage.cache_write - hour) * prices.cache_write +
                         static_cast<double>(hour) * prices.cache_write_hour;
    const double output = static_cast<double>(usage.output) * prices.output;
    const bool is_long = charging.is_one_call && prices.long_above > 0 && input_of(usage) > prices.long_above;
    return per_million * (is_long ? input * prices.long_input + output * prices.long_output : input + output);
}

}  // namespace whittle::cli
