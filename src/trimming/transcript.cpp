#include "transcript.hpp"

#include "old_arguments.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <unordered_set>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view forms_note = "forms";  // "12.0=extract 14.0=lines:0-3,9-12 "

/// In the order of `TrimmedAs`.
constexpr std::array<std::string_view, 6> form_words{"whole", "arguments", "on_arrival", "extract", "lines", "done"};

std::string_view take_until(char end, std::string_view& text) noexcept {
    const std::string_view taken = text.substr(0, text.find(end));
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
    return taken;
}

template <typename Number>
bool read_number(std::string_view text, Number& number) noexcept {
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end;
}

std::map<Transcript::PartId, std::string> forms_from(std::string_view text) {
    std::map<Transcript::PartId, std::string> forms;
    while (!text.empty()) {
        std::string_view form = take_until(' ', text);
        std::string_view place = take_until('=', form);
        Transcript::PartId part{};
        if (read_number(take_until('.', place), part.first) && read_number(place, part.second)) forms[part] = form;
    }
    return forms;
}

std::optional<LineRanges> ranges_from(std::string_view text) {
    LineRanges ranges;
    while (!text.empty()) {
        std::string_view range = take_until(',', text);
        auto& [first, last] = ranges.emplace_back();
        const bool is_read = read_number(take_until('-', range), first) && read_number(range, last);
        if (!is_read) return std::nullopt;
    }
    return ranges;
}

}  // namespace

void TrimPart::save_form() {
    saved = form_words.at(static_cast<std::size_t>(trimmed_as));
    char separator = ':';
    for (const auto& [first, last] : result.read ? result.read->ranges() : LineRanges{}) {
        saved.append(1, separator).append(std::to_string(first)).append("-").append(std::to_string(last));
        separator = ',';
    }
}

Transcript::Saved Transcript::restart(HookTurn& turn) {
    index = {};
    edit_reach_.reset();
    calls_.clear();
    return {.originals = load_originals(turn), .forms = forms_from(turn.notes().text(forms_note).value_or(""))};
}

void Transcript::save(HookTurn& turn, const std::vector<TrimMessage>& messages, bool is_due) {
    if ((!std::exchange(has_adopted_, false) && !is_due) || turn.config.dry_run) return;
    std::string text;
    for (const TrimMessage& message : messages) {
        for (std::size_t p = 0; p < message.parts.size(); ++p) {
            if (message.parts[p].saved.empty()) continue;
            text.append(std::to_string(message.serial)).append(".").append(std::to_string(p));
            text.append("=").append(message.parts[p].saved).append(" ");
        }
    }
    turn.notes().set(forms_note, std::move(text));
}

bool Transcript::is_ours(const MessageInfo& info, std::size_t part) const noexcept {
    const Mark& mark = info.parts[part].mark;
    return mark != nullptr && mark->by == name_;
}

std::map<Transcript::PartId, std::string> Transcript::load_originals(HookTurn& turn) const {
    std::unordered_set<Serial> left;  // messages whose first commit by this middleware was not seen yet
    const Outline outline = turn.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        for (std::size_t p = 0; p < outline[i].parts.size(); ++p) {
            if (is_ours(outline[i], p)) left.insert(outline[i].serial);
        }
    }
    std::map<PartId, std::string> originals;
    if (left.empty()) return originals;
    turn.visit_replaced([&](const ReplacedMessage& replaced) {
        const bool is_first = replaced.record.by == name_ || replaced.record.kind == JournalRecord::Kind::tool_return;
        if (!is_first || left.erase(replaced.info.serial) == 0) return;
        for (std::size_t p = 0; p < replaced.info.parts.size(); ++p) {
            const PartKind kind = replaced.info.parts[p].kind;
            if (kind != PartKind::tool_call && kind != PartKind::tool_result) continue;
            try {
                originals.emplace(PartId(replaced.info.serial, p), turn.text_of(replaced, p));
            } catch (const std::exception&) {
                continue;
            }
        }
    });
    return originals;
}

const TrimCall* Transcript::find_call(const std::string& name) const {
    const auto found = calls_.find(name);
    return found == calls_.end() ? nullptr : &found->second;
}

void Transcript::show(TrimPart& part, std::vector<LineId> lines) {
    for (const LineId line : part.shown) index.hide(line, part.call);
    part.shown = std::move(lines);
    for (const LineId line : part.shown) index.show(line, part.call);
}

std::vector<LineId> Transcript::lines_of(std::string_view text, LineMarks marks) {
    std::vector<LineId> lines;
    for (const std::string_view line : split_lines(text)) {
        if (const LineId id = index.id_of(normal_line(line, marks)); id != 0) lines.push_back(id);
    }
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
}

void Transcript::touch(const std::vector<LineId>& lines, int call) noexcept {
    for (const LineId line : lines) index.touch(line, call);
}

TrimMessage Transcript::read(HookTurn& turn, std::size_t message, const Saved& saved) {
    const MessageInfo& info = turn.outline()[message];
    TrimMessage read{.serial = info.serial, .fingerprint = info.fingerprint, .call = call_of(info)};
    read.parts.resize(info.parts.size());
    const auto find = [](const auto& texts, const PartId& id) {
        const auto found = texts.find(id);
        return found == texts.end() ? nullptr : &found->second;
    };
    std::size_t number = 0;
    std::size_t calls = 0;
    turn.visit_parts(message, [&](const PartView& view) {
        const PartId id(info.serial, number++);
        if (id.second >= info.parts.size()) return;
        TrimPart& part = read.parts[id.second];
        const Seen seen{info.parts[id.second], view, is_ours(info, id.second), read.call, find(saved.originals, id),
                        find(saved.forms, id)};
        part.is_closed = mark_of(info, id.second) != nullptr && !seen.is_ours;
        part.name = seen.info.key_safe_call_id.str();
        read_part(part, seen, info, calls);
    });
    return read;
}

