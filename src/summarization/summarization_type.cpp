#include "whittle/chain/middleware_type.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/summary/detail/summary_fields.hpp"

#include <algorithm>
#include <iterator>

namespace whittle::inline v0 {

namespace {

ConfigFields<Trigger> trigger_fields() {
    using C = Trigger;
    return {
        {"context_tokens", &C::context_tokens, "due above this many tokens, system text and tools included; 0: off"},
        {"context_messages", &C::context_messages, "due above this many messages; 0: off"},
        {"context_fraction", &C::context_fraction,
         "due above this part of the model's window, once it is known; 0: off", 0, 1},
        {"fraction_if_cache_cold", &C::fraction_if_cache_cold,
         "due above this part where a fold breaks no prompt cache: after a pause, or behind a commit of `trimming`; 0: "
         "off",
         0, 1},
        {"needs_all", &C::needs_all, "due only while every condition that is on holds, not any one of them"},
    };
}

ConfigFields<PreserveUserMessages> user_message_fields() {
    using C = PreserveUserMessages;
    return {
        {"enabled", &C::enabled, "the user's messages come back word for word"},
        {.name = "max_tokens",
         .member = &C::max_tokens,
         .meaning = "tokens for all of them, newest first; 30000 without a trigger in tokens",
         .documented_default = "a third of the trigger"},
    };
}

ConfigFields<PreserveSkillsConfig> skill_fields() {
    using C = PreserveSkillsConfig;
    return {
        {"skill_tool_name", &C::skill_tool_name, "the tool whose results are skills"},
        {"max_skills", &C::max_skills, "newest skills kept; 0: none"},
        {"max_tokens_per_skill", &C::max_tokens_per_skill, "tokens of one skill; a longer one is cut at its end"},
        {"skills_token_budget", &C::skills_token_budget, "tokens for all skills"},
    };
}

ConfigFields<AttachFilesConfig> attached_file_fields() {
    using C = AttachFilesConfig;
    return {
        {"max_files", &C::max_files, "files that come back, those used last; 0: none"},
        {"max_tokens_per_file", &C::max_tokens_per_file, "tokens of one file; a longer one is cut at its end", 1},
        {"max_tokens", &C::max_tokens, "tokens for all files"},
    };
}

ConfigFields<SummarizationConfig> summarization_fields() {
    using C = SummarizationConfig;
    ConfigFields<C> fields{
        {.name = "model",
         .member = ModelMember{},
         .meaning = "a name of `models`: who writes the summaries; may be left out with `rule_based_summary_tokens`",
         .documented_default = "required"},
        {"trigger", object_member(&C::trigger, trigger_fields(), GivenObject::replaces),
         "any one condition starts a summary"},
        {"keep_recent_tokens", &C::keep_recent_tokens, "tokens of the newest rounds kept word for word"},
        {"keep_recent_messages", &C::keep_recent_messages, "newest messages kept at least, rounded up to whole rounds"},
        {"preserve_user_messages", object_member(&C::preserve_user_messages, user_message_fields()),
         "the user's messages, word for word"},
        {"preserve_skills", object_member(&C::preserve_skills, skill_fields()), "skills that a tool loaded"},
        {"preserve_work", object_member(&C::preserve_work, detail::preserve_work_fields()),
         "plan, files and reports of sub-agents, word for word"},
        {"attach_files", object_member(&C::attach_files, attached_file_fields()),
         "files that the host's callback `attach_files` gives"},
        {"summaries_per_level", &C::summaries_per_level,
         "so many summaries of one level become one of the next; 0: one summary, written anew by each fold"},
        {"retained_facts_tokens", &C::retained_facts_tokens,
         "tokens for identifiers, paths, constraints that the summary lacks"},
        {"rule_based_summary_tokens", &C::rule_based_summary_tokens,
         "tokens of a summary by rule where no model is given, or the model's failed for good; 0: none"},
        {.name = "user_instruction",
         .member = &C::user_instruction,
         .meaning = "the task, instead of the built-in one",
         .documented_default = "built in"},
        {"check_sections", &C::check_sections,
         "where sections of the built-in task lack, the model is told once which, and asked again"},
        {"required_sections", &C::required_sections, "headings that a task of one's own asks for; checked likewise"},
        {"offload_folded", &C::offload_folded,
         "what is folded goes to the chain's storage as one text, and the summary says as which"},
        {.name = "transcript_file_path",
         .member = &C::transcript_file_path,
         .meaning = "path that the model is told behind the summary; the host writes the file (`Transcript`)",
         .documented_default = "none"},
        detail::summary_role_field(&C::summary_role),
        {"continue_message", &C::continue_message,
         "the order to go on stands in a message of its own at the end, not in the summary"},
        {"fit_image_and_byte_limits", &C::fit_image_and_byte_limits,
         "keep requests within a provider's limits of images and bytes"},
        {"emit_internal_events", &C::emit_internal_events,
         "events before_summarize, generate_summary, after_summarize"},
        {"reuse_prompt_cache", &C::reuse_prompt_cache,
         "ask with the conversation's own prefix and tools plus one instruction"},
        {"max_summary_tokens", &C::max_summary_tokens,
         "a longer summary is refused; 0: only what it replaces bounds it"},
    };
    std::ranges::move(detail::summary_call_fields<C>(), std::back_inserter(fields));
    return fields;
}

void require_model(SummarizationConfig& config, ConfigEntry& entry) {
    if (entry.model("model").empty() && config.rule_based_summary_tokens == 0 && !entry.gives("model"))
        entry.missing("model", "a name of `models`");
}

}  // namespace

MiddlewareType<SummarizationConfig> summarization_type() {
    return {
        .type = "summarization",
        .fields = summarization_fields(),
        .check =
            [](const SummarizationConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
                check_summarization(config, chain.config, {.summarizers_before = chain.count_same_task_before(name)},
                                    "", problems);
            },
        .exclusive_task = std::string(fold_history_task),
        .after_fields_read = require_model};
}

}  // namespace whittle::inline v0
