#include "whittle/durable/detail/masked_edit.hpp"

#include <memory>
#include <variant>

namespace whittle::inline v0::detail {

namespace {

/// Whether it was changed.
bool mask_text(std::string& text, const Storage& masks) {
    std::optional<std::string> masked = text.empty() ? std::nullopt : masks.masked(text);
    if (masked) text = *std::move(masked);
    return masked.has_value();
}

bool mask_texts(std::vector<std::string>& texts, const Storage& masks) {
    bool is_changed = false;
    for (std::string& text : texts) is_changed = mask_text(text, masks) || is_changed;
    return is_changed;
}

}  // namespace

void mask_mark(Mark& mark, const Storage& masks) {
    if (!mark) return;
    Provenance masked = *mark;
    bool is_changed = mask_text(masked.reason, masks);
    is_changed = mask_texts(masked.verbatim_user_messages, masks) || is_changed;
    is_changed = mask_texts(masked.skill_records, masks) || is_changed;
    is_changed = mask_text(masked.work_state, masks) || is_changed;
    is_changed = mask_text(masked.retained_facts, masks) || is_changed;
    if (is_changed) mark = std::make_shared<const Provenance>(std::move(masked));
}

void mask_marks(MessageInfo& info, const Storage& masks) {
    mask_mark(info.mark, masks);
    for (PartInfo& part : info.parts) mask_mark(part.mark, masks);
}

void mask_notes(NoteBook& notes, const Storage& masks) {
    const NoteBook given = notes;
    for (const auto& [key, note] : given.all()) {
        const auto* const text = std::get_if<std::string>(&note.value);
        if (text == nullptr) continue;
        Note masked = note;
        if (mask_text(std::get<std::string>(masked.value), masks)) notes.set(key.first, key.second, std::move(masked));
    }
}

void join_masked(MessageInfo& info, MessageInfo described, bool has_stored_texts) {
    if (!info.parts.empty() && described.parts.size() != info.parts.size())
        throw Error(Errc::callback_failed, "it has other parts than before");
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        PartInfo& part = described.parts[p];
        if (!info.parts[p].tool.empty()) part.tool = info.parts[p].tool;
        part.key_safe_call_id = info.parts[p].key_safe_call_id;
        part.mark = info.parts[p].mark;
    }
    info.parts = std::move(described.parts);
    // Where a store has some of its texts, the message was not there as a whole.
    info.fingerprint = has_stored_texts ? Hash128{} : described.fingerprint;
}

}  // namespace whittle::inline v0::detail
