#include "config_json_reader.hpp"
#include "whittle/compaction/config.hpp"

#include <fmt/format.h>

#include <array>

namespace whittle::inline v0::detail {

namespace {

struct CompactionDraft : CompactionConfig {
    std::string name = "compaction";
    std::string model{};
    std::string failover_model{};
};

void read_keep_rounds(ConfigReader& reader, NodeId at, CompactionDraft& draft) {
    std::int64_t value = 0;
    if (reader.read_integer(at, 1, std::numeric_limits<int>::max(), value))
        draft.current_turn_keep_rounds = static_cast<int>(value);
}

void read_pruning_or_false(ConfigReader& reader, NodeId at, CompactionDraft& draft) {
    if (reader.json()[at].kind == JsonPositions::Kind::object) return read_pruning(reader, at, draft.pruning.emplace());
    if (reader.json().raw(at) != "false") return reader.unexpected(at, "false or an object");
    draft.pruning.reset();
}

void read_media(ConfigReader& reader, NodeId at, CompactionDraft& draft) {
    constexpr std::array modes{MediaMode::automatic, MediaMode::keep, MediaMode::placeholder, MediaMode::reference};
    std::array<std::string_view, modes.size()> words{};
    for (std::size_t i = 0; i < modes.size(); ++i) words[i] = name_of(modes[i]);
    if (const auto found = reader.read_word(at, "mode", words)) draft.media = modes[*found];
}

constexpr std::array on_failure_values{OnFailure::keep_going, OnFailure::propagate};
constexpr std::array<std::string_view, 2> on_failure_words{"keep_going", "propagate"};

void read_on_failure(ConfigReader& reader, NodeId at, CompactionDraft& draft) {
    if (const auto found = reader.read_word(at, "value", on_failure_words))
        draft.on_failure = on_failure_values[*found];
}

std::string shown_retry(const CompactionDraft& draft) {
    return draft.retry ? fmt::format("{{\"max_retries\": {}}}", draft.retry->max_retries) : std::string("none");
}

using CC = CompactionConfig;
constexpr std::array<Field<CompactionDraft>, 23> compaction_fields{{
    {"type", "string", "required", "`compaction`", &skip<CompactionDraft>},
    {"name", "string", &shown<&CompactionDraft::name>, name_meaning, &read_value<&CompactionDraft::name>},
    {"model",
     "string",
     {"the agent's own", &shown<&CompactionDraft::model>},
     "a name of `models`: who writes the summaries",
     &read_value<&CompactionDraft::model>},
    {"threshold_tokens", "integer", &shown<&CC::threshold_tokens>,
     "compaction starts above this many tokens, system text and tools included",
     &read_integer<&CC::threshold_tokens, 1>},
    {"threshold_fraction", "number", &shown<&CC::threshold_fraction>,
     "instead: above this part of `profile.context_window`; 0: off", &read_fraction<&CC::threshold_fraction>},
    {"target_tokens", "integer", &shown<&CC::target_tokens>, "what it works down to, the current turn not counted",
     &read_integer<&CC::target_tokens, 1>},
    {"target_fraction", "number", &shown<&CC::target_fraction>,
     "instead: this part of `profile.context_window`; 0: off", &read_fraction<&CC::target_fraction>},
    {"summary_size_tokens", "integer", &shown<&CC::summary_size_tokens>,
     "the summariser's output limit, enforced on what it wrote", &read_integer<&CC::summary_size_tokens, 1>},
    {"summary_fraction", "number", &shown<&CC::summary_fraction>,
     "instead: this part of `profile.context_window`; 0: off", &read_fraction<&CC::summary_fraction>},
    {"runway_fraction", "number", &shown<&CC::runway_fraction>,
     "no summary once the cheap stages come this far below the threshold", &read_fraction<&CC::runway_fraction>},
    {"current_turn_keep_rounds",
     "integer",
     {"all", &shown<&CC::current_turn_keep_rounds>},
     "newest tool rounds of the current turn that stay",
     &read_keep_rounds},
    {"pruning", "object or false", "{}", "the first stage, keys as in `pruning` but for name and storage; false: off",
     &read_pruning_or_false},
    {"media", "string", +[](const CompactionDraft& d) { return std::string(name_of(d.media)); },
     "`automatic`, `keep`, `placeholder` or `reference`: images of old turns", &read_media},
    {"token_counter", "object", "the chain's", "how this middleware counts; keys as in `tokens`",
     [](ConfigReader& r, NodeId at, CompactionDraft& d) { read_tokens(r, at, d.token_counter); }},
    {"summary_role", "string", +[](const CompactionDraft& d) { return shown_summary_role(d.summary_role); },
     "`automatic`, `user` or `system`",
     [](ConfigReader& r, NodeId at, CompactionDraft& d) { read_summary_role(r, at, d.summary_role); }},
    {"preserve_work", "object", "{}",
     "plan, files and reports of sub-agents, word for word, in up to half of the summary's size; keys as in "
     "`summarization.preserve_work`",
     [](ConfigReader& r, NodeId at, CompactionDraft& d) { read_preserve_work(r, at, d.preserve_work); },
     [](const CompactionDraft& d) { return changed_preserve_work(d.preserve_work); }},
    {"user_instruction",
     "string",
     {"built in", &shown<&CC::user_instruction>},
     "the task, instead of the built-in one",
     &read_value<&CC::user_instruction>},
    {"model_options", "object", "{}", "of every summary call; keys as in `summarization.model_options`",
     [](ConfigReader& r, NodeId at, CompactionDraft& d) { read_model_options(r, at, d.model_options); }},
    {"max_input_tokens", "integer", &shown<&CC::max_input_tokens>,
     "bound of one summary request; 0: the window less the reply, or 100000", &read_integer<&CC::max_input_tokens, 0>},
    {"retry", "object", &shown_retry, "more attempts with the same model, half a second apart",
     [](ConfigReader& r, NodeId at, CompactionDraft& d) { read_retry(r, at, *d.retry); }},
    {"failover", "object", "none", "attempts with another model; keys as in `summarization.failover`",
     [](ConfigReader& r, NodeId at, CompactionDraft& d) {
         read_failover(r, at, d.failover.emplace(), d.failover_model);
     }},
    {"on_failure", "string",
     +[](const CompactionDraft& d) { return word_of(d.on_failure, on_failure_values, on_failure_words); },
     "`keep_going`: report and wait for growth; `propagate`: throw", &read_on_failure},
    {"cool_down_tokens", "integer", &shown<&CC::cool_down_tokens>,
     "growth after a failure before the next attempt; 0: 5 % of the threshold",
     &read_integer<&CC::cool_down_tokens, 0>},
}};

constexpr std::string_view model_variable = "AGENT_COMPACTION_MODEL";

void bad_variable(ConfigReader& reader, NodeId at, std::string_view name, std::string_view value,
                  std::string_view expected) {
    reader.problem(at, fmt::format("environment variable {}: found \"{}\", expected {}", name, value, expected));
}

/// Empty is unset.
void read_model_variable(ConfigReader& reader, NodeId at, CompactionDraft& draft) {
    const auto& lookup = reader.source().lookup;
    const std::optional<std::string> name = lookup ? lookup(model_variable) : std::nullopt;
    if (!name || name->empty()) return;
    const NodeId models = reader.json().member(JsonPositions::root, "models");
    const auto& knows = reader.source().knows_model;
    const bool is_known =
        (models != JsonPositions::none && reader.json().member(models, *name) != JsonPositions::none) ||
        (knows && knows(*name));
    if (!is_known)
        return bad_variable(
            reader, at, model_variable, *name,
            knows ? "a name of `models`, or one that the program's maker of models knows" : "a name of `models`");
    draft.model = *name;
}

void read_size_variables(ConfigReader& reader, NodeId at, CompactionDraft& draft) {
    Problems problems;
    read_compaction_environment(draft, reader.source().lookup, problems);
    for (const Problem& problem : problems.all())
        bad_variable(reader, at, problem.field, problem.value, problem.allowed);
}

void read_compaction(ConfigReader& reader, NodeId at, StageSettings& stage) {
    CompactionDraft draft;
    read_object<CompactionDraft>(reader, at, draft, compaction_fields);
    read_size_variables(reader, at, draft);
    read_model_variable(reader, at, draft);
    stage.name = draft.name;
    stage.model = draft.model;
    stage.failover_model = draft.failover_model;
    stage.config = static_cast<CompactionConfig&>(draft);
}

void check_compaction_stage(const StageSettings& stage, const StagePlace& place, Problems& problems) {
    check_compaction(std::get<CompactionConfig>(stage.config), place.chain.config,
                     place.named.rivals_before(stage.name), "", problems);
}

void add_compaction_keys(std::vector<ConfigKey>& keys) {
    add_keys<CompactionDraft>(keys, "compaction.", compaction_fields);
}

}  // namespace

extern const StageType compaction_type;
const StageType compaction_type{"compaction", &read_compaction, &check_compaction_stage, &add_compaction_keys,
                                fold_task};

}  // namespace whittle::inline v0::detail
