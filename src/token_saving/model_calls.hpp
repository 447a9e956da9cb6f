// Calls of models and servers by word classifiers: limits before, the report after.
#pragma once

#include "whittle/token_saving/detail/words.hpp"

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::detail {

inline constexpr std::string_view words_purpose = "token_saving: words";

/// Takes a call from the budget of the hook. Throws Error(cancelled), or Error(limit_exceeded) if none is left or the
/// deadline has passed.
void take_call(const WordWindow& window);

/// Makes a call that gets into the report, also if it throws. `call` fills in the usage.
template <typename Call>
auto reported(const WordWindow& window, Call&& call) {
    const UnixMillis started = window.clock != nullptr ? window.clock->now() : 0;
    ModelCallReport entry{.purpose = std::string(words_purpose)};
    const auto tell = [&] {
        if (window.clock != nullptr) entry.milliseconds = window.clock->now() - started;
        if (window.report != nullptr) window.report->ensure_details().model_calls.push_back(entry);
    };
    std::optional<decltype(call(entry))> answer;
    try {
        answer.emplace(std::forward<Call>(call)(entry));
    } catch (const std::exception& error) {
        entry.error = error.what();
        tell();
        throw;
    }
    tell();
    return *std::move(answer);
}

}  // namespace whittle::inline v0::detail
