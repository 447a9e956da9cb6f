#include "line_index.hpp"

#include "whittle/trimming/detail/line_forms.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

LineId LineIndex::id_of(std::string_view normal) {
    if (normal.size() < shortest_telling_line) return 0;
    const Hash128 print = hash128(normal);
    if (const auto found = ids_.find(print); found != ids_.end()) return found->second;
    const auto id = static_cast<LineId>(lines_.size());
    lines_.emplace_back();  // first: without its number it harms nothing
    ids_.emplace(print, id);
    return id;
}

LineId LineIndex::find(std::string_view normal) const noexcept {
    if (normal.size() < shortest_telling_line) return 0;
    const auto found = ids_.find(hash128(normal));
    return found == ids_.end() ? 0 : found->second;
}

void LineIndex::touch(LineId line, int call) noexcept {
    if (line != 0) lines_[line].touched = std::max(lines_[line].touched, call);
}

void LineIndex::kill(LineId line, int call) noexcept {
    if (line != 0) lines_[line].died = std::max(lines_[line].died, call);
}

void LineIndex::note_result(LineId line, int call) noexcept {
    if (line == 0 || call <= lines_[line].in_result) return;
    lines_[line].in_result = call;
    ++lines_[line].results;
}

void LineIndex::show(LineId line, int call) noexcept {
    if (line == 0) return;
    ++lines_[line].shown;
    lines_[line].in_sent_result = std::max(lines_[line].in_sent_result, call);
}

void LineIndex::hide(LineId line, int call) noexcept {
    if (line == 0) return;
    --lines_[line].shown;
    if (call != never && call == lines_[line].in_sent_result) lines_[line].in_sent_result = never;
}

void LineIndex::use_words(std::string_view text, int call) {
    for_each_ident(text, [&](std::string_view word) {
        int& last = words_.try_emplace(word_hash(word), call).first->second;
        last = std::max(last, call);
    });
}

int LineIndex::used(std::uint64_t word) const noexcept {
    const auto found = words_.find(word);
    return found == words_.end() ? never : found->second;
}

}  // namespace whittle::inline v0::detail
