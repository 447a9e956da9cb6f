#include "whittle/summary/detail/requests.hpp"

#include "whittle/base/detail/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

namespace whittle::inline v0 {

std::optional<SummaryRequest> SummaryRequests::build(FoldPosition from, std::string_view summary_so_far,
                                                     std::int64_t limit_tokens) {
    const std::int64_t room = sub_saturating(limit_tokens, options_.fixed_tokens);
    if (room <= 0) return std::nullopt;
    if (from == FoldPosition{} && summary_so_far.empty()) {
        if (auto request = whole(from, room)) return request;
    }
    const std::int64_t share = room / 3;
    DataFrameOptions frame{.is_part = true, .target_tokens = size_of_part(room), .language = options_.language};
    const DataFrame words = data_frame(frame);
    const std::int64_t beside =
        add_saturating(counter_.count(words.before + words.after), share);  // what is new has a third at least
    frame.summary_so_far =
        head_and_tail(summary_so_far, std::max(share, sub_saturating(room, beside)), counter_, options_.language);
    if (frame.summary_so_far.empty() && !summary_so_far.empty()) return std::nullopt;
    return part(from, std::move(frame), room);
}

std::int64_t SummaryRequests::size_of_part(std::int64_t room) const noexcept {
    const std::int64_t share = room / 3;
    return options_.max_output_tokens > 0 ? std::min(share, options_.max_output_tokens) : share;
}

std::optional<SummaryRequest> SummaryRequests::whole(FoldPosition from, std::int64_t room) {
    const DataFrame frame = data_frame({.target_tokens = options_.max_summary_tokens, .language = options_.language});
    SummaryRequest request{{}, planner_.plan(from, frame, room), true};
    if (request.plan.next.message < planner_.size()) return std::nullopt;
    request.data = std::move(request.plan.text) + frame.after;
    request.tokens = counter_.count(request.data);
    return request.tokens > room ? std::nullopt : std::optional(std::move(request));
}

/// Counts of pieces need not add up to that of the whole: a request that came out too large is planned again with less.
std::optional<SummaryRequest> SummaryRequests::part(FoldPosition from, DataFrameOptions options, std::int64_t room) {
    const DataFrame longest = data_frame(options);
    for (std::int64_t budget = room; budget > 0;) {
        SummaryRequest request{{}, planner_.plan(from, longest, budget), false};
        request.is_last = request.plan.next.message >= planner_.size();
        if (request.plan.text.size() == longest.before.size() && !request.is_last) return std::nullopt;
        options.is_last = request.is_last;
        options.target_tokens = request.is_last ? options_.max_summary_tokens : size_of_part(room);
        request.data = std::move(request.plan.text) + data_frame(options).after;  // what is before the data is the same
        request.tokens = counter_.count(request.data);
        if (request.tokens <= room) return request;
        budget = sub_saturating(budget, std::max(request.tokens - room, budget / 64 + 1));
    }
    return std::nullopt;
}

std::int64_t limit_after_overflow(std::int64_t request_tokens, std::int64_t fixed_tokens,
                                  const Overflow& overflow) noexcept {
    const std::int64_t data = std::max<std::int64_t>(sub_saturating(request_tokens, fixed_tokens), 2);
    const std::int64_t highest = sub_saturating(request_tokens, std::max<std::int64_t>(data / 8, 1));
    if (overflow.context_limit_tokens <= 0) return sub_saturating(request_tokens, std::max<std::int64_t>(data / 2, 1));
    if (overflow.requested_tokens <= 0) return std::min(highest, overflow.context_limit_tokens);
    const double scale = static_cast<double>(request_tokens) / static_cast<double>(overflow.requested_tokens);
    const double limit = static_cast<double>(overflow.context_limit_tokens) * scale * 0.95;
    return limit < static_cast<double>(highest) ? to_int64(limit) : highest;
}

SummaryError current_model_error() {
    SummaryError error{.thrown = std::current_exception()};
    try {
        throw;
    } catch (const ModelError& thrown) {
        if (thrown.error_class() == ModelErrorClass::cancelled) throw;
        error.model_error = thrown.error_class();
        error.message = thrown.what();
        error.retry_after = thrown.retry_after();
        error.overflow = thrown.overflow();
    } catch (const Error& thrown) {
        if (thrown.errc() == Errc::cancelled) throw;
        error.message = thrown.what();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& thrown) {
        error.message = thrown.what();
    } catch (...) {
        error.message = "call summary model: it threw something that is no std::exception";
    }
    return error;
}

std::string current_callback_error(std::string_view callback) {
    try {
        throw;
    } catch (const Error& thrown) {
        if (thrown.errc() == Errc::cancelled) throw;
        return fmt::format("{}: {}", callback, thrown.what());
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& thrown) {
        return fmt::format("{}: {}", callback, thrown.what());
    } catch (...) {
        return fmt::format("{}: it threw something that is no std::exception", callback);
    }
}

SummaryError attempts_used_up(std::string_view what, int max_retries, const SummaryError* last) {
    SummaryError error{.failure = SummaryFailure::refused, .refusal = Refusal::by_caller};
    if (last != nullptr) error = *last;
    error.message = fmt::format("exceeds max {} attempts ({}): {}", what, max_retries,
                                last != nullptr ? last->message : "the last reply was not wanted");
    return error;
}

SummaryError error_without_call(SummaryFailure failure, std::string message) {
    return {.failure = failure, .message = std::move(message)};
}

}  // namespace whittle::inline v0
