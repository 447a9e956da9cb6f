#include "trimming_run.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t least_gain_bytes = 40;
constexpr std::int64_t least_gain_tokens = 8;

}  // namespace

std::string trim_reference(std::string_view key) {
    return key.empty() ? std::string("[..]") : "[" + std::string(key) + "]";
}

std::string trim_key(std::string_view conversation, Serial round, std::size_t number, std::string_view suffix) {
    std::string key = short_root(conversation) + "/" + std::to_string(round);
    if (number > 0) key.append(".").append(std::to_string(number));
    return key.append(suffix);
}

TrimmingRun::TrimmingRun(HookTurn& turn, TrimmingState& state, EditSchedule& schedule, std::string_view name)
    : turn_(turn),
      state_(state),
      schedule_(schedule),
      name_(name),
      config_(state.config()),
      storage_(config_.storage ? config_.storage : turn.config.storage),
      reader_(turn.tools.empty() ? read_offloaded_name : reader_among(turn.tools, read_offloaded_name)),
      ages_{config_.line_age_calls, config_.rare_line_age_calls, config_.plain_line_age_calls},
      looked_at_(schedule.call() - schedule.call() % config_.look_every_calls) {}

void TrimmingRun::look(bool is_pause) {
    is_deep_ = is_pause;
    if (is_pause) {
        ages_ = {config_.pause_line_age_calls, config_.pause_rare_line_age_calls, config_.plain_line_age_calls};
        looked_at_ = schedule_.call();
    }
    consider_old();
    const bool is_new = state_.take_newness();
    const bool is_time = is_pause || is_new || schedule_.call() % config_.look_every_calls == 0;
    if (!is_time) return;
    if (config_.trim_arguments) look_at_arguments(is_pause);
    if (keeps_passages()) return look_at_passages(is_pause, 0);
    if (config_.expire_lines) look_at_reads(ages_, is_pause);
    if (config_.extract_age_calls > 0 && !is_pause) look_at_extracts();
}

void TrimmingRun::for_each_text(std::size_t message, FunctionRef<void(std::size_t, const PartView&)> visit) const {
    std::size_t part = 0;
    turn_.visit_parts(message, [&](const PartView& view) { visit(part++, view); });
}

bool TrimmingRun::is_protected(const TrimPlace& place) const {
    const MessageInfo& info = turn_.outline()[place.first];
    const SharedString& tool = info.parts[place.second].tool;
    if (info.pinned || (turn_.config.pins && turn_.config.pins(info))) return true;
    return matches_tool(turn_.config.protected_tools, tool) || matches_tool(config_.exclude_tools, tool);
}

std::string TrimmingRun::key_of(const TrimPlace& place) const {
    const TrimMessage& message = state_.messages()[place.first];
    const TrimPart& part = message.parts[place.second];
    const TrimCall* const call = state_.find_call(part.name);
    if (part.kind == TrimPart::Kind::call) return trim_key(turn_.conversation_id(), message.serial, 0, "a");
    std::string suffix = call != nullptr ? "" : "o";
    const auto has_name = [&](std::size_t p) {
        return p < message.parts.size() && message.parts[p].kind == part.kind && message.parts[p].name == part.name;
    };
    const bool has_more = (place.second > 0 && has_name(place.second - 1)) || has_name(place.second + 1);
    if (has_more || call == nullptr) suffix += "p" + std::to_string(place.second);
    const Serial round = call != nullptr ? call->round : message.serial;
    return trim_key(turn_.conversation_id(), round, call != nullptr ? call->number : 0, suffix);
}

std::string TrimmingRun::reference_of(const TrimPlace& place) const {
    return reference_to_key(storage_ ? key_of(place) : std::string());
}

std::string TrimmingRun::reference_to_key(std::string_view key) const {
    if (!keeps_passages()) return trim_reference(key);
    return key.empty() || !storage_ ? std::string(key) : reference_to(*storage_, key, reader_);
}

