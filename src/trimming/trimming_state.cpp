#include "trimming_state.hpp"

#include "whittle/chain/detail/edit_schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <unordered_set>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view forms_note = "forms";

std::size_t to_size(std::int64_t value) noexcept { return static_cast<std::size_t>(std::max<std::int64_t>(value, 0)); }

LineRanges ranges_from(std::string_view text) {
    LineRanges ranges;
    while (!text.empty()) {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        auto end = std::from_chars(text.data(), text.data() + text.size(), first).ptr;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (!text.starts_with('-')) break;
        text.remove_prefix(1);
        end = std::from_chars(text.data(), text.data() + text.size(), last).ptr;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.starts_with(',')) text.remove_prefix(1);
        ranges.emplace_back(first, last);
    }
    return ranges;
}

/// The last one of each part counts.
std::map<std::pair<Serial, std::size_t>, std::string> forms_from(std::string_view text) {
    std::map<std::pair<Serial, std::size_t>, std::string> forms;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view entry = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t dot = std::min(entry.find('.'), entry.size());
        const std::size_t equals = std::min(entry.find('='), entry.size());
        Serial serial = 0;
        std::size_t part = 0;
        std::from_chars(entry.data(), entry.data() + dot, serial);
        if (dot < equals) std::from_chars(entry.data() + dot + 1, entry.data() + equals, part);
        if (equals < entry.size()) forms[{serial, part}] = std::string(entry.substr(equals + 1));
    }
    return forms;
}

}  // namespace

EditScheduleConfig edit_schedule_of(const TrimmingConfig& config) noexcept {
    return {.start_tokens = config.start_tokens,
            .cold_start_tokens = config.cold_start_tokens,
            .keep_rounds = config.keep_rounds,
            .use_pauses = config.use_pauses,
            .first_calls = config.first_calls,
            .window_fraction = config.window_fraction};
}

ReadRules read_rules_of(const TrimmingConfig& config) noexcept {
    if (config.unit == TrimUnit::passages)
        return {.strip_numbers = false, .drop_shown = false, .drop_reminders = false};
    return {.strip_numbers = config.strip_line_numbers,
            .drop_shown = config.drop_shown_lines,
            .drop_reminders = config.drop_reminders,
            .rare = config.rare_word_lines,
            .near = config.near_lines};
}

ExtractRules extract_rules_of(const TrimmingConfig& config) noexcept {
    return {.bytes = to_size(config.extract_bytes),
            .error_line_bytes = to_size(config.error_line_bytes),
            .line_bytes = to_size(config.extract_line_bytes),
            .drop_reminders = config.drop_reminders};
}

ArgumentRules argument_rules_of(const TrimmingConfig& config) noexcept {
    return {.least_bytes = to_size(config.min_argument_bytes),
            .age_calls = config.unit == TrimUnit::passages ? config.written_age_calls : config.line_age_calls,
            .other_tools = config.trim_other_arguments};
}

bool TrimmingState::is_at_rest() const noexcept {
    const bool takes_arrivals =
        config_.unit == TrimUnit::lines && config_.trim_on_arrival && request_tokens >= config_.arrival_start_tokens;
    return !takes_arrivals && request_tokens <= std::min(config_.start_tokens, config_.cold_start_tokens);
}

const TrimCall* TrimmingState::find_call(const std::string& name) const {
    const auto found = calls_.find(name);
    return found == calls_.end() ? nullptr : &found->second;
}

void TrimmingState::show(TrimPart& part, std::vector<LineId> lines) {
    for (const LineId line : part.shown) index_.hide(line, part.result_call);
    part.shown = std::move(lines);
    for (const LineId line : part.shown) index_.show(line, part.result_call);
}

/// Each once.
std::vector<LineId> TrimmingState::lines_of_text(std::string_view text, LineMarks marks) {
    std::vector<LineId> lines;
    for (const std::string_view line : split_lines(text)) {
        if (const LineId id = index_.id_of(normal_line(line, marks)); id != 0) lines.push_back(id);
    }
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
}

bool TrimmingState::is_ours(const MessageInfo& info, std::size_t part) const noexcept {
    const Mark& mark = info.parts[part].mark;
    return mark != nullptr && mark->by == name_;
}

void TrimmingState::take(HookTurn& turn) {
    now_ = turn.model_calls() + 1;
    const bool was_valid = std::exchange(is_valid_, false);
    if (!was_valid || messages_.size() > turn.outline().size()) {
        make_anew(turn);
    } else {
        if (edits_ != turn.edits()) take_changes(turn);
        take_messages(turn, {});
    }
    edits_ = turn.edits();
    write_forms(turn);
    is_valid_ = true;
}

