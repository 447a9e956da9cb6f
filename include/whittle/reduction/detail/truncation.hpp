#pragma once

#include "whittle/base/language.hpp"
#include "whittle/chain/middleware.hpp"
#include "whittle/reduction/config.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What a truncated text says of itself, between its head and its tail.
struct TruncatedText {
    std::string_view tool{};
    std::int64_t bytes = 0;
    std::int64_t lines = 0;
    std::int64_t head = 0;         ///< bytes of it that stand before the notice
    std::int64_t tail = 0;         ///< bytes of it that stand behind the notice
    std::string_view location{};   ///< of the whole text; empty: it could not be stored
    std::string_view reader{};     ///< tool that reads it; empty: none is listed
    std::string_view failure{};    ///< why it could not be stored
    bool is_among_others = false;  ///< the object holds other parts of the result too
};

/// The notice. Constant bytes for the same input.
[[nodiscard]] std::string truncation_notice(const TruncatedText& text, Language language);

/// The notice behind the first page of a result that shows a stored text again: such a result is not stored anew.
[[nodiscard]] std::string page_notice(const TruncatedText& text, Language language);

/// `whole` with half of `max_bytes` at each end and the notice between them. `text` says what the notice cannot know.
[[nodiscard]] std::string cut_to(std::string_view whole, std::size_t max_bytes, TruncatedText text, Language language);

/// What the truncation of a tool call works with. Views of the middleware.
struct TruncationSetup {
    const ReductionConfig& config;
    const std::function<std::string(const ToolDetail&)>& generate_key;
    const std::map<std::string, ToolReductionCallbacks>& tools;
    std::string_view by{};  ///< the middleware's name
};

/// Runs a tool and shortens what it gives as docs/reduction.md says. Thread-safe. Throws what the tool throws, after
/// what came before has been passed on; under OnError::propagate also what a handler or generator throws, after the
/// whole result has been passed on.
ToolOutcome run_truncated(const TruncationSetup& setup, const ToolContext& context, PartSink& out,
                          const ToolNext& next);

/// The bytes that a result of that tool keeps.
[[nodiscard]] std::int64_t max_length_for_trunc(const ReductionConfig& config, std::string_view tool);

/// Whether results of that tool stay whole: switched off, or excluded.
[[nodiscard]] bool skips_truncation(const ReductionConfig& config, std::string_view tool);

}  // namespace whittle::inline v0
