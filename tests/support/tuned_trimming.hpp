#pragma once

#include "whittle/trimming/trimming.hpp"

#include <utility>

namespace whittle::testing {

using whittle::detail::TrimmingSettings;

/// Trimming by rules of the test's own: a short history shows what a long one does by the library's.
template <AgentMessage M = ChatMessage>
class TunedTrimming final : public Trimming<M> {
public:
    explicit TunedTrimming(TrimmingSettings settings) : Trimming<M>(std::move(settings), "trimming") {}
};

/// Whatever may go goes soon, however small it is.
inline TrimmingSettings eager_trimming(TrimUnit unit) {
    return {.config = {.unit = unit, .start_tokens = 0, .min_result_bytes = 10, .min_argument_bytes = 10},
            .rules = {.first_calls = 0,
                      .look_every_calls = 1,
                      .argument_age_calls = 1,
                      .whole_calls = 1,
                      .pause_whole_calls = 1,
                      .most_whole_calls = 1,
                      .passage_lines = 2,
                      .passage_age_calls = 2,
                      .written_age_calls = 2,
                      .ages = {.rare = 2, .other = 1},
                      .pause_ages = {.rare = 1, .other = 1},
                      .extract = {.bytes = 40, .line_bytes = 30, .error_line_bytes = 30},
                      .extract_age_calls = 2,
                      .arrival_min_bytes = 20,
                      .arrival_head_chars = 8}};
}

}  // namespace whittle::testing