/// Results that have left the newest calls.
void TrimmingRun::consider_old() {
    const std::size_t end = std::min(schedule_.newest(), state_.messages().size());
    for (std::size_t m = state_.considered; m < end; ++m) {
        const auto is_new = [](const TrimPart& part) {
            return part.kind == TrimPart::Kind::result && !part.is_considered;
        };
        if (std::ranges::none_of(state_.messages()[m].parts, is_new)) continue;
        for_each_text(m, [&](std::size_t p, const PartView& view) {
            if (p < state_.messages()[m].parts.size() && is_new(state_.at({m, p}))) consider({m, p}, view.text);
        });
    }
    state_.considered = std::max(state_.considered, end);
}

void TrimmingRun::consider(const TrimPlace& place, std::string_view text) {
    TrimPart& part = state_.at(place);
    part.is_considered = true;
    part.tokens = count(text);
    const bool is_short = text.size() <= static_cast<std::size_t>(config_.min_result_bytes);
    if (is_short || is_protected(place)) part.is_closed = true;
    if (!part.is_closed && keeps_passages()) {
        part.is_closed = !is_trimmed_class(part.form.kind);
        if (!part.is_closed)
            part.read = std::make_unique<ReadForm>(text, part.form, read_rules_of(config_), state_.index());
    } else if (!part.is_closed) {
        state_.show(part, {});
        if (auto form = form_of(place, text, reference_of(place))) {
            part.read = std::move(form->read);
            offer(place, form->text.size(), count(form->text), form->rule);
        }
    }
    state_.show(part, state_.lines_of_text(text, part.form.marks));
    state_.file(place);
}

void TrimmingRun::offer(const TrimPlace& place, std::size_t bytes, std::int64_t tokens, std::string_view rule) {
    TrimPart& part = state_.at(place);
    const bool is_result = part.kind == TrimPart::Kind::result;
    if (is_result && bytes + least_gain_bytes >= part.original_bytes) return;
    if (tokens + (part.is_trimmed || !is_result ? least_gain_tokens : 1) > part.tokens) return;
    part.candidate = TrimCandidate{tokens, rule};
    state_.file(place);
}

void TrimmingRun::look_at_reads(const LineAges& ages, bool is_pause) {
    const int now = schedule_.call();
    const std::vector<TrimPlace> places(state_.open_reads.begin(), state_.open_reads.end());
    for (const TrimPlace& place : places) {
        TrimPart& part = state_.at(place);
        const int call = state_.messages()[place.first].call;
        const bool is_young = call > now - ages.least() || place.first >= schedule_.newest();
        if (is_young || (!is_pause && now < part.next_due) || is_protected(place)) continue;
        int next = 0;
        const std::vector<bool> lines = part.read->find_old(state_.index(), ages, now, read_rules_of(config_), next);
        if (!is_pause) part.next_due = lines.empty() ? next : now;
        if (lines.empty()) continue;
        const std::string text = part.read->text(reference_of(place), 0, lines);
        if (part.tokens < 0)
            for_each_text(place.first, [&](std::size_t p, const PartView& view) {
                if (p == place.second) part.tokens = count(view.text);
            });
        offer(place, text.size(), count(text), "old_lines");
    }
}

/// Thinking of the open loop that a provider has signed wants its calls as they were.
bool TrimmingRun::is_beside_open_thinking(std::size_t message) const {
    const Outline outline = turn_.outline();
    const auto loop = outline.open_loop();
    return loop && message >= *loop && outline[message].has(PartKind::thinking);
}

bool TrimmingRun::has_worked(const TrimPart& part) const {
    const TrimCall* const call = state_.find_call(part.name);
    return call != nullptr && call->verdict == TrimCall::Verdict::worked;
}

/// Whether there will never be anything to gain from the arguments of a call.
bool TrimmingRun::stays_whole(const TrimPlace& place) const {
    const PartInfo& info = turn_.outline()[place.first].parts[place.second];
    const TrimCall* const call = state_.find_call(info.object_name.str());
    const bool has_failed = call == nullptr || call->verdict == TrimCall::Verdict::failed;
    return info.bytes <= config_.min_argument_bytes || has_failed || !info.has_object_arguments;
}

