#pragma once

#include "whittle/fields/config_field.hpp"
#include "whittle/model/model.hpp"
#include "whittle/summary/config.hpp"
#include "whittle/summary/detail/fold.hpp"

namespace whittle::inline v0::detail {

// What configurations of all middlewares have that summarise.

[[nodiscard]] ConfigFields<PreserveWorkConfig> preserve_work_fields();
[[nodiscard]] ConfigFields<GenerateOptions> model_options_fields();
[[nodiscard]] ConfigFields<RetryConfig> retry_fields();
[[nodiscard]] ConfigFields<FailoverConfig> failover_fields();

template <typename Config>
[[nodiscard]] ConfigField<Config> summary_role_field(SummaryRole Config::*member) {
    return {.name = "summary_role",
            .member = word_member(member, {SummaryRole::automatic, SummaryRole::user, SummaryRole::system}),
            .meaning = "`automatic`, `user` or `system`",
            .words = {"automatic", "user", "system"}};
}

}  // namespace whittle::inline v0::detail
