#include "session_cost.hpp"

#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

std::string_view reason_of(CacheSource source) {
    switch (source) {
        case CacheSource::choice: return "as was chosen";
        case CacheSource::bill: return "as billed";
        case CacheSource::model: return "by the model's name";
        case CacheSource::assumed: break;
    }
    return "assumed, since nothing says it";
}

template <typename Value>
Value median_of(std::vector<Value> values) {
    std::ranges::sort(values);
    return values.empty() ? Value{} : values[values.size() / 2];
}

}  // namespace

void CostBases::add(const CostBasis& basis) {
    are_fronts_chosen_ = are_fronts_chosen_ || basis.is_front_chosen;
    ++caches_[{basis.profile.cache.name, basis.source}];
    if (basis.front) {
        fronts_.push_back(*basis.front);
        billed_per_counted_.push_back(basis.billed_per_counted);
    } else {
        ++unknown_fronts_;
    }
}

CostBases& CostBases::operator+=(const CostBases& other) {
    for (const auto& [cache, sessions] : other.caches_) caches_[cache] += sessions;
    fronts_.insert(fronts_.end(), other.fronts_.begin(), other.fronts_.end());
    billed_per_counted_.insert(billed_per_counted_.end(), other.billed_per_counted_.begin(),
                               other.billed_per_counted_.end());
    unknown_fronts_ += other.unknown_fronts_;
    are_fronts_chosen_ = are_fronts_chosen_ || other.are_fronts_chosen_;
    return *this;
}

std::string CostBases::most_frequent_cache() const {
    std::map<std::string, std::int64_t> sessions;
    for (const auto& [cache, number] : caches_) sessions[cache.first] += number;
    const auto most = std::ranges::max_element(sessions, {}, [](const auto& cache) { return cache.second; });
    return most == sessions.end() ? "" : most->first;
}

std::string CostBases::text() const {
    std::string text;
    for (const auto& [cache, sessions] : caches_)
        text += fmt::format("{}{} {} ({})", text.empty() ? "cache: " : ", ", numbered(sessions, "session"), cache.first,
                            reason_of(cache.second));
    text += "\n";
    if (are_fronts_chosen_)
        return text + fmt::format("in front of the messages: {} tokens (median of {}), as was chosen\n",
                                  grouped(median_of(fronts_)),
                                  numbered(static_cast<std::int64_t>(fronts_.size()), "session"));
    if (!fronts_.empty())
        text += fmt::format(
            "in front of the messages: system text and tools of {} tokens (median of {}), as the first call was "
            "billed; "
            "where we count one token the provider billed {:.2f}\n",
            grouped(median_of(fronts_)), numbered(static_cast<std::int64_t>(fronts_.size()), "session"),
            median_of(billed_per_counted_));
    if (unknown_fronts_ > 0)
        text += fmt::format(
            "in front of the messages of {}: what is recorded; if system text and tools are not, often 5,000 to 20,000 "
            "tokens, less is saved than is said here\n",
            numbered(unknown_fronts_, "session"));
    return text;
}

ordered_json CostBases::json() const {
    ordered_json json{{"caches", ordered_json::array()}};
    for (const auto& [cache, sessions] : caches_)
        json["caches"].push_back({{"cache", cache.first}, {"from", to_string(cache.second)}, {"sessions", sessions}});
    json["front"] = {
        {"sessions", fronts_.size()},
        {"median_tokens", fronts_.empty() ? ordered_json(nullptr) : ordered_json(median_of(fronts_))},
        {"billed_per_counted", fronts_.empty() ? ordered_json(nullptr) : ordered_json(median_of(billed_per_counted_))},
        {"sessions_unknown", unknown_fronts_}};
    return json;
}

void SessionCost::add(const CostBasis& basis, const evaluation::Figures& figures) {
    const evaluation::Money& money = figures.money.front();
    *this += {.everything = money.raw,
              .sent = money.sent,
              .with_refetches = money.with_refetches,
              .billed_everything = money.raw * basis.billed_per_counted,
              .billed_with_refetches = money.with_refetches * basis.billed_per_counted};
}

SessionCost& SessionCost::operator+=(const SessionCost& other) noexcept {
    everything += other.everything;
    sent += other.sent;
    with_refetches += other.with_refetches;
    billed_everything += other.billed_everything;
    billed_with_refetches += other.billed_with_refetches;
    return *this;
}

ordered_json SessionCost::json() const {
    const auto ratio = [&](double part) {
        return everything > 0 ? ordered_json(part / everything) : ordered_json(nullptr);
    };
    return {{"everything", everything},
            {"sent", sent},
            {"with_refetches", with_refetches},
            {"ratio", ratio(sent)},
            {"ratio_refetched", ratio(with_refetches)}};
}

double money_of(double tokens, const PricesPerMillion& prices) noexcept {
    constexpr double per_million = 1e-6;
    return tokens * prices.input * per_million;
}

}  // namespace whittle::cli
