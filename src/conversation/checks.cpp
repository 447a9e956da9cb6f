#include "whittle/conversation/detail/checks.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/message/validity.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace whittle::inline v0 {

namespace detail {

Positions::Positions(Outline outline) noexcept : outline_(outline) {}
Positions::~Positions() = default;

std::optional<std::size_t> Positions::find(Serial serial, std::size_t guess) {
    if (guess < outline_.size() && outline_[guess].serial == serial) return guess;
    if (!all_) {
        all_.emplace().reserve(outline_.size());
        for (std::size_t i = 0; i < outline_.size(); ++i) all_->emplace(outline_[i].serial, i);
    }
    const auto found = all_->find(serial);
    return found == all_->end() ? std::nullopt : std::optional(found->second);
}

Mark mark_of_stored(const StoredPart& stored) {
    Provenance provenance{.origin = Origin::placeholder, .by = stored.by, .reason = std::string(truncate_reason)};
    if (!stored.key.empty()) provenance.stored_keys.push_back(stored.key);
    return std::make_shared<const Provenance>(std::move(provenance));
}

Mark mark_of_result_media() {
    static const Mark mark = std::make_shared<const Provenance>(
        Provenance{.origin = Origin::repair, .by = "conversation", .reason = "media of a tool result"});
    return mark;
}

void require_restorable(const Outline& outline, std::size_t index, const MessageInfo& original, std::uint64_t entry) {
    std::vector<const MessageInfo*> restored;
    for (std::size_t i = 0; i < outline.size(); ++i) restored.push_back(i == index ? &original : &outline[i]);
    const Outline after{std::span<const MessageInfo* const>(restored)};
    const auto broken = new_violations(validate(outline, openai_chat()), validate(after, openai_chat()));
    if (broken.empty()) return;
    throw Error(Errc::invalid_history, "restore message " + std::to_string(original.serial) +
                                           ": alone it would break " + std::string(to_string(broken.front().rule)) +
                                           " (" + broken.front().text + "); undo journal entry " +
                                           std::to_string(entry) + " instead");
}

bool add_texts(JournalRecord& record, std::vector<StoredText> texts, std::size_t splice, std::size_t message) {
    for (StoredText& text : texts) {
        text.splice = splice;
        text.message_in_splice = message;
        record.texts_in_store.push_back(std::move(text));
    }
    return !texts.empty();
}

void require_outside_hook(bool is_in_hook, std::string_view operation) {
    if (!is_in_hook) return;
    throw Error(Errc::invalid_argument,
                std::string(operation) + ": not inside a hook; change messages there with turn.edit()");
}

std::size_t require_index(const Outline& outline, Serial serial, std::span<const ReplacedMessage> replaced) {
    if (const auto index = outline.index_of(serial)) return *index;
    std::string text = "restore message " + std::to_string(serial) + ": it is not in the list";
    for (const ReplacedMessage& message : replaced) {
        const JournalRecord& record = message.record;
        text += "; journal entry " + std::to_string(record.id) + " by \"" + record.by + "\" took it out, undo that";
    }
    throw Error(Errc::not_found, text);
}

void throw_is_original(Serial serial) {
    throw Error(Errc::not_found, "restore message " + std::to_string(serial) + ": it is the original");
}

std::vector<ToolResult> shown_results(std::span<const ToolReturn> returns) {
    std::vector<ToolResult> results;
    for (const ToolReturn& r : returns) results.push_back(r.result);
    return results;
}

bool is_plain(std::span<const ToolReturn> returns) noexcept {
    return std::ranges::all_of(
        returns, [](const ToolReturn& r) { return r.stored.empty() && r.read_back.empty() && !r.original; });
}

std::vector<ToolReturn> as_given(std::span<const ToolReturn> returns) {
    std::vector<ToolReturn> given(returns.begin(), returns.end());
    for (ToolReturn& r : given) {
        if (!r.original) continue;
        r.result.parts = std::move(r.original->parts);
        r.original.reset();
        r.stored.clear();  // these speak of the parts that are shown
    }
    return given;
}

NamesOfCalls::~NamesOfCalls() = default;

NamesOfCalls::NamesOfCalls(std::span<const MessageInfo> shown) {
    for (const MessageInfo& info : shown) {
        for (const PartInfo& part : info.parts) first_.try_emplace(part.call_id, &part);
    }
}

void NamesOfCalls::give_to(MessageInfo& info) const {
    for (PartInfo& part : info.parts) {
        if (part.call_id.empty()) continue;
        const auto same = first_.find(part.call_id);
        if (same == first_.end()) continue;
        part.key_safe_call_id = same->second->key_safe_call_id;
        part.tool = same->second->tool;
    }
}

Mark mark_of_return(const ToolReturn& r, const StoredPart* stored, bool is_changed) {
    const auto make = [](Origin origin, const std::string& by, std::string reason, std::vector<std::string> keys) {
        return std::make_shared<const Provenance>(
            Provenance{.origin = origin, .by = by, .reason = std::move(reason), .stored_keys = std::move(keys)});
    };
    if (stored != nullptr)
        return stored->is_shown_whole ? make(Origin::original, stored->by, "stored", {stored->key})
                                      : mark_of_stored(*stored);
    if (r.original && is_changed) return make(Origin::placeholder, r.original->replaced_by, "truncate", r.read_back);
    return r.read_back.empty() ? nullptr : make(Origin::original, "conversation", "read_back", r.read_back);
}

std::size_t find_gone(std::span<const PartInfo> old, std::size_t now, std::size_t edited, bool is_text_set) {
    if (now >= old.size()) return old.size();
    if (!is_text_set || old[edited].kind != PartKind::media) return edited;
    for (std::size_t p = edited + 1; p < old.size(); ++p) {
        const PartInfo& part = old[p];
        if (part.kind == PartKind::tool_result && part.text_bytes == 0 && part.call_id == old[edited].call_id) return p;
    }
    return edited;
}

namespace {

void keep_known_part(PartInfo& part, const PartInfo& old) {
    part.mark = old.mark;
    part.key_safe_call_id = old.key_safe_call_id;
    if (part.tool.empty()) part.tool = old.tool;
    part.tool.share_if_equal(old.tool);
    part.call_id.share_if_equal(old.call_id);
}

}  // namespace

void describe_again(PartInfo& part, const PartView& shown) {
    PartInfo fresh = describe(shown);
    keep_known_part(fresh, part);
    part = std::move(fresh);
}

void keep_known(MessageInfo& info, const MessageInfo& old, std::span<const std::size_t> gone) {
    info.serial = old.serial;
    info.role = old.role;
    info.round_serial = old.round_serial;
    info.turn = old.turn;
    info.model_calls_before = old.model_calls_before;
    info.pinned = old.pinned;
    info.mark = old.mark;
    auto next = gone.begin();
    std::size_t was = 0;
    for (PartInfo& part : info.parts) {
        for (; next != gone.end() && *next == was; ++next) ++was;
        if (was >= old.parts.size()) break;
        keep_known_part(part, old.parts[was++]);
    }
}

}  // namespace detail

}  // namespace whittle::inline v0
