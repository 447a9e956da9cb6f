// What is done with each server, by the driver and by the tests.
#pragma once

#include "scenarios.hpp"

#include <array>

namespace real_model {

struct TalkPlan {
    std::string_view name{};  ///< of the recording
    std::string_view title{};
    int questions = 0;
    std::int64_t summary_tokens = 0;  ///< 0: old rounds are cleared instead
    bool is_stream = false;
    bool has_preset = false;  ///< `local`, which knows the window
};

inline constexpr std::array<TalkPlan, 4> plans{{
    {"overflow", "Past the window, old rounds cleared", 7},
    {"overflow_stream", "Past the window, old rounds cleared, streamed", 6, 0, true},
    {"summary", "Past the window, summaries by the model, of at most 300 tokens", 7, 300},
    {"summary_cut", "Past the window, summaries by the model, of at most 24 tokens", 6, 24},
}};

/// With servers that tell their timings; what they read anew is predicted.
inline constexpr TalkPlan local_plan{.name = "local", .title = "The preset local", .questions = 9, .has_preset = true};

[[nodiscard]] inline Talk execute_retention(const TalkPlan& plan, const Server& server) {
    if (plan.has_preset) return talk_with_preset(server, plan.questions);
    if (plan.summary_tokens > 0) return talk_with_summaries(server, plan.questions, plan.summary_tokens);
    return talk_past_window(server, plan.questions, plan.is_stream);
}

}  // namespace real_model