void TrimmingRun::look_at_arguments(bool is_pause) {
    const int now = schedule_.call();
    std::vector<TrimPlace> due;
    const std::vector<TrimPlace> places(state_.open_calls.begin(), state_.open_calls.end());
    for (const TrimPlace& place : places) {
        const std::size_t m = place.first;
        if (state_.messages()[m].call > now - config_.argument_age_calls || m >= schedule_.newest()) break;
        TrimPart& part = state_.at(place);
        part.is_closed = stays_whole(place);
        if (part.is_closed) {
            state_.file(place);
        } else if ((is_pause || now >= part.next_due) && has_worked(part)) {
            if (!is_beside_open_thinking(m) && !is_protected(place)) due.push_back(place);
        }
    }
    offer_forms(due);
}

void TrimmingRun::look_at_extracts() {
    const int now = schedule_.call();
    std::vector<TrimPlace> due;
    for (const TrimPlace& place : state_.open_extracts) {
        if (state_.messages()[place.first].call >= now - config_.extract_age_calls) break;
        if (!state_.at(place).candidate && !is_protected(place)) due.push_back(place);
    }
    offer_forms(due);
    for (const TrimPlace& place : due) {
        if (!state_.at(place).candidate) state_.at(place).is_closed = true;
        state_.file(place);
    }
}

/// `places`, ascending, of which those of one message are read together.
void TrimmingRun::offer_forms(const std::vector<TrimPlace>& places) {
    for (auto next = places.begin(); next != places.end();) {
        const std::size_t m = next->first;
        for_each_text(m, [&](std::size_t p, const PartView& view) {
            if (next == places.end() || next->first != m || next->second != p) return;
            const TrimPlace place = *next++;
            TrimPart& part = state_.at(place);
            if (part.tokens < 0) part.tokens = count(view.text);
            if (const auto form = form_of(place, view.text, reference_of(place)))
                offer(place, form->text.size(), count(form->text), form->rule);
        });
        while (next != places.end() && next->first == m) ++next;
    }
}

std::optional<TrimmingRun::Form> TrimmingRun::form_of(const TrimPlace& place, std::string_view text,
                                                      std::string_view reference) {
    TrimPart& part = state_.at(place);
    if (part.kind == TrimPart::Kind::result)
        return form_of_result(part, state_.messages()[place.first].call, text, reference);
    const ArgumentRules rules = argument_rules_of(config_);
    const int call = schedule_.call();
    auto now = keeps_passages()
                   ? old_texts_marked(text, part.is_edit, mark_with(reference), state_.index(), call,
                                      state_.messages()[place.first].call, rules, part.next_due)
                   : old_arguments(text, part.is_edit, reference, state_.index(), call, rules, part.next_due);
    if (!now) return std::nullopt;
    return Form{.text = *std::move(now), .rule = "old_arguments", .trimmed_as = TrimmedAs::arguments};
}

std::optional<TrimmingRun::Form> TrimmingRun::form_of_result(TrimPart& part, int call, std::string_view text,
                                                             std::string_view reference) {
    if (keeps_passages()) {
        const std::vector<bool> stays = passages_of(part, call);
        Form form = form_of_passages(part, stays, reference);
        if (form.is_closed) return form;
        form.read = std::make_unique<ReadForm>(*part.read);
        form.read->keep(stays);
        return form;
    }
    const ExtractRules rules = extract_rules_of(config_);
    if (part.is_extract) return Form{.text = last_of_extract(text, reference), .rule = "old_output", .is_closed = true};
    if (part.form.kind == ResultClass::read) return form_of_read(part, call, text, reference);
    if (part.form.kind == ResultClass::edit) {
        if (!config_.trim_edit_results) return std::nullopt;
        return Form{.text = extract_of_edit(text, reference, rules),
                    .rule = "edit_result",
                    .trimmed_as = TrimmedAs::edit_result,
                    .is_closed = true};
    }
    if (!config_.trim_outputs) return std::nullopt;
    const std::string_view whole = part.original.empty() ? text : std::string_view(part.original);
    return Form{.text = extract_of(whole, part.form, reference, call, state_.index(), rules),
                .rule = "output",
                .trimmed_as = TrimmedAs::extract,
                .is_extract = true};
}

