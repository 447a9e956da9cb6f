#include "whittle/chain/middleware_type.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/pruning/detail/pruning_fields.hpp"
#include "whittle/summary/detail/summary_fields.hpp"

#include <algorithm>
#include <iterator>

namespace whittle::inline v0 {

namespace {

ConfigFields<CompactionConfig> compaction_fields() {
    using C = CompactionConfig;
    ConfigFields<C> fields{
        {.name = "model",
         .member = ModelMember{},
         .meaning = "a name of `models`: who writes the summaries",
         .documented_default = "the agent's own"},
        {"threshold_tokens", &C::threshold_tokens, "due above this many tokens, system text and tools included", 1},
        {"threshold_fraction", &C::threshold_fraction,
         "instead: above this part of the model's window, once it is known; 0: off", 0, 1},
        {"target_tokens", &C::target_tokens, "tokens that it works down to, the current turn not counted", 1},
        {"target_fraction", &C::target_fraction, "instead: this part of the model's window; 0: off", 0, 1},
        {"summary_size_tokens", &C::summary_size_tokens, "the summarizer's output limit, enforced on what it wrote", 1},
        {"summary_fraction", &C::summary_fraction, "instead: this part of the model's window; 0: off", 0, 1},
        {"skip_summary_margin_fraction", &C::skip_summary_margin_fraction,
         "no summary once the cheap stages come this far below the threshold", 0, 1},
        {.name = "current_turn_keep_rounds",
         .member = &C::current_turn_keep_rounds,
         .meaning = "newest tool rounds of the current turn that stay",
         .lowest = 1,
         .documented_default = "all"},
        {"pruning", object_member(&C::pruning, detail::pruning_fields(), FalseObject::removes),
         "the first stage, keys as in `pruning` but for name and storage; false: off"},
        {.name = "media",
         .member = word_member(&C::media,
                               {MediaMode::automatic, MediaMode::keep, MediaMode::placeholder, MediaMode::reference}),
         .meaning = "`automatic`, `keep`, `placeholder` or `reference`: media of old turns",
         .words = {"automatic", "keep", "placeholder", "reference"}},
        {.name = "token_counter",
         .member = &C::token_counter,
         .meaning = "how this middleware counts; keys as in `tokens`",
         .documented_default = "the chain's"},
        {"rule_based_summary_tokens", &C::rule_based_summary_tokens,
         "tokens of a summary by rule where there is no model, or the model's failed for good; 0: none"},
        detail::summary_role_field(&C::summary_role),
        {.name = "preserve_work",
         .member = object_member(&C::preserve_work, detail::preserve_work_fields()),
         .meaning = "plan, files and reports of sub-agents, word for word, in up to half of the summary's size; keys "
                    "as in `summarization.preserve_work`"},
        {.name = "user_instruction",
         .member = &C::user_instruction,
         .meaning = "the task, instead of the built-in one",
         .documented_default = "built in"},
        {.name = "on_failure",
         .member = word_member(&C::on_failure, {OnFailure::keep_going, OnFailure::propagate}),
         .meaning = "`keep_going`: report and wait for growth; `propagate`: throw",
         .words = {"keep_going", "propagate"}},
    };
    std::ranges::move(detail::summary_call_fields<C>(), std::back_inserter(fields));
    return fields;
}

void read_environment(CompactionConfig& config, ConfigEntry& entry) {
    Problems problems;
    detail::read_compaction_environment(config, entry.lookup(), problems);
    for (const Problem& problem : problems.all())
        entry.unexpected_variable(problem.field, problem.value, problem.allowed);
    entry.take_model_from_environment("model", "AGENT_COMPACTION_MODEL");
}

}  // namespace

MiddlewareType<CompactionConfig> compaction_type() {
    return {.type = "compaction",
            .fields = compaction_fields(),
            .check =
                [](const CompactionConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
                    check_compaction(config, chain.config, {.summarizers_before = chain.count_same_task_before(name)},
                                     "", problems);
                },
            .exclusive_task = std::string(fold_history_task),
            .after_fields_read = read_environment};
}

}  // namespace whittle::inline v0
