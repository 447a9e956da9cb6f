#include "whittle/summary/detail/summary_fields.hpp"

namespace whittle::inline v0::detail {

ConfigFields<PreserveWorkConfig> preserve_work_fields() {
    using C = PreserveWorkConfig;
    return {
        {"plan_tokens", &C::plan_tokens, "tokens for the newest plan or task list; 0: none"},
        {"file_list_tokens", &C::file_list_tokens,
         "tokens for files read and written, with lines, those used last; 0: none"},
        {"subagent_reports_tokens", &C::subagent_reports_tokens,
         "tokens for reports of sub-agents, the newest; 0: none"},
        {"max_tokens_per_subagent_report", &C::max_tokens_per_subagent_report,
         "tokens of one report; of a longer one the head stays", 1},
        {"plan_tools", &C::plan_tools,
         "tools whose newest arguments are the plan, beside those whose arguments show that they are one"},
        {"subagent_tools", &C::subagent_tools, "tools whose results are reports of sub-agents"},
    };
}

ConfigFields<GenerateOptions> model_options_fields() {
    using C = GenerateOptions;
    return {
        {"max_output_tokens", &C::max_output_tokens, "tokens of a reply at most; 0: the model's own limit"},
        {.name = "temperature",
         .member = &C::temperature,
         .meaning = "sampling temperature",
         .documented_default = "the model's own"},
        {.name = "extra",
         .member = JsonMember<C>{&C::extra},
         .meaning = "provider-specific fields of the request, as one JSON object",
         .documented_default = "{}"},
    };
}

ConfigFields<RetryConfig> retry_fields() {
    using C = RetryConfig;
    return {
        {"max_retries", &C::max_retries, "attempts beside the first one"},
    };
}

ConfigFields<FailoverConfig> failover_fields() {
    using C = FailoverConfig;
    return {
        {"max_retries", &C::max_retries, "attempts in all, once those of the first model are used up"},
        {.name = "model",
         .member = ModelMember{},
         .meaning = "a name of `models`",
         .documented_default = "the first model"},
    };
}

}  // namespace whittle::inline v0::detail