void TrimmingState::make_anew(HookTurn& turn) {
    is_new_ = true;
    index_ = {};
    edit_reach_.reset();
    messages_.clear();
    sums_.assign(1, 0);
    calls_.clear();
    forget_places();
    load_forms(turn);
    take_messages(turn, load_originals(turn));
    loaded_forms_.clear();
}

/// What the store does not give stays closed.
TrimmingState::Originals TrimmingState::load_originals(HookTurn& turn) const {
    std::unordered_set<Serial> trimmed;
    const Outline outline = turn.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        for (std::size_t p = 0; p < outline[i].parts.size(); ++p) {
            if (is_ours(outline[i], p)) trimmed.insert(outline[i].serial);
        }
    }
    Originals originals;
    if (trimmed.empty()) return originals;
    std::unordered_set<Serial> found;
    turn.visit_replaced([&](const ReplacedMessage& replaced) {
        const bool is_first = replaced.record.by == name_ || replaced.record.kind == JournalRecord::Kind::tool_return;
        if (!is_first || !trimmed.contains(replaced.info.serial)) return;
        if (!found.insert(replaced.info.serial).second) return;
        for (std::size_t p = 0; p < replaced.info.parts.size(); ++p) {
            const PartKind kind = replaced.info.parts[p].kind;
            if (kind != PartKind::tool_call && kind != PartKind::tool_result) continue;
            try {
                originals.emplace(std::pair(replaced.info.serial, p), turn.text_of(replaced, p));
            } catch (const std::exception&) {
                continue;
            }
        }
    });
    return originals;
}

void TrimmingState::take_messages(HookTurn& turn, const Originals& originals) {
    const std::size_t first = messages_.size();
    const std::size_t size = turn.outline().size();
    if (first == size) return;
    for (std::size_t i = first; i < size; ++i) messages_.push_back(take_message(turn, i, originals));
    arrived_.clear();
    add_up(turn, first);
    file_all(first);
}

/// What is as it was keeps what is known of it; the rest is looked at as if it had just come.
void TrimmingState::take_changes(HookTurn& turn) {
    const Outline outline = turn.outline();
    std::unordered_map<Serial, std::size_t> known;
    for (std::size_t i = 0; i < messages_.size(); ++i) known.emplace(messages_[i].serial, i);
    std::vector<TrimMessage> old = std::exchange(messages_, {});
    std::vector<bool> is_kept(old.size());
    std::size_t seen = 0;  // messages that are new stand behind these
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (known.contains(outline[i].serial)) seen = i + 1;
    }
    for (std::size_t i = 0; i < seen; ++i) {
        const auto found = known.find(outline[i].serial);
        const bool is_same = found != known.end() && old[found->second].fingerprint == outline[i].fingerprint;
        if (is_same) is_kept[found->second] = true;
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
        if (!is_kept[i]) forget(old[i]);
    }
    for (std::size_t i = 0; i < seen; ++i) {
        const auto found = known.find(outline[i].serial);
        const bool is_same = found != known.end() && is_kept[found->second];
        messages_.push_back(is_same ? std::move(old[found->second]) : take_message(turn, i, {}));
    }
    forget_places();
    sums_.assign(1, 0);
    add_up(turn, 0);
    file_all(0);
}

void TrimmingState::forget_places() {
    considered = 0;
    for (std::set<TrimPlace>* const places : {&open_reads, &open_calls, &open_extracts, &offered}) places->clear();
}

void TrimmingState::file_all(std::size_t first) {
    for (std::size_t m = first; m < messages_.size(); ++m) {
        for (std::size_t p = 0; p < messages_[m].parts.size(); ++p) file({m, p});
    }
}

void TrimmingState::file(const TrimPlace& place) {
    const TrimPart& part = at(place);
    const auto put = [&](std::set<TrimPlace>& places, bool belongs) {
        if (belongs) {
            places.insert(place);
        } else {
            places.erase(place);
        }
    };
    const bool is_open = !part.is_closed;
    put(open_reads, is_open && part.read != nullptr);
    put(open_calls, is_open && part.kind == TrimPart::Kind::call);
    put(open_extracts, is_open && part.is_extract);
    put(offered, is_open && part.candidate.has_value());
}

void TrimmingState::forget(TrimMessage& message) {
    for (TrimPart& part : message.parts) show(part, {});
}

