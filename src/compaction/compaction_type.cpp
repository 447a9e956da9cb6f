#include "whittle/chain/middleware_type.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/pruning/detail/pruning_fields.hpp"
#include "whittle/summary/detail/summary_fields.hpp"

namespace whittle::inline v0 {

namespace {

ConfigFields<CompactionConfig> compaction_fields() {
    using C = CompactionConfig;
    return {
        {.name = "model",
         .member = ModelMember{},
         .meaning = "a name of `models`: who writes the summaries",
         .fallback = "the agent's own"},
        {"threshold_tokens", &C::threshold_tokens,
         "compaction starts above this many tokens, system text and tools included", 1},
        {"threshold_fraction", &C::threshold_fraction, "instead: above this part of `profile.context_window`; 0: off",
         0, 1},
        {"target_tokens", &C::target_tokens, "what it works down to, the current turn not counted", 1},
        {"target_fraction", &C::target_fraction, "instead: this part of `profile.context_window`; 0: off", 0, 1},
        {"summary_size_tokens", &C::summary_size_tokens, "the summariser's output limit, enforced on what it wrote", 1},
        {"summary_fraction", &C::summary_fraction, "instead: this part of `profile.context_window`; 0: off", 0, 1},
        {"runway_fraction", &C::runway_fraction, "no summary once the cheap stages come this far below the threshold",
         0, 1},
        {.name = "current_turn_keep_rounds",
         .member = &C::current_turn_keep_rounds,
         .meaning = "newest tool rounds of the current turn that stay",
         .lowest = 1,
         .fallback = "all"},
        {"pruning", object_member(&C::pruning, detail::pruning_fields(), FalseObject::takes_away),
         "the first stage, keys as in `pruning` but for name and storage; false: off"},
        {.name = "media",
         .member = word_member(&C::media,
                               {MediaMode::automatic, MediaMode::keep, MediaMode::placeholder, MediaMode::reference}),
         .meaning = "`automatic`, `keep`, `placeholder` or `reference`: images of old turns",
         .words = {"automatic", "keep", "placeholder", "reference"}},
        {.name = "token_counter",
         .member = &C::token_counter,
         .meaning = "how this middleware counts; keys as in `tokens`",
         .fallback = "the chain's"},
        {"plain_summary_tokens", &C::plain_summary_tokens,
         "tokens of a summary by rule where there is no model, or the model's failed; 0: none"},
        detail::summary_role_field(&C::summary_role),
        {.name = "preserve_work",
         .member = object_member(&C::preserve_work, detail::preserve_work_fields()),
         .meaning = "plan, files and reports of sub-agents, word for word, in up to half of the summary's size; keys "
                    "as in `summarization.preserve_work`"},
        {.name = "user_instruction",
         .member = &C::user_instruction,
         .meaning = "the task, instead of the built-in one",
         .fallback = "built in"},
        {"model_options", object_member(&C::model_options, detail::model_options_fields()),
         "of every summary call; keys as in `summarization.model_options`"},
        {"max_input_tokens", &C::max_input_tokens,
         "bound of one summary request; 0: the window less the reply, or 100000"},
        {"retry", object_member(&C::retry, detail::retry_fields()),
         "more attempts with the same model, half a second apart"},
        {"failover", object_member(&C::failover, detail::failover_fields()),
         "attempts with another model; keys as in `summarization.failover`"},
        {.name = "on_failure",
         .member = word_member(&C::on_failure, {OnFailure::keep_going, OnFailure::propagate}),
         .meaning = "`keep_going`: report and wait for growth; `propagate`: throw",
         .words = {"keep_going", "propagate"}},
        {"cool_down_tokens", &C::cool_down_tokens,
         "growth after a failure before the next attempt; 0: 5 % of the threshold"},
        {"prepare_fraction", &C::prepare_fraction,
         "above this part of the threshold a summary is prepared on the host's executor; 0: off", 0, 1},
    };
}

void read_environment(CompactionConfig& config, ConfigEntry& entry) {
    Problems problems;
    detail::read_compaction_environment(config, entry.environment(), problems);
    for (const Problem& problem : problems.all())
        entry.unexpected_variable(problem.field, problem.value, problem.allowed);
    entry.take_model("model", "AGENT_COMPACTION_MODEL");
}

}  // namespace

MiddlewareType<CompactionConfig> compaction_type() {
    return {.type = "compaction",
            .fields = compaction_fields(),
            .check =
                [](const CompactionConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
                    check_compaction(config, chain.config, {.other_summarisers = chain.rivals_before(name)}, "",
                                     problems);
                },
            .task = std::string(fold_task),
            .complete = read_environment};
}

}  // namespace whittle::inline v0
