#include "trimming_run.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <limits>
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
      ages_{config_.line_age_calls, config_.plain_line_age_calls} {}

// ---- what may go

void TrimmingRun::look(bool is_pause) {
    if (is_pause) {
        const int age = config_.pause_line_age_calls;
        ages_ = {age > 0 ? age : config_.plain_line_age_calls, config_.plain_line_age_calls};
    }
    consider_old();
    const bool is_time = is_pause || schedule_.call() % config_.look_every_calls == 0;
    if (!is_time) return;
    if (config_.expire_lines) look_at_reads(ages_, is_pause);
    if (config_.trim_arguments) look_at_arguments(is_pause);
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
    const bool is_call = part.kind == TrimPart::Kind::call;
    std::string suffix = is_call ? "a" : call != nullptr ? "" : "o";
    const auto has_name = [&](std::size_t p) {
        return p < message.parts.size() && message.parts[p].kind == part.kind && message.parts[p].name == part.name;
    };
    const bool has_more = (place.second > 0 && has_name(place.second - 1)) || has_name(place.second + 1);
    if (has_more || call == nullptr) suffix += "p" + std::to_string(place.second);
    const Serial round = call != nullptr ? call->round : message.serial;
    return trim_key(turn_.conversation_id(), round, call != nullptr ? call->number : 0, suffix);
}