void TrimmingState::add_up(HookTurn& turn, std::size_t first) {
    sums_.resize(first + 1);
    for (std::size_t i = first; i < messages_.size(); ++i) {
        messages_[i].tokens = turn.tokens_of(i);
        sums_.push_back(sums_[i] + messages_[i].tokens);
    }
}

void TrimmingState::accept(HookTurn& turn, std::size_t first) {
    const Outline outline = turn.outline();
    for (std::size_t i = first; i < messages_.size(); ++i) messages_[i].fingerprint = outline[i].fingerprint;
    add_up(turn, first);
    edits_ = turn.edits();
}

TrimMessage TrimmingState::take_message(HookTurn& turn, std::size_t at, const Originals& originals) {
    const MessageInfo& info = turn.outline()[at];
    TrimMessage message{.serial = info.serial, .fingerprint = info.fingerprint, .call = call_of(info)};
    message.parts.resize(info.parts.size());
    std::size_t number = 0;
    std::size_t calls = 0;
    turn.visit_parts(at, [&](const PartView& view) {
        const std::size_t p = number++;
        if (p >= info.parts.size()) return;
        TrimPart& part = message.parts[p];
        const auto found = originals.find({info.serial, p});
        const std::string* const original = found == originals.end() ? nullptr : &found->second;
        part.is_trimmed = is_ours(info, p);
        part.is_closed = mark_of(info, p) != nullptr && !part.is_trimmed;
        part.name = info.parts[p].object_name.str();
        if (view.kind == PartKind::tool_call) {
            TrimCall call{.kind = class_of_call(view.tool, original != nullptr ? *original : view.text),
                          .round = info.serial,
                          .number = calls++};
            part.is_edit = call.kind.is_edit();
            if (!part.name.empty()) calls_.insert_or_assign(part.name, std::move(call));
            take_call(part, view.text, original != nullptr ? std::string_view(*original) : view.text, message);
        } else if (view.kind == PartKind::tool_result) {
            take_result(part, view, info.parts[p], original, message, p);
        } else if (view.kind == PartKind::text && info.role != Role::system) {
            take_text(part, view.text, message.call);
        }
    });
    return message;
}

void TrimmingState::take_text(TrimPart& part, std::string_view text, int call) {
    show(part, lines_of_text(text, LineMarks::none));
    for (const LineId line : part.shown) index_.touch(line, call);
    index_.use_words(text, call);
}

void TrimmingState::take_call(TrimPart& part, std::string_view shown, std::string_view original,
                              const TrimMessage& message) {
    part.kind = TrimPart::Kind::call;
    const CallText text = text_of_call(original, part.is_edit);
    const std::vector<LineId> put_in = lines_of_text(text.shown, LineMarks::none);
    for (const LineId line : lines_of_text(text.gone, LineMarks::none)) {
        if (const int last = index_.touched(line); last != LineIndex::never && last < message.call)
            edit_reach_ = std::max(edit_reach_.value_or(0), message.call - last);
        index_.touch(line, message.call);
        if (!std::ranges::binary_search(put_in, line)) index_.kill(line, message.call);  // else it is there again
    }
    for (const LineId line : put_in) index_.touch(line, message.call);
    index_.use_words(text.gone, message.call);
    index_.use_words(text.shown, message.call);
    const bool is_whole = shown.data() == original.data();
    show(part, lines_of_text(is_whole ? text.shown : text_of_call(shown, part.is_edit).shown, LineMarks::none));
}

void TrimmingState::judge(TrimPart& part, std::string_view text, bool is_error) {
    const auto call = calls_.find(part.name);
    if (call == calls_.end()) return;
    constexpr std::array<std::string_view, 4> good{"The file", "File ", "Success", "ok"};
    const bool is_good = std::ranges::any_of(good, [&](std::string_view start) { return text.starts_with(start); });
    const bool has_failed = is_error || (is_failed_output(text) && !is_good);
    TrimCall::Verdict& verdict = call->second.verdict;
    if (has_failed || verdict == TrimCall::Verdict::open)
        verdict = has_failed ? TrimCall::Verdict::failed : TrimCall::Verdict::worked;
}

