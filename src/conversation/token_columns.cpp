#include "whittle/conversation/detail/token_columns.hpp"

#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

namespace {

Hash128 fingerprint_of(std::string_view system, std::span<const ToolSpec> tools) noexcept {
    Hash128 hash = hash128(system);
    for (const ToolSpec& tool : tools) {
        hash = hash128(tool.name, hash);
        hash = hash128(tool.description, hash);
        hash = hash128(tool.parameters, hash);
    }
    return hash;
}

/// A usage covers the system text and tools of its request, also where they were not known yet.
void add_overhead(TokenColumns::Column& column) noexcept {
    if (!std::exchange(column.usage_has_overhead, true)) column.usage.add_counted(column.overhead);
}

std::int64_t tokens_of(const MessageInfo& info, std::size_t column) noexcept {
    return column < info.tokens_by_counter.size() ? info.tokens_by_counter[column] : 0;
}

}  // namespace

std::optional<std::size_t> TokenColumns::find(std::string_view counter_id) const noexcept {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].counter->id() == counter_id) return i;
    }
    return std::nullopt;
}

std::size_t TokenColumns::add(std::shared_ptr<const TokenCounter> counter) {
    columns_.push_back({.counter = std::move(counter)});
    (void)take_kept(columns_.back());
    return columns_.size() - 1;
}

bool TokenColumns::take_kept(Column& column) noexcept {
    for (const SavedFit& saved : kept_.fits) {
        if (saved.model != kept_.model || saved.counter != column.counter->id()) continue;
        column.usage = UsageFit(saved.fit);
        column.usage_has_overhead = saved.has_overhead;
        if (column.overhead_known) add_overhead(column);
        return true;
    }
    return false;
}

void TokenColumns::set_model(std::string_view model) {
    if (knows_model_ && kept_.model == model) return;
    if (knows_model_) kept_ = calibrations();
    kept_.model = model;
    if (!std::exchange(knows_model_, true)) return;
    for (Column& column : columns_) {
        if (!take_kept(column)) column.usage.lend();
    }
}

Calibrations TokenColumns::calibrations() const {
    Calibrations all = kept_;
    for (const Column& column : columns_) {
        if (!column.usage.is_known() || column.usage.is_lent()) continue;
        SavedFit fit{std::string(column.counter->id()), all.model, column.usage_has_overhead, column.usage.state()};
        const auto known = std::ranges::find_if(
            all.fits, [&](const SavedFit& other) { return other.counter == fit.counter && other.model == fit.model; });
        known == all.fits.end() ? all.fits.push_back(std::move(fit)) : void(*known = std::move(fit));
    }
    return all;
}

void TokenColumns::load(Calibrations saved) noexcept {
    kept_ = std::move(saved);
    knows_model_ = !kept_.fits.empty();
}

void TokenColumns::set_messages(std::size_t column, std::span<const std::int64_t> counts) noexcept {
    columns_[column].messages = 0;
    for (const std::int64_t count : counts)
        columns_[column].messages = add_saturating(columns_[column].messages, count);
}

void TokenColumns::add_message(const MessageInfo& info) noexcept {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        columns_[i].messages = add_saturating(columns_[i].messages, tokens_of(info, i));
    }
}

void TokenColumns::remove_message(const MessageInfo& info) noexcept {
    for (std::size_t i = 0; i < columns_.size(); ++i)
        columns_[i].messages = sub_saturating(columns_[i].messages, tokens_of(info, i));
}

void TokenColumns::set_overhead(std::size_t column, std::string_view system, std::span<const ToolSpec> tools) {
    Column& c = columns_[column];
    const Hash128 key = fingerprint_of(system, tools);
    if (c.overhead_known && c.overhead_of == key) return;
    c.overhead = count_overhead(system, tools, *c.counter);
    add_overhead(c);
    c.overhead_of = key;
    c.overhead_known = true;
}

void TokenColumns::anchor_all(std::int64_t reported) noexcept {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        anchor(i, reported, add_saturating(columns_[i].messages, columns_[i].overhead));
    }
}

void TokenColumns::anchor(std::size_t column, std::int64_t reported, std::int64_t estimate) noexcept {
    Column& c = columns_[column];
    if (c.usage_has_overhead && !c.overhead_known)
        return;  // loaded: there is no count of this request to set it against
    c.usage.observe(reported, estimate);
    c.usage_has_overhead = c.overhead_known;
}

ContextCount TokenColumns::context(std::size_t column) const noexcept {
    const Column& c = columns_[column];
    const std::int64_t estimate = add_saturating(c.messages, c.overhead);
    return {estimate,           std::max<std::int64_t>(c.usage.expected(estimate), 0),
            c.usage.is_known(), c.usage.ratio(),
            c.overhead,         c.usage.spread()};
}

TokenScale ContextCount::scale_to(std::int64_t other_total) const noexcept {
    if (other_total == total) return TokenScale::of(total, estimate, calibration);
    UsageFit other;
    other.observe(other_total, estimate);
    return TokenScale::of(other_total, estimate, other.ratio());
}

}  // namespace whittle::inline v0