/// Of what was trimmed already the lines that are left, else those that stand nowhere else; without those that are old.
std::optional<TrimmingRun::Form> TrimmingRun::form_of_read(TrimPart& part, int call, std::string_view text,
                                                           std::string_view reference) {
    if (!config_.trim_reads) return std::nullopt;
    const ReadRules rules = read_rules_of(config_);
    Form form{.rule = "shown_lines"};
    if (part.is_trimmed) {
        if (!part.read) return std::nullopt;
        form.read = std::make_unique<ReadForm>(*part.read);
    } else {
        form.read = std::make_unique<ReadForm>(text, part.form, rules, state_.index());
        if (rules.drop_shown) form.read->drop_shown(0, call, state_.index(), rules);
    }
    const bool is_old = call <= looked_at_ - ages_.least();
    if (config_.expire_lines && is_old && part.read != nullptr) {
        int next = 0;
        const std::vector<bool> lines = form.read->find_old(state_.index(), ages_, looked_at_, rules, next);
        if (!lines.empty()) {
            form.read->keep(lines);
            form.rule = "old_lines";
        }
    }
    form.text = form.read->text(reference);
    return form;
}

std::optional<std::size_t> TrimmingRun::decide(std::int64_t total) {
    std::vector<EditOffer> offers;
    offers.reserve(state_.offered.size());
    for (const TrimPlace& place : state_.offered) {
        const TrimMessage& message = state_.messages()[place.first];
        const TrimPart& part = message.parts[place.second];
        constexpr std::uint64_t most_parts = 100'000;
        offers.push_back({.message = place.first,
                          .id = message.serial * most_parts + place.second % most_parts,
                          .tokens_now = part.tokens,
                          .tokens_then = part.candidate->tokens});
    }
    return schedule_.decide(
        offers, total, [&](std::size_t first, std::size_t last) { return state_.tokens(first, last); }, name_);
}

CommitResult TrimmingRun::commit(Draft& edit, std::size_t first, std::int64_t enough) {
    // All behind it is written anew: what would go soon goes too.
    if (keeps_passages() && !is_deep_) look_at_passages(true, first);
    const std::vector<TrimPlace> places(state_.offered.lower_bound({first, 0}), state_.offered.end());
    for (const TrimPlace& place : places) {
        const bool is_within = !staged_.empty() && staged_.back().place.first == place.first;
        const bool is_enough = sub_saturating(edit.tokens_before(), edit.tokens_after()) >= enough;
        if (is_enough && !is_within) {  // the calls of one message are edited together
            tell(place, false, "target_reached", 0);
            continue;
        }
        stage(edit, place);
    }
    if (staged_.empty()) return {};
    const CommitResult result = edit.commit();
    settle(result, first);
    return result;
}

/// The arguments of a message are stored together, with what was said beside them: the object tells what was done and
/// why.
const std::string& TrimmingRun::whole_message(std::size_t message) {
    if (whole_of_ == message && !whole_.empty()) return whole_;
    whole_of_ = message;
    whole_.clear();
    turn_.visit_parts(message, [&](const PartView& part) {
        if (part.kind == PartKind::text || part.kind == PartKind::tool_call)
            whole_.append(whole_.empty() ? "" : "\n").append(part.text);
    });
    return whole_;
}