std::string TrimmingRun::reference_of(const TrimPlace& place) const {
    return trim_reference(storage_ ? key_of(place) : std::string());
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
    if (!part.is_closed) {
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
        const bool is_young = call > now - std::min(ages.valued, ages.other) || place.first >= schedule_.newest();
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

void TrimmingRun::look_at_arguments(bool is_pause) {
    const int now = schedule_.call();
    const std::vector<TrimPlace> places(state_.open_calls.begin(), state_.open_calls.end());
    for (const TrimPlace& place : places) {
        const std::size_t m = place.first;
        if (state_.messages()[m].call > now - config_.argument_age_calls || m >= schedule_.newest()) break;
        TrimPart& part = state_.at(place);
        const std::int64_t bytes = turn_.outline()[m].parts[place.second].bytes;
        const TrimCall* const call = state_.find_call(part.name);
        const bool has_failed = call == nullptr || call->verdict == TrimCall::Verdict::failed;
        if (bytes <= config_.min_argument_bytes || has_failed ||
            !turn_.outline()[m].parts[place.second].has_object_arguments) {
            part.is_closed = true;
            state_.file(place);
            continue;
        }
        if ((!is_pause && now < part.next_due) || !has_worked(part)) continue;
        if (is_beside_open_thinking(m) || is_protected(place)) continue;
        for_each_text(m, [&](std::size_t p, const PartView& view) {
            if (p != place.second) return;
            if (part.tokens < 0) part.tokens = count(view.text);
            auto form = form_of(place, view.text, reference_of(place));
            if (form) offer(place, form->text.size(), count(form->text), form->rule);
        });
    }
}

void TrimmingRun::look_at_extracts() {
    const int now = schedule_.call();
    const std::vector<TrimPlace> places(state_.open_extracts.begin(), state_.open_extracts.end());
    for (const TrimPlace& place : places) {
        if (state_.messages()[place.first].call >= now - config_.extract_age_calls) break;
        TrimPart& part = state_.at(place);
        if (part.candidate || is_protected(place)) continue;
        for_each_text(place.first, [&](std::size_t p, const PartView& view) {
            if (p != place.second) return;
            if (part.tokens < 0) part.tokens = count(view.text);
            auto form = form_of(place, view.text, reference_of(place));
            if (form) offer(place, form->text.size(), count(form->text), form->rule);
        });
        if (!part.candidate) part.is_closed = true;
        state_.file(place);
    }
}

// ---- what becomes of a part

std::optional<TrimmingRun::Form> TrimmingRun::form_of(const TrimPlace& place, std::string_view text,
                                                      std::string_view reference) {
    TrimPart& part = state_.at(place);
    if (part.kind == TrimPart::Kind::result)
        return form_of_result(part, state_.messages()[place.first].call, text, reference);
    auto now = old_arguments(text, part.is_edit, reference, state_.index(), schedule_.call(),
                             argument_rules_of(config_), part.next_due);
    if (!now) return std::nullopt;
    return Form{.text = *std::move(now), .rule = "old_arguments", .note = "a"};
}

std::optional<TrimmingRun::Form> TrimmingRun::form_of_result(TrimPart& part, int call, std::string_view text,
                                                             std::string_view reference) {
    const ExtractRules rules = extract_rules_of(config_);
    if (part.is_extract)
        return Form{.text = last_of_extract(text, reference), .rule = "old_output", .note = "l", .is_closed = true};
    if (part.form.kind == ResultClass::read) return form_of_read(part, call, text, reference);
    if (part.form.kind == ResultClass::edit) {
        if (!config_.trim_edit_results) return std::nullopt;
        return Form{
            .text = extract_of_edit(text, reference, rules), .rule = "edit_result", .note = "e", .is_closed = true};
    }
    if (!config_.trim_outputs) return std::nullopt;
    const std::string_view whole = part.original.empty() ? text : std::string_view(part.original);
    return Form{.text = extract_of(whole, part.form, reference, call, state_.index(), rules),
                .rule = "output",
                .note = "x",
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
    const bool is_old = call <= schedule_.call() - std::min(ages_.valued, ages_.other);
    if (config_.expire_lines && is_old && part.read != nullptr) {
        int next = 0;
        const std::vector<bool> lines = form.read->find_old(state_.index(), ages_, schedule_.call(), rules, next);
        if (!lines.empty()) {
            form.read->keep(lines);
            form.rule = "old_lines";
        }
    }
    form.text = form.read->text(reference);
    return form;
}

// ---- deciding and committing

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

CommitResult TrimmingRun::commit(Draft& edit, std::size_t first) {
    const std::vector<TrimPlace> places(state_.offered.lower_bound({first, 0}), state_.offered.end());
    for (const TrimPlace& place : places) stage(edit, place);
    if (staged_.empty()) return {};
    const CommitResult result = edit.commit();
    settle(result, first);
    return result;
}

/// Where the original is; offloads it unless it is there already.
std::vector<std::string> TrimmingRun::stored_of(Draft& edit, const TrimPlace& place, std::string_view text) {
    const auto& [m, p] = place;
    if (const Mark& mark = mark_of(edit.outline()[m], p); mark != nullptr) return mark->stored;
    if (!storage_) return {};
    const std::string content = stands_alone(place) ? std::string() : whole_message(place.first);
    const std::string_view stored = content.empty() ? text : std::string_view(content);
    std::string key = free_key(*storage_, key_of(place), stored, planned_);
    planned_.add(key, hash128(stored));
    return {std::move(key)};
}

/// Whether the part is all that its message says: else a call is stored with what was said beside it, so that the
/// object tells what was done and why.
bool TrimmingRun::stands_alone(const TrimPlace& place) const {
    const auto& parts = turn_.outline()[place.first].parts;
    if (state_.messages()[place.first].parts[place.second].kind != TrimPart::Kind::call) return true;
    return std::ranges::count_if(
               parts, [](const PartInfo& part) { return part.kind != PartKind::thinking && part.bytes > 0; }) <= 1;
}

std::string TrimmingRun::whole_message(std::size_t message) const {
    std::string whole;
    turn_.visit_parts(message, [&](const PartView& part) {
        if (part.kind == PartKind::text || part.kind == PartKind::tool_call)
            whole.append(whole.empty() ? "" : "\n").append(part.text);
    });
    return whole;
}

void TrimmingRun::offload(Draft& edit, const TrimPlace& place, const std::string& key) const {
    if (stands_alone(place)) return edit.offload_text(key, place.first, place.second, storage_);
    edit.offload(key, whole_message(place.first), std::nullopt, storage_);
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
    std::vector<std::string> stored = stored_of(edit, place, text);
    std::vector<LineId> shown = part.shown;
    state_.show(part, {});
    auto form = form_of(place, text, trim_reference(stored.empty() ? std::string_view() : stored.front()));
    const std::int64_t tokens = form ? count(form->text) : 0;
    if (!form || tokens >= part.tokens) {
        state_.show(part, std::move(shown));
        return drop();
    }
    edit.begin_unit();
    if (storage_ && !part.is_trimmed && !stored.empty()) offload(edit, place, stored.front());
    const std::int64_t before = edit.tokens_after();
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
        tell(staged.place, is_planned && !is_refused, is_refused ? "store_refused" : staged.form.rule, staged.freed);
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
            state_.note_form(turn_, outline[m].serial, p, *part.read);
        } else {
            state_.note_form(turn_, outline[m].serial, p, staged.form.note);
        }
        state_.file(staged.place);
    }
    if (!result.committed()) return;
    schedule_.note_commit();
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
