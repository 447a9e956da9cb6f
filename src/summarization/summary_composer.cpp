#include "summary_composer.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/summarization/detail/summary_text.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

std::string reason_of(bool is_by_rule) { return std::string(is_by_rule ? rule_based_summary_reason : "summary"); }

}  // namespace

std::int64_t SummaryComposer::expected_tokens() const {
    constexpr std::int64_t words_of_models = 3'000;
    const std::int64_t by_rule = config_.rule_based_summary_tokens;
    std::int64_t words = config_.max_summary_tokens > 0 ? config_.max_summary_tokens : words_of_models;
    if (!work_.functions.generate && by_rule > 0) words = std::min(words, by_rule);
    const std::int64_t users = std::min(tokens_of_users(), user_budget());
    return add_saturating(add_saturating(words, users), add_saturating(frame_tokens(), config_.retained_facts_tokens));
}

/// Indices of the messages that stay.
std::vector<std::size_t> SummaryComposer::staying() const {
    std::vector<std::size_t> staying;
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
        if (plan_.rules[i] != "fold") staying.push_back(i);
    }
    return staying;
}

std::string_view SummaryComposer::transcript_path() const noexcept {
    return config_.transcript_file_path.empty() ? work_.functions.transcript_path : config_.transcript_file_path;
}

const FoldedObject* SummaryComposer::object() const {
    if (!config_.offload_folded || !turn_.config.storage || work_.functions.finalize || plan_.folded.empty())
        return nullptr;
    if (!object_) object_ = folded_object(turn_, plan_.folded);
    return &*object_;
}

std::string SummaryComposer::text_of(const SummaryText& summary, const KeptUserMessages& users,
                                     std::span<const RetainedFact> facts, std::string_view work) const {
    SummaryParts parts{summary.text, &users, work, facts, transcript_path()};
    parts.is_by_rule = summary.is_by_rule;
    parts.ends_in_order = !has_continue_message_;
    if (const FoldedObject* const stored = object()) {
        parts.stored_as = stored->references;
        parts.reader = stored->reader;
    }
    return compose_summary(parts, turn_.language);
}

ComposedSummary SummaryComposer::frame() const { return {.summary_text = text_of({"..."}, {}, {}, {})}; }

std::vector<UserText> SummaryComposer::user_texts(std::span<const std::size_t> indices,
                                                  std::span<const std::size_t> staying) const {
    const auto& filter = work_.functions.user_message_filter;
    return collect_user_texts(turn_.part_visitor(), turn_.outline(), indices, staying,
                              [&](std::size_t i) { return !filter || filter(i); });
}

std::int64_t SummaryComposer::tokens_of_users() const {
    std::int64_t tokens = 0;
    for (const UserText& text : user_texts(plan_.folded, staying()))
        tokens = add_saturating(tokens, tokens_of(text.text));
    return tokens;
}

std::vector<Skill> SummaryComposer::skills_at(std::span<const std::size_t> indices) const {
    return collect_skills(turn_.part_visitor(), turn_.outline(), indices, config_.preserve_skills.skill_tool_name);
}

/// Skills of the folded messages, but for those that stay in the list as well.
std::vector<Skill> SummaryComposer::folded_skills() const {
    if (config_.preserve_skills.max_skills <= 0) return {};
    std::vector<Skill> skills = skills_at(plan_.folded);
    const std::vector<Skill> kept = skills_at(staying());
    std::erase_if(skills, [&](const Skill& skill) {
        return std::ranges::any_of(kept, [&](const Skill& other) { return other.name == skill.name; });
    });
    return skills;
}

const WorkOfFold& SummaryComposer::work_state() {
    if (!work_state_)
        work_state_ = work_of_fold(turn_.part_visitor(), turn_.outline(), plan_.folded, config_.preserve_work);
    return *work_state_;
}

ComposedSummary SummaryComposer::compose(const SummaryText& summary) {
    ComposedSummary result;
    add_user_texts(summary, result);
    const std::int64_t room = room_for_summary(sizes_, plan_);
    std::int64_t left = room - tokens_of(text_of(summary, result.user_messages, {}, {}));
    add_skills(left, result);
    left -= result.tokens;
    add_work(left, summary.is_by_rule, result);
    const std::string own_text = without_user_section(summary.text);
    std::string stands = result.user_messages.texts.empty() ? summary.text : own_text;
    stands.append("\n").append(transcript_path()).append("\n").append(result.work_text);
    for (const std::string& text : result.user_messages.texts) stands.append("\n").append(text);
    if (!result.skills_text.empty()) stands.append("\n").append(result.skills_text);
    const std::vector<RetainedFact> facts = facts_beside(stands, own_text, left - tokens_of(result.work_text), result);
    result.summary_text = text_of(summary, result.user_messages, facts, result.work_text);
    result.tokens = add_saturating(result.tokens, tokens_of(result.summary_text));
    if (has_continue_message_) result.tokens = add_saturating(result.tokens, tokens_of(continue_text(turn_.language)));
    add_files(room - result.tokens, result);
    return result;
}

void SummaryComposer::add_work(std::int64_t room, bool is_by_rule, ComposedSummary& composed) {
    const WorkOfFold& state = work_state();
    const PreserveWorkConfig config = state.shown_below_summary(config_.preserve_work, is_by_rule);
    composed.work = to_note(state.folded);
    composed.work_text = to_text(state.folded, config, room, turn_.counter(), turn_.language);
}

