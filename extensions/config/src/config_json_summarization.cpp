#include "config_json_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace whittle::inline v0::detail {

namespace {

struct FailoverDraft : FailoverConfig {
    std::string model{};
};

struct SummarizationDraft : SummarizationConfig {
    std::string name = "summarization";
    std::string model{};
    std::string failover_model{};
};

constexpr std::array<Field<Trigger>, 5> trigger_fields{{
    {"context_tokens", "integer", &shown<&Trigger::context_tokens>,
     "due above this many tokens, system text and tools included; 0: off", &read_integer<&Trigger::context_tokens, 0>},
    {"context_messages", "integer", &shown<&Trigger::context_messages>, "due above this many messages; 0: off",
     &read_integer<&Trigger::context_messages, 0>},
    {"context_fraction", "number", &shown<&Trigger::context_fraction>,
     "due above this part of the model's window, once it is known; 0: off", &read_fraction<&Trigger::context_fraction>},
    {"free_fraction", "number", &shown<&Trigger::free_fraction>,
     "due above this part where a fold breaks no prompt cache: after a pause, or behind a commit of `trimming`; 0: off",
     &read_fraction<&Trigger::free_fraction>},
    {"needs_all", "true or false", &shown<&Trigger::needs_all>,
     "due only while every condition that is on holds, not any one of them", &read_value<&Trigger::needs_all>},
}};

constexpr std::array summary_roles{SummaryRole::automatic, SummaryRole::user, SummaryRole::system};
constexpr std::array<std::string_view, 3> summary_role_words{"automatic", "user", "system"};

void read_user_tokens(ConfigReader& reader, NodeId at, PreserveUserMessages& users) {
    std::int64_t value = 0;
    if (reader.read_integer(at, 0, INT64_MAX, value)) users.max_tokens = value;
}

constexpr std::array<Field<PreserveUserMessages>, 2> user_fields{{
    {"enabled", "true or false", &shown<&PreserveUserMessages::enabled>, "the user's messages come back word for word",
     &read_value<&PreserveUserMessages::enabled>},
    {"max_tokens",
     "integer",
     {"a third of the trigger", &shown<&PreserveUserMessages::max_tokens>},
     "tokens for all of them, newest first; without a trigger in tokens 30000",
     &read_user_tokens},
}};

using Attach = AttachFilesConfig;
constexpr std::array<Field<Attach>, 3> attach_fields{{
    {"max_files", "integer", &shown<&Attach::max_files>, "those used last; 0: none",
     &read_integer<&Attach::max_files, 0>},
    {"max_tokens_per_file", "integer", &shown<&Attach::max_tokens_per_file>, "a longer one is cut at its end",
     &read_integer<&Attach::max_tokens_per_file, 1>},
    {"max_tokens", "integer", &shown<&Attach::max_tokens>, "tokens for all of them",
     &read_integer<&Attach::max_tokens, 0>},
}};

using Skills = PreserveSkillsConfig;
constexpr std::array<Field<Skills>, 4> skill_fields{{
    {"skill_tool_name", "string", &shown<&Skills::skill_tool_name>, "the tool whose results are skills",
     &read_value<&Skills::skill_tool_name>},
    {"max_skills", "integer", &shown<&Skills::max_skills>, "newest skills kept; 0: none",
     &read_integer<&Skills::max_skills, 0>},
    {"max_tokens_per_skill", "integer", &shown<&Skills::max_tokens_per_skill>, "a longer one is cut at its end",
     &read_integer<&Skills::max_tokens_per_skill, 0>},
    {"skills_token_budget", "integer", &shown<&Skills::skills_token_budget>, "tokens for all of them",
     &read_integer<&Skills::skills_token_budget, 0>},
}};

void read_temperature(ConfigReader& reader, NodeId at, GenerateOptions& options) {
    double value = 0.0;
    if (reader.read_real(at, 0.0, std::numeric_limits<double>::max(), value)) options.temperature = value;
}

void read_extra(ConfigReader& reader, NodeId at, GenerateOptions& options) {
    if (reader.check_object(at)) options.extra = std::string(reader.json().raw(at));
}

constexpr std::array<Field<GenerateOptions>, 3> option_fields{{
    {"max_output_tokens", "integer", &shown<&GenerateOptions::max_output_tokens>, "0: the model's own limit",
     &read_integer<&GenerateOptions::max_output_tokens, 0>},
    {"temperature",
     "number",
     {"the model's own", &shown<&GenerateOptions::temperature>},
     "of summary calls",
     &read_temperature},
    {"extra", "object", "{}", "provider-specific fields of the request", &read_extra},
}};

constexpr std::array<Field<RetryConfig>, 1> retry_fields{{
    {"max_retries", "integer", &shown<&RetryConfig::max_retries>, "attempts beside the first one",
     &read_integer<&RetryConfig::max_retries, 0>},
}};

constexpr std::array<Field<FailoverDraft>, 2> failover_fields{{
    {"max_retries", "integer", &shown<&FailoverConfig::max_retries>,
     "attempts once those of the first model are used up", &read_integer<&FailoverConfig::max_retries, 0>},
    {"model",
     "string",
     {"the first model", &shown<&FailoverDraft::model>},
     "a name of `models`",
     &read_value<&FailoverDraft::model>},
}};

std::string shown_trigger(const SummarizationDraft& draft) {
    return fmt::format("{{\"context_tokens\": {}}}", draft.trigger.context_tokens);
}

/// A trigger that is given has only the conditions that it names.
void read_trigger(ConfigReader& reader, NodeId at, SummarizationDraft& draft) {
    draft.trigger = {};
    read_object<Trigger>(reader, at, draft.trigger, trigger_fields);
}

using SC = SummarizationConfig;
constexpr std::array<Field<SummarizationDraft>, 29> summarization_fields{{
    {"type", "string", "required", "`summarization`", &skip<SummarizationDraft>},
    {"name", "string", &shown<&SummarizationDraft::name>, name_meaning, &read_value<&SummarizationDraft::name>},
    {"model",
     "string",
     {"required", &shown<&SummarizationDraft::model>},
     "a name of `models`: who writes the summaries; may be left out with `plain_summary_tokens`",
     &read_value<&SummarizationDraft::model>},
    {"trigger", "object", &shown_trigger, "any one condition starts a summary", &read_trigger,
     [](const SummarizationDraft& d) { return changed_object<Trigger>(d.trigger, trigger_fields); }},
    {"keep_recent_tokens", "integer", &shown<&SC::keep_recent_tokens>, "newest rounds kept word for word",
     &read_integer<&SC::keep_recent_tokens, 0>},
    {"keep_recent_messages", "integer", &shown<&SC::keep_recent_messages>,
     "and at least this many messages, rounded up to whole rounds", &read_integer<&SC::keep_recent_messages, 0>},
    {"preserve_user_messages", "object", "{}", "the user's messages, word for word",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) {
         read_object<PreserveUserMessages>(r, at, d.preserve_user_messages, user_fields);
     },
     [](const SummarizationDraft& d) {
         return changed_object<PreserveUserMessages>(d.preserve_user_messages, user_fields);
     }},
    {"preserve_skills", "object", "{}", "skills that a tool loaded",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) {
         read_object<Skills>(r, at, d.preserve_skills, skill_fields);
     },
     [](const SummarizationDraft& d) { return changed_object<Skills>(d.preserve_skills, skill_fields); }},
    {"preserve_work", "object", "{}", "plan, files and reports of sub-agents, word for word",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) { read_preserve_work(r, at, d.preserve_work); },
     [](const SummarizationDraft& d) { return changed_preserve_work(d.preserve_work); }},
    {"attach_files", "object", "{}", "files that the host's callback `attach_files` gives",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) {
         read_object<Attach>(r, at, d.attach_files, attach_fields);
     },
     [](const SummarizationDraft& d) { return changed_object<Attach>(d.attach_files, attach_fields); }},
    {"summaries_per_level", "integer", &shown<&SC::summaries_per_level>,
     "so many summaries of one level become one of the next; 0: one summary, written anew by each fold",
     &read_integer<&SC::summaries_per_level, 0>},
    {"retained_facts_tokens", "integer", &shown<&SC::retained_facts_tokens>,
     "tokens for identifiers, paths and constraints that the summary lacks",
     &read_integer<&SC::retained_facts_tokens, 0>},
    {"plain_summary_tokens", "integer", &shown<&SC::plain_summary_tokens>,
     "tokens of a summary by rule where no model is given, or the model's failed; 0: none",
     &read_integer<&SC::plain_summary_tokens, 0>},
    {"user_instruction",
     "string",
     {"built in", &shown<&SC::user_instruction>},
     "the task, instead of the built-in one",
     &read_value<&SC::user_instruction>},
    {"check_sections", "true or false", &shown<&SC::check_sections>,
     "where sections of the built-in task lack, the model is told once which, and asked again",
     &read_value<&SC::check_sections>},
    {"required_sections", "array of strings", &shown<&SC::required_sections>,
     "the same for headings of a task of one's own", &read_value<&SC::required_sections>},
    {"offload_folded", "true or false", &shown<&SC::offload_folded>,
     "what is folded goes to the chain's storage, and the summary says as which", &read_value<&SC::offload_folded>},
    {"transcript_file_path",
     "string",
     {"none", &shown<&SC::transcript_file_path>},
     "told to the model behind the summary; the host writes the file (`Transcript`)",
     &read_value<&SC::transcript_file_path>},
    {"summary_role", "string", +[](const SummarizationDraft& d) { return shown_summary_role(d.summary_role); },
     "`automatic`, `user` or `system`",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) { read_summary_role(r, at, d.summary_role); }},
    {"continue_message", "true or false", &shown<&SC::continue_message>,
     "the order to go on stands in a message of its own at the end, not in the summary",
     &read_value<&SC::continue_message>},
    {"emit_internal_events", "true or false", &shown<&SC::emit_internal_events>,
     "events before_summarize, generate_summary, after_summarize", &read_value<&SC::emit_internal_events>},
    {"reuse_prompt_cache", "true or false", &shown<&SC::reuse_prompt_cache>,
     "ask with the conversation's own prefix and tools plus one instruction", &read_value<&SC::reuse_prompt_cache>},
    {"model_options", "object", "{}", "of every summary call, failover included",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) { read_model_options(r, at, d.model_options); }},
    {"max_input_tokens", "integer", &shown<&SC::max_input_tokens>,
     "bound of one summary request; 0: the window less the reply, or 100000", &read_integer<&SC::max_input_tokens, 0>},
    {"max_summary_tokens", "integer", &shown<&SC::max_summary_tokens>,
     "a longer summary is refused; 0: only what it replaces bounds it", &read_integer<&SC::max_summary_tokens, 0>},
    {"retry", "object", "none", "more attempts with the same model; absent: one attempt",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) { read_retry(r, at, d.retry.emplace()); },
     [](const SummarizationDraft& d) {
         const std::string text = d.retry ? changed_object<RetryConfig>(*d.retry, retry_fields) : std::string();
         return d.retry && text.empty() ? std::string("{}") : text;
     }},
    {"failover", "object", "none", "attempts with another model; absent: none",
     [](ConfigReader& r, NodeId at, SummarizationDraft& d) {
         read_failover(r, at, d.failover.emplace(), d.failover_model);
     }},
    {"cool_down_tokens", "integer", &shown<&SC::cool_down_tokens>,
     "growth after a failure before the next attempt; 0: 5 % of the trigger", &read_integer<&SC::cool_down_tokens, 0>},
    {"prepare_fraction", "number", &shown<&SC::prepare_fraction>,
     "above this part of the trigger a summary is prepared on the host's executor; 0: off",
     &read_fraction<&SC::prepare_fraction>},
}};

}  // namespace

