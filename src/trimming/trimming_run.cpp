#include "trimming_run.hpp"

#include "extract_form.hpp"
#include "old_arguments.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

std::string trim_reference(std::string_view key) {
    return key.empty() ? std::string("[..]") : "[" + std::string(key) + "]";
}

std::string trim_key(std::string_view conversation, Serial round, std::size_t number, std::string_view suffix) {
    std::string key = short_root(conversation) + "/" + std::to_string(round);
    if (number > 0) key.append(".").append(std::to_string(number));
    return key.append(suffix);
}

TrimmingRun::TrimmingRun(HookTurn& hook, TrimmingState& known, EditSchedule& when, bool at_pause)
    : turn(hook),
      state(known),
      schedule(when),
      config(known.settings->config),
      rules(known.settings->rules),
      storage(config.storage ? config.storage : hook.config.storage),
      is_pause(at_pause),
      now(when.call()),
      ages(at_pause ? rules.pause_ages : rules.ages),
      reader_(hook.tools.empty() ? read_offloaded_name : reader_among(hook.tools, read_offloaded_name)) {}

void TrimmingRun::report(const TrimPlace& place, bool is_cut, std::string_view rule, std::int64_t freed) const {
    turn.report.ensure_details().candidates.push_back({turn.outline()[place.first].serial, place.second, is_cut, rule,
                                                       is_cut ? std::max<std::int64_t>(freed, 0) : 0});
}

std::string TrimmingRun::key_of(const TrimPlace& place) const {
    const TrimMessage& message = state.messages()[place.first];
    const TrimPart& part = message.parts[place.second];
    if (part.kind == TrimPart::Kind::call) return trim_key(turn.conversation_id(), message.serial, 0, "a");
    const TrimCall* const call = state.transcript.find_call(part.name);
    std::string suffix = call != nullptr ? "" : "o";
    const auto has_name = [&](std::size_t p) {
        return p < message.parts.size() && message.parts[p].kind == part.kind && message.parts[p].name == part.name;
    };
    const bool has_more = (place.second > 0 && has_name(place.second - 1)) || has_name(place.second + 1);
    if (has_more || call == nullptr) suffix += "p" + std::to_string(place.second);
    const Serial round = call != nullptr ? call->round : message.serial;
    return trim_key(turn.conversation_id(), round, call != nullptr ? call->number : 0, suffix);
}

std::string TrimmingRun::reference_to_key(std::string_view key) const {
    if (!by_passages()) return trim_reference(key);
    return key.empty() || !storage ? std::string(key) : reference_to(*storage, key, reader_);
}

std::vector<bool> TrimmingRun::passages_of(const TrimPart& part) const {
    const bool is_output = part.result.form.kind == ResultClass::shell || part.result.form.kind == ResultClass::other;
    return part.result.read->find_passages(state.transcript.index, rules, part.call, now, is_output);
}

TrimmedText TrimmingRun::trim_to_passages(const TrimPart& part, const std::vector<bool>& stays,
                                          std::string_view reference) const {
    const bool is_all = std::ranges::find(stays, true) == stays.end();
    const TextMark mark = mark_with(reference);
    std::string text = part.result.read->text_with_marks(stays, [&](std::uint64_t first, std::uint64_t lines) {
        return is_all ? mark.of_result(lines, part.result.original_bytes) : mark.of_lines(first, lines);
    });
    return {std::move(text), is_all ? "old_result" : "old_passages", is_all ? TrimmedAs::done : TrimmedAs::lines};
}

namespace {

std::optional<TrimmedText> trim_call(const TrimmingRun& run, TrimPart& part, int since, std::string_view text,
                                     std::string_view reference) {
    const LineIndex& index = run.state.transcript.index;
    auto arguments = run.by_passages() ? old_texts_marked(text, part.is_edit, run.mark_with(reference), index, run.now,
                                                          since, *run.state.settings, part.next_due)
                                       : old_arguments(text, part.is_edit, reference, index, run.now,
                                                       *run.state.settings, part.next_due);
    if (!arguments) return std::nullopt;
    return TrimmedText{*std::move(arguments), "old_arguments", TrimmedAs::arguments};
}

TrimmedText trim_result(const TrimmingRun& run, const TrimPart& part, std::string_view reference) {
    const std::vector<bool> stays = run.passages_of(part);
    TrimmedText trimmed = run.trim_to_passages(part, stays, reference);
    if (trimmed.as == TrimmedAs::done) return trimmed;
    trimmed.read = std::make_unique<ReadForm>(*part.result.read);
    trimmed.read->keep(stays);
    return trimmed;
}

/// By lines: of what was trimmed already the lines that are left, else those that stand nowhere else; without those
/// that are old.
std::optional<TrimmedText> trim_read(const TrimmingRun& run, const TrimPart& part, std::string_view text,
                                     std::string_view reference) {
    const TrimmingConfig& config = run.config;
    const ReadForm* const read = part.result.read.get();
    const bool is_trimmed = part.trimmed_as != TrimmedAs::whole;
    if (!config.trim_reads || (is_trimmed && read == nullptr)) return std::nullopt;
    LineIndex& index = run.state.transcript.index;
    TrimmedText trimmed{.rule = "shown_lines", .as = TrimmedAs::lines};
    trimmed.read = is_trimmed ? std::make_unique<ReadForm>(*read)
                              : std::make_unique<ReadForm>(text, part.result.form, config.unit, index);
    if (!is_trimmed) trimmed.read->drop_shown(0, part.call, index);
    const int looked_at = run.is_pause ? run.now : run.now - run.now % run.rules.look_every_calls;
    if (read != nullptr && part.call <= looked_at - run.ages.least()) {
        int next = 0;
        const std::vector<bool> lines = trimmed.read->find_old(index, run.ages, looked_at, next);
        if (!lines.empty()) {
            trimmed.read->keep(lines);
            trimmed.rule = "old_lines";
        }
    }
    trimmed.text = trimmed.read->text(reference);
    return trimmed;
}

std::optional<TrimmedText> trim_result_by_lines(const TrimmingRun& run, const TrimPart& part, std::string_view text,
                                                std::string_view reference) {
    const ResultForm& form = part.result.form;
    if (part.trimmed_as == TrimmedAs::extract) return TrimmedText{last_of_extract(text, reference), "old_output"};
    if (form.kind == ResultClass::read) return trim_read(run, part, text, reference);
    const ExtractSizes& sizes = run.rules.extract;
    if (form.kind == ResultClass::edit) return TrimmedText{extract_of_edit(text, reference, sizes), "edit_result"};
    if (!run.config.trim_program_output) return std::nullopt;
    const std::string_view whole = part.result.original.empty() ? text : std::string_view(part.result.original);
    return TrimmedText{extract_of(whole, form, reference, part.call, run.state.transcript.index, sizes), "output",
                       TrimmedAs::extract};
}

}  // namespace

std::optional<TrimmedText> TrimmingRun::trim(const TrimPlace& place, std::string_view text,
                                             std::string_view reference) {
    TrimPart& part = state.at(place);
    if (part.kind == TrimPart::Kind::call)
        return trim_call(*this, part, state.messages()[place.first].call, text, reference);
    if (by_passages()) return trim_result(*this, part, reference);
    return trim_result_by_lines(*this, part, text, reference);
}

}  // namespace whittle::inline v0::detail