/// Files that were read or written, those used last in front, but for those that the list still shows.
std::vector<FileUse> SummaryComposer::files_to_attach() {
    constexpr std::size_t for_each_wanted = 4;  // some are gone by now
    const std::size_t most = for_each_wanted * static_cast<std::size_t>(config_.attach_files.max_files);
    const WorkOfFold& state = work_state();
    std::unordered_set<std::string_view> shown;
    for (const FileUse& file : state.staying.files) {
        if (file.is_read_whole) shown.insert(file.path);
    }
    std::vector<FileUse> files;
    for (auto file = state.folded.files.rbegin(); file != state.folded.files.rend() && files.size() < most; ++file) {
        const bool is_used = file->writes > 0 || file->is_read_whole || !file->ranges.empty();
        if (is_used && !shown.contains(file->path)) files.push_back(*file);
    }
    return files;
}

/// The host is asked once for a plan, and only where there may be room.
void SummaryComposer::add_files(std::int64_t room, ComposedSummary& composed) {
    const AttachFilesConfig& config = config_.attach_files;
    if (!work_.functions.attach_files || config.max_files == 0 || room <= 0) return;
    if (!attached_) {
        const std::vector<FileUse> wanted = files_to_attach();
        attached_ = wanted.empty() ? std::vector<AttachedFile>{} : work_.functions.attach_files(wanted);
    }
    const std::vector<AttachedFile> kept = keep_files(*attached_, config, room, turn_.counter(), turn_.language);
    composed.files_text = to_text(kept, turn_.language);
    composed.tokens = add_saturating(composed.tokens, tokens_of(composed.files_text));
}

void SummaryComposer::add_user_texts(const SummaryText& summary, ComposedSummary& composed) const {
    const std::int64_t budget = user_budget();
    if (budget <= 0) return;
    const std::int64_t left = room_for_summary(sizes_, plan_) - tokens_of(text_of(summary, {}, {}, {}));
    std::size_t left_out = 0;
    composed.user_texts =
        keep_user_texts(user_texts(plan_.folded, staying()), budget, turn_.counter(), turn_.language, left_out);
    KeptUserMessages& shown = composed.user_messages;
    shown.texts = strings_of(
        keep_user_texts(composed.user_texts, std::min(budget, left), turn_.counter(), turn_.language, shown.left_out));
    shown.left_out += left_out;
}

void SummaryComposer::add_skills(std::int64_t room, ComposedSummary& composed) const {
    const PreserveSkillsConfig& config = config_.preserve_skills;
    composed.hidden_skills = keep_skills(folded_skills(), config, INT64_MAX, turn_.counter(), turn_.language);
    composed.skills = keep_skills(composed.hidden_skills, config, room, turn_.counter(), turn_.language);
    composed.hidden_skills.resize(composed.hidden_skills.size() - composed.skills.size());  // the newest are shown
    composed.skills_text = to_text(composed.skills, turn_.language);
    composed.tokens = tokens_of(composed.skills_text);
}

/// What is shown is what `stands` lacks. Carried is more, and also what the model wrote itself: the next one may leave
/// it out.
std::vector<RetainedFact> SummaryComposer::facts_beside(std::string_view stands, std::string_view own_text,
                                                        std::int64_t room, ComposedSummary& composed) const {
    const std::int64_t budget = config_.retained_facts_tokens;
    if (budget <= 0) return {};
    FactCollector facts;
    collect_facts(turn_.part_visitor(), turn_.outline(), plan_.folded, facts);
    facts.next_message();
    facts.add({.kind = PartKind::text, .text = own_text}, false);
    composed.facts =
        to_note(facts.missing_in(transcript_path(), carried_tokens(budget), turn_.counter(), turn_.language));
    return facts.missing_in(stands, std::min(budget, room), turn_.counter(), turn_.language);
}

RuleBasedSummaryConfig SummaryComposer::rule_based_config() {
    std::int64_t room = room_for_summary(sizes_, plan_) - tokens_of(text_of({{}, true}, {}, {}, {}));
    const std::int64_t budget = user_budget();
    if (budget > 0) room -= std::min({tokens_of_users(), budget, room / 2});
    if (config_.max_summary_tokens > 0) room = std::min(room, config_.max_summary_tokens);
    return {.max_tokens = std::max<std::int64_t>(1, std::min(config_.rule_based_summary_tokens, room)),
            .with_user_messages = budget <= 0,
            .work = work_state().shown(config_.preserve_work)};
}

Provenance SummaryComposer::provenance_of(const ComposedSummary& composed, bool is_by_rule) const {
    const Outline outline = turn_.outline();
    return {.origin = Origin::summary,
            .reason = reason_of(is_by_rule),
            .stored_keys = stored_references(outline, plan_.folded),
            .covers = covered_serials(outline, plan_.folded),
            .level = plan_.level,
            .verbatim_user_messages = strings_of(composed.user_texts),
            .times_beside_results = times_of(composed.user_texts),
            .work_state = composed.work,
            .retained_facts = composed.facts};
}

Provenance SummaryComposer::provenance_of(std::span<const std::size_t> replaced, bool is_by_rule) const {
    const Outline outline = turn_.outline();
    std::size_t left_out = 0;
    const std::vector<UserText> users =
        keep_user_texts(user_texts(replaced, {}), user_budget(), turn_.counter(), turn_.language, left_out);
    Provenance carried{
        .origin = Origin::summary,
        .reason = reason_of(is_by_rule),
        .stored_keys = stored_references(outline, replaced),
        .covers = covered_serials(outline, replaced),
        .verbatim_user_messages = strings_of(users),
        .times_beside_results = times_of(users),
        .work_state = to_note(collect_work(turn_.part_visitor(), outline, replaced, config_.preserve_work))};
    for (const Skill& skill :
         keep_skills(skills_at(replaced), config_.preserve_skills, INT64_MAX, turn_.counter(), turn_.language))
        carried.skill_records.push_back(to_record(skill));
    return carried;
}

}  // namespace whittle::inline v0::detail