void Transcript::read_part(TrimPart& part, const Seen& seen, const MessageInfo& info, std::size_t& calls) {
    if (seen.view.kind == PartKind::tool_call) {
        TrimCall call{.kind = class_of_call(seen.view.tool, seen.whole()), .round = info.serial, .number = calls++};
        part.is_edit = call.kind.is_edit();
        if (!part.name.empty()) calls_.insert_or_assign(part.name, std::move(call));
        read_call(part, seen);
    } else if (seen.view.kind == PartKind::tool_result) {
        read_result(part, seen);
    } else if (seen.view.kind == PartKind::text && info.role != Role::system) {
        show_text(part, seen.view.text);
        touch(part.shown, seen.call);
        index.use_words(seen.view.text, seen.call);
    }
}

void Transcript::read_call(TrimPart& part, const Seen& seen) {
    part.kind = TrimPart::Kind::call;
    if (seen.is_ours) part.trimmed_as = TrimmedAs::arguments;
    const CallText text = text_of_call(seen.whole(), part.is_edit);
    std::vector<LineId> put_in = lines_of(text.shown, LineMarks::none);
    for (const LineId line : lines_of(text.gone, LineMarks::none)) {
        if (const int last = index.touched(line); last != LineIndex::never && last < seen.call)
            edit_reach_ = std::max(edit_reach_.value_or(0), seen.call - last);
        index.touch(line, seen.call);
        if (!std::ranges::binary_search(put_in, line)) index.kill(line, seen.call);  // else it is there again
    }
    touch(put_in, seen.call);
    index.use_words(text.gone, seen.call);
    index.use_words(text.shown, seen.call);
    if (seen.original != nullptr) put_in = lines_of(text_of_call(seen.view.text, part.is_edit).shown, LineMarks::none);
    show(part, std::move(put_in));
}

void Transcript::judge(const TrimPart& part, std::string_view text, bool is_error) {
    const auto call = calls_.find(part.name);
    if (call == calls_.end()) return;
    constexpr std::array<std::string_view, 4> good{"The file", "File ", "Success", "ok"};
    const bool is_good = std::ranges::any_of(good, [&](std::string_view start) { return text.starts_with(start); });
    const bool has_failed = is_error || (is_failed_output(text) && !is_good);
    TrimCall::Verdict& verdict = call->second.verdict;
    if (has_failed || verdict == TrimCall::Verdict::open)
        verdict = has_failed ? TrimCall::Verdict::failed : TrimCall::Verdict::worked;
}

void Transcript::read_result(TrimPart& part, const Seen& seen) {
    part.kind = TrimPart::Kind::result;
    part.call = seen.call;
    if (seen.is_ours && adopt(part, seen)) return judge(part, seen.view.text, seen.view.is_error);
    const std::string_view text = seen.whole();
    judge(part, text, seen.view.is_error);
    const TrimCall* const call = find_call(part.name);
    ResultForm& form = part.result.form;
    form = form_of_result(call != nullptr ? call->kind : class_of_call(seen.info.tool, {}), text, split_lines(text));
    part.result.original_bytes = text.size();
    std::vector<LineId> lines = lines_of(text, form.marks);
    touch(lines, seen.call);
    for (const LineId line : lines) index.note_result(line, seen.call);
    if (unit_ == TrimUnit::passages) show(part, std::move(lines));  // by lines once it is considered
    if (seen.is_ours) restore(part, seen);
}

/// Of a result that was shortened when it came.
bool Transcript::adopt(TrimPart& part, const Seen& seen) {
    const auto found = arrived_.find(part.name);
    if (found == arrived_.end() || found->second.shown != hash128(seen.view.text)) return false;
    part.result = std::move(found->second.result);
    part.is_considered = part.result.read != nullptr;
    part.trimmed_as = part.result.read ? TrimmedAs::lines : TrimmedAs::on_arrival;
    part.save_form();
    has_adopted_ = true;
    touch(found->second.lines, seen.call);
    show_text(part, seen.view.text);
    arrived_.erase(found);
    return true;
}

/// What is saved and cannot be read is not believed: nothing more is trimmed then.
void Transcript::restore(TrimPart& part, const Seen& seen) {
    show_text(part, seen.view.text);
    part.is_considered = true;
    part.is_closed = true;
    part.trimmed_as = TrimmedAs::done;
    if (seen.saved_form == nullptr) return;
    part.saved = *seen.saved_form;
    std::string_view ranges = part.saved;
    const auto word = std::ranges::find(form_words, take_until(':', ranges));
    const auto form = static_cast<TrimmedAs>(word - form_words.begin());
    const auto lines = form == TrimmedAs::lines ? ranges_from(ranges) : std::nullopt;
    const bool is_open = form == TrimmedAs::on_arrival || form == TrimmedAs::extract || lines;
    if (seen.original == nullptr || !is_open) return;
    part.is_closed = false;
    part.trimmed_as = form;
    part.is_considered = form != TrimmedAs::on_arrival;
    if (form == TrimmedAs::on_arrival) part.result.original = *seen.original;
    if (!lines) return;
    part.result.read = std::make_unique<ReadForm>(*seen.original, part.result.form, unit_, index);
    part.result.read->keep(*lines);
}

}  // namespace whittle::inline v0::detail