void read_model_options(ConfigReader& reader, NodeId at, GenerateOptions& options) {
    read_object<GenerateOptions>(reader, at, options, option_fields);
}

void read_retry(ConfigReader& reader, NodeId at, RetryConfig& retry) {
    read_object<RetryConfig>(reader, at, retry, retry_fields);
}

void read_failover(ConfigReader& reader, NodeId at, FailoverConfig& failover, std::string& model) {
    FailoverDraft draft;
    read_object<FailoverDraft>(reader, at, draft, failover_fields);
    failover = static_cast<FailoverConfig&>(draft);
    model = draft.model;
}

void read_summary_role(ConfigReader& reader, NodeId at, SummaryRole& role) {
    if (const auto found = reader.read_word(at, "role", summary_role_words)) role = summary_roles[*found];
}

std::string shown_summary_role(SummaryRole role) { return word_of(role, summary_roles, summary_role_words); }

namespace {

void read_summarization(ConfigReader& reader, NodeId at, StageSettings& stage) {
    auto draft = draft_of<SummarizationDraft, SummarizationConfig>(stage);
    draft.model = stage.model;
    read_object<SummarizationDraft>(reader, at, draft, summarization_fields);
    if (draft.model.empty() && draft.plain_summary_tokens == 0 &&
        reader.json().member(at, "model") == JsonPositions::none)
        reader.missing(at, "model", "a name of `models`");
    stage.name = draft.name;
    stage.model = draft.model;
    stage.failover_model = draft.failover_model;
    stage.config = static_cast<SummarizationConfig&>(draft);
}

void check_summarization_stage(const StageSettings& stage, const StagePlace& place, Problems& problems) {
    check_summarization(std::get<SummarizationConfig>(stage.config), place.chain.config,
                        {.other_summarisers = place.named.rivals_before(stage.name)}, "", problems);
}

void add_summarization_keys(std::vector<ConfigKey>& keys) {
    add_keys<SummarizationDraft>(keys, "summarization.", summarization_fields);
    add_keys<Trigger>(keys, "summarization.trigger.", trigger_fields);
    add_keys<PreserveUserMessages>(keys, "summarization.preserve_user_messages.", user_fields);
    add_keys<Skills>(keys, "summarization.preserve_skills.", skill_fields);
    add_preserve_work_keys(keys, "summarization.preserve_work.");
    add_keys<Attach>(keys, "summarization.attach_files.", attach_fields);
    add_keys<GenerateOptions>(keys, "summarization.model_options.", option_fields);
    add_keys<RetryConfig>(keys, "summarization.retry.", retry_fields);
    add_keys<FailoverDraft>(keys, "summarization.failover.", failover_fields);
}

std::string changed_summarization(const StageSettings& stage) {
    auto draft = draft_of<SummarizationDraft, SummarizationConfig>(stage);
    draft.model = stage.model;
    return changed_object<SummarizationDraft>(draft, summarization_fields);
}

}  // namespace

extern const StageType summarization_type;
const StageType summarization_type{"summarization",         &read_summarization, &check_summarization_stage,
                                   &add_summarization_keys, fold_task,           &changed_summarization};

}  // namespace whittle::inline v0::detail