/// Plans the edit of a part, and of its original to be stored what is not stored yet. Those of one message's calls
/// stand or fall together.
std::vector<std::string> TrimmingRun::store(Draft& edit, const TrimPlace& place, std::string_view text) {
    const auto& [m, p] = place;
    const bool is_call = state_.at(place).kind == TrimPart::Kind::call;
    const bool is_stored_with_last = is_call && last_call_.message == m && !last_call_.key.empty();
    if (!is_stored_with_last) edit.begin_unit();
    if (const Mark& mark = mark_of(edit.outline()[m], p); mark != nullptr) return mark->stored;
    if (!storage_) return {};
    if (is_stored_with_last) return {last_call_.key};
    const std::string_view content = is_call ? std::string_view(whole_message(m)) : text;
    std::string key = free_key(*storage_, key_of(place), content, planned_);
    planned_.add(key, hash128(content));
    if (content == text) {
        edit.offload_text(key, m, p, storage_);
    } else {
        edit.offload(key, std::string(content), std::nullopt, storage_);
    }
    if (is_call) last_call_ = {m, key};
    return {std::move(key)};
}

void TrimmingRun::stage(Draft& edit, const TrimPlace& place) {
    const auto& [m, p] = place;
    TrimPart& part = state_.at(place);
    const auto drop = [&] {
        part.candidate.reset();
        state_.file(place);
    };
    if (!edit.may_edit(m, p)) return drop();
    const std::string text = edit.text_of_part(m, p);
    std::vector<LineId> shown = part.shown;
    state_.show(part, {});
    auto form = form_of(place, text, reference_of(place));
    const std::int64_t tokens = form ? count(form->text) : 0;
    if (!form || tokens >= part.tokens) {
        state_.show(part, std::move(shown));
        return drop();
    }
    const std::int64_t before = edit.tokens_after();
    std::vector<std::string> stored = store(edit, place, text);
    if (!stored.empty() && reference_to_key(stored.front()) != reference_of(place))
        form = form_of(place, text, reference_to_key(stored.front()));  // the usual key is taken
    edit.set_text(m, p, form->text,
                  {.origin = Origin::placeholder, .reason = std::string(trimmed_reason), .stored = std::move(stored)});
    const bool is_call = part.kind == TrimPart::Kind::call;
    state_.show(part, state_.lines_of_text(is_call ? text_of_call(form->text, part.is_edit).shown : form->text,
                                           is_call ? LineMarks::none : part.form.marks));
    staged_.push_back({place, *std::move(form), tokens, before - edit.tokens_after()});
}

void TrimmingRun::settle(const CommitResult& result, std::size_t first) {
    if (!result.committed() || result.dropped_units > 0) state_.invalidate();
    const bool is_planned = result.committed() || result.outcome == Outcome::planned;
    const Outline outline = turn_.outline();
    for (Staged& staged : staged_) {
        const auto& [m, p] = staged.place;
        const bool is_refused = is_planned && result.dropped_units > 0 && mark_of(outline[m], p) == nullptr;
        const std::string_view rule = is_refused                          ? "store_refused"
                                      : result.outcome == Outcome::vetoed ? "vetoed"
                                                                          : staged.form.rule;
        tell(staged.place, is_planned && !is_refused, rule, staged.freed);
        if (!result.committed() || is_refused) continue;
        TrimPart& part = state_.at(staged.place);
        part.is_trimmed = true;
        part.candidate.reset();
        part.tokens = staged.tokens;
        part.original.clear();
        part.is_extract = staged.form.is_extract;
        part.is_closed = staged.form.is_closed;
        part.read = std::move(staged.form.read);
        if (part.read) {
            state_.note_form(outline[m].serial, p, *part.read);
        } else {
            state_.note_form(outline[m].serial, p, staged.form.trimmed_as);
        }
        state_.file(staged.place);
    }
    if (!result.committed()) return;
    state_.write_forms(turn_);
    schedule_.note_commit(result.first_changed.value_or(first));
    state_.accept(turn_, first);
}

void TrimmingRun::tell(const TrimPlace& place, bool is_cut, std::string_view rule, std::int64_t freed) {
    turn_.report.more().candidates.push_back({turn_.outline()[place.first].serial, place.second, is_cut, rule,
                                              is_cut ? std::max<std::int64_t>(freed, 0) : 0});
}

void TrimmingRun::tell_kept() {
    if (!turn_.config.explain) return;
    for (const TrimPlace& place : state_.offered) tell(place, false, "does_not_pay_yet", 0);
}

}  // namespace whittle::inline v0::detail
