#include "whittle/tokens/counter.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr double largest_chars_per_token = 1e6;

std::int64_t size_of_text(std::string_view text) noexcept { return static_cast<std::int64_t>(text.size()); }

/// units * 1000 / per_mille, exact, held at the maximum.
std::int64_t scaled(std::int64_t units, std::int64_t per_mille, bool round_up) noexcept {
    const std::int64_t whole = units / per_mille;
    const std::int64_t rest = units % per_mille * 1'000;
    const std::int64_t part = rest / per_mille + (round_up && rest % per_mille != 0 ? 1 : 0);
    if (whole > INT64_MAX / 1'000) return INT64_MAX;
    return add_saturating(whole * 1'000, part);
}

/// "4", "3.5", "2.125"
std::string decimal(std::int64_t per_mille) {
    std::string text = fmt::format("{}.{:03}", per_mille / 1'000, per_mille % 1'000);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string id_of_chars(const CharsOptions& options, std::int64_t per_mille) {
    std::string id = "chars/" + decimal(per_mille);
    if (options.round_up) id += "+ceil";
    if (options.tokens_per_image != CharsOptions{}.tokens_per_image) id += fmt::format("/{}", options.tokens_per_image);
    return id;
}

void require_valid(const CharsOptions& options) {
    Problems problems;
    const double ratio = options.chars_per_token;
    if (!std::isfinite(ratio) || ratio < 0.001 || ratio > largest_chars_per_token)
        problems.error("chars_per_token", fmt::format("{}", ratio), "a number from 0.001 to 1000000");
    if (options.tokens_per_image < 0)
        problems.error("tokens_per_image", fmt::format("{}", options.tokens_per_image), "0 or more");
    problems.throw_if_errors("chars");
}

class CharsCounter final : public TokenCounter {
public:
    explicit CharsCounter(const CharsOptions& options)
        : per_mille_(std::llround(options.chars_per_token * 1'000)),
          round_up_(options.round_up),
          tokens_per_image_(options.tokens_per_image),
          id_(id_of_chars(options, per_mille_)) {}

    std::string_view id() const noexcept override { return id_; }
    std::int64_t measure_units(std::string_view text) const override { return size_of_text(text); }
    std::int64_t to_tokens(std::int64_t units) const noexcept override {
        return scaled(std::max<std::int64_t>(units, 0), per_mille_, round_up_);
    }
    std::int64_t media_tokens(const MediaView&) const override { return tokens_per_image_; }

private:
    std::int64_t per_mille_;
    bool round_up_;
    std::int64_t tokens_per_image_;
    std::string id_;
};

class FunctionCounter final : public TokenCounter {
public:
    FunctionCounter(std::string id, std::function<std::int64_t(std::string_view)> count)
        : id_(std::move(id)), count_(std::move(count)) {}

    std::string_view id() const noexcept override { return id_; }
    std::int64_t measure_units(std::string_view text) const override { return std::max<std::int64_t>(count_(text), 0); }

private:
    std::string id_;
    std::function<std::int64_t(std::string_view)> count_;
};

class CancellableCounter final : public TokenCounter {
public:
    CancellableCounter(std::shared_ptr<const TokenCounter> inner, std::function<void()> check_cancelled)
        : inner_(std::move(inner)), check_cancelled_(std::move(check_cancelled)) {}

    std::string_view id() const noexcept override { return inner_->id(); }
    std::int64_t measure_units(std::string_view text) const override {
        check_cancelled_();
        return inner_->measure_units(text);
    }
    std::int64_t to_tokens(std::int64_t units) const noexcept override { return inner_->to_tokens(units); }
    std::int64_t media_tokens(const MediaView& media) const override { return inner_->media_tokens(media); }

private:
    std::shared_ptr<const TokenCounter> inner_;
    std::function<void()> check_cancelled_;
};

}  // namespace

std::shared_ptr<const TokenCounter> chars_counter(const CharsOptions& options) {
    require_valid(options);
    return std::make_shared<const CharsCounter>(options);
}

std::shared_ptr<const TokenCounter> pessimistic_counter() {
    return chars_counter({.chars_per_token = 3.0, .round_up = true, .tokens_per_image = 1'000});
}

std::shared_ptr<const TokenCounter> counter_from(std::string id, std::function<std::int64_t(std::string_view)> count) {
    Problems problems;
    if (id.empty()) problems.error("id", "\"\"", "a name that no other counter of the conversation has");
    if (!count) problems.error("count", "empty", "a function");
    problems.throw_if_errors("counter_from");
    return std::make_shared<const FunctionCounter>(std::move(id), std::move(count));
}

std::shared_ptr<const TokenCounter> cancellable_counter(std::shared_ptr<const TokenCounter> inner,
                                                        std::function<void()> check_cancelled) {
    if (!inner || !check_cancelled)
        throw Error(Errc::invalid_argument, "cancellable_counter: expected a counter and a function to call");
    return std::make_shared<const CancellableCounter>(std::move(inner), std::move(check_cancelled));
}

std::int64_t count_overhead(std::string_view system, std::span<const ToolSpec> tools, const TokenCounter& counter) {
    std::int64_t tokens = counter.count(system);
    for (const ToolSpec& tool : tools) tokens = add_saturating(tokens, counter.count(to_compact_json(tool)));
    return tokens;
}

}  // namespace whittle::inline v0