void TrimmingState::take_result(TrimPart& part, const PartView& view, const PartInfo& info, const std::string* original,
                                const TrimMessage& message, std::size_t number) {
    part.kind = TrimPart::Kind::result;
    part.result_call = message.call;
    if (part.is_trimmed && adopt(part, view.text, message, number)) return judge(part, view.text, view.is_error);
    const std::string_view text = original != nullptr ? std::string_view(*original) : view.text;
    judge(part, text, view.is_error);
    const std::vector<std::string_view> lines = split_lines(text);
    const TrimCall* const call = find_call(part.name);
    part.form = form_of_result(call != nullptr ? call->kind : class_of_call(info.tool, {}), text, lines);
    part.original_bytes = text.size();
    std::vector<LineId> ids = lines_of_text(text, part.form.marks);
    for (const LineId line : ids) {
        index_.touch(line, message.call);
        index_.note_result(line, message.call);
    }
    if (config_.unit == TrimUnit::passages) show(part, std::move(ids));  // by lines once it is considered
    if (!part.is_trimmed) return;
    if (original == nullptr) part.is_closed = true;
    restore_form(part, view.text, text, message.serial, number);
}

/// Of a result that was shortened when it came.
bool TrimmingState::adopt(TrimPart& part, std::string_view shown, const TrimMessage& message, std::size_t number) {
    const auto found = arrived_.find(part.name);
    if (found == arrived_.end() || found->second.shown != hash128(shown)) return false;
    ArrivedResult& arrived = found->second;
    part.form = arrived.form;
    part.original_bytes = arrived.original_bytes;
    part.original = std::move(arrived.original);
    part.read = std::move(arrived.read);
    for (const LineId line : arrived.lines) index_.touch(line, message.call);
    show(part, lines_of_text(shown, part.form.marks));
    if (part.read) {
        part.is_considered = true;
        note_form(message.serial, number, *part.read);
    } else {
        note_form(message.serial, number, TrimmedAs::on_arrival);
    }
    arrived_.erase(found);
    return true;
}

void TrimmingState::restore_form(TrimPart& part, std::string_view shown, std::string_view original, Serial serial,
                                 std::size_t number) {
    show(part, lines_of_text(shown, part.form.marks));
    part.is_considered = true;
    const auto found = loaded_forms_.find({serial, number});
    if (found == loaded_forms_.end()) {
        part.is_closed = true;
        return;
    }
    switch (static_cast<TrimmedAs>(found->second.size() == 1 ? found->second.front() : '\0')) {
        case TrimmedAs::on_arrival:
            part.is_considered = false;
            part.original = std::string(original);
            return;
        case TrimmedAs::last_form:
        case TrimmedAs::edit_result: part.is_closed = true; return;
        case TrimmedAs::extract: part.is_extract = true; return;
        case TrimmedAs::arguments: break;  // of a call, never of a result
    }
    part.read = std::make_unique<ReadForm>(original, part.form, read_rules_of(config_), index_);
    part.read->keep(ranges_from(found->second));
}

void TrimmingState::load_forms(HookTurn& turn) {
    forms_ = std::string(turn.notes().text(forms_note).value_or(std::string_view()));
    compact_size_ = forms_.size();
    loaded_forms_ = forms_from(forms_);
}

void TrimmingState::note_text(Serial serial, std::size_t part, std::string_view text) {
    forms_.append(std::to_string(serial)).append(".").append(std::to_string(part)).append("=");
    forms_.append(text).append(" ");
    has_new_forms_ = true;
}

void TrimmingState::note_form(Serial serial, std::size_t part, TrimmedAs form) {
    const char letter = static_cast<char>(form);
    note_text(serial, part, {&letter, 1});
}

void TrimmingState::note_form(Serial serial, std::size_t part, const ReadForm& read) {
    std::string form;
    for (const auto& [first, last] : read.ranges()) {
        form.append(form.empty() ? "" : ",").append(std::to_string(first)).append("-").append(std::to_string(last));
    }
    note_text(serial, part, form);
}

/// Once the text has doubled, entries that a later one replaced, or whose message is gone, are left out.
void TrimmingState::write_forms(HookTurn& turn) {
    constexpr std::size_t short_enough = 4'096;
    if (!std::exchange(has_new_forms_, false) || turn.config.dry_run) return;
    if (forms_.size() > short_enough && forms_.size() > 2 * compact_size_) {
        std::unordered_set<Serial> here;
        for (const TrimMessage& message : messages_) here.insert(message.serial);
        std::string compact;
        for (const auto& [place, form] : forms_from(forms_)) {
            if (!here.contains(place.first)) continue;
            compact.append(std::to_string(place.first)).append(".").append(std::to_string(place.second));
            compact.append("=").append(form).append(" ");
        }
        forms_ = std::move(compact);
        compact_size_ = forms_.size();
    }
    turn.notes().set(forms_note, forms_);
}

}  // namespace whittle::inline v0::detail
