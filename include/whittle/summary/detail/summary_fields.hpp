#pragma once

#include "whittle/base/detail/field_check.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/model/model.hpp"
#include "whittle/summary/config.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <cstddef>
#include <string_view>

namespace whittle::inline v0::detail {

// What configurations of all middlewares have that summarize.

[[nodiscard]] ConfigFields<PreserveWorkConfig> preserve_work_fields();
[[nodiscard]] ConfigFields<GenerateOptions> model_options_fields();
[[nodiscard]] ConfigFields<RetryConfig> retry_fields();
[[nodiscard]] ConfigFields<FailoverConfig> failover_fields();

/// The calls of the model, and when they are made again or ahead of time.
template <typename Config>
[[nodiscard]] ConfigFields<Config> summary_call_fields() {
    using C = Config;
    return {
        {"model_options", object_member(&C::model_options, model_options_fields()),
         "options of every summary call, failover included"},
        {"max_input_tokens", &C::max_input_tokens,
         "most tokens of a summary request; 0: the window less the reply, or 100000"},
        {"retry", object_member(&C::retry, retry_fields()), "more attempts with the same model"},
        {"failover", object_member(&C::failover, failover_fields()), "attempts with another model"},
        {"failure_cool_down_tokens", &C::failure_cool_down_tokens,
         "growth after a failure before the next attempt; 0: 5 % of the trigger"},
        {"prepare_at_trigger_fraction", &C::prepare_at_trigger_fraction,
         "above this part of the trigger a summary is prepared on the host's executor; 0: off", 0, 1},
    };
}

template <typename Config>
[[nodiscard]] ConfigField<Config> summary_role_field(SummaryRole Config::*member) {
    return {.name = "summary_role",
            .member = word_member(member, {SummaryRole::automatic, SummaryRole::user, SummaryRole::system}),
            .meaning = "the summary's role: `automatic`, `user` or `system`",
            .words = {"automatic", "user", "system"}};
}

/// Warns if `others` summarizers stand in front of this one in the chain. `key`: of its trigger.
void warn_of_other_summarizers(std::size_t others, std::string_view key, FieldCheck& check);

}  // namespace whittle::inline v0::detail
