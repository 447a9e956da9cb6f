#include "result_clearing.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/conversation/detail/stored_parts.hpp"

#include <algorithm>
#include <utility>

// What stands in place of one result, and what of it is stored.

namespace whittle::inline v0::detail {

namespace {

/// The bytes of the whole text, as far as that can be found out.
std::int64_t size_of_object(Storage& storage, const std::string& key, std::string_view shown) {
    try {
        if (const auto info = storage.stat(key)) return info->bytes;
    } catch (const std::exception&) {  // the size is for reading only
    }
    return static_cast<std::int64_t>(shown.size());
}

}  // namespace

std::string ResultClearing::arguments() const {
    return candidate_.call_part ? scope_.edit.text_of_part(candidate_.call, *candidate_.call_part) : std::string();
}

std::int64_t ResultClearing::stage() {
    const std::int64_t before = scope_.edit.tokens_after();
    const ToolReductionCallbacks* own = find_for_tool(scope_.callbacks.tool_config, tool());
    is_users_ = own != nullptr && own->clear_handler;
    std::vector<Part> parts;  // as a user's function sees them
    if (is_users_ || scope_.callbacks.generate_key) parts = scope_.parts_of_result(candidate_);
    std::optional<ClearResult> handled;
    if (is_users_) {
        handled = ask(own->clear_handler, parts);
        if (!handled->need_clear) return 0;
    }
    scope_.planned.begin_edit_group();
    edit_group_ = scope_.edit.begin_edit_group();
    const auto drop = [&] {
        scope_.edit.drop_edit_group(edit_group_);
        scope_.planned.drop_edit_group();
        return 0;
    };
    try {
        stage_edits(parts, std::move(handled));
    } catch (...) {
        drop();
        throw;
    }
    std::ranges::sort(erased_);
    const std::int64_t freed = before - scope_.edit.tokens_after();
    return freed > 0 ? freed : drop();
}

void ResultClearing::stage_edits(const std::vector<Part>& parts, std::optional<ClearResult> handled) {
    if (handled) return stage_handler(parts, *std::move(handled));
    const bool has_failed = scope_.first_part(candidate_).is_error;
    stage_result(parts);
    if (clears_inputs(scope_.config, tool()) || (scope_.config.clear_failed_inputs && has_failed))
        stage_arguments(parts);
}

/// The key for what is cleared: the user's, or the usual one.
std::string ResultClearing::key_for(const std::vector<Part>& parts) const {
    if (!scope_.callbacks.generate_key)
        return default_object_key(scope_.config, scope_.turn.conversation_id(), "clear",
                                  scope_.first_part(candidate_).key_safe_call_id);
    return to_key(ask(scope_.callbacks.generate_key, parts), "gen_clear_offload_file_path");
}

/// Finds the key for what is to be stored, and says so.
void ResultClearing::name_object(const std::vector<Part>& parts, Storage& storage, std::string_view content,
                                 Provenance& provenance, ClearedText& text) {
    provenance.stored_keys.push_back(free_key(storage, key_for(parts), content, scope_.planned));
    text.bytes += static_cast<std::int64_t>(content.size());
    if (provenance.stored_keys.size() == 1) text.lines = count_lines(content);
}

/// What the candidate's parts come to: their tokens, what the store has of them and what it is to get.
ResultClearing::Offload ResultClearing::look_at(const std::vector<Part>& parts, Storage* storage,
                                                Provenance& provenance, ClearedText& text) {
    Offload found;
    std::vector<Part> fresh;  // no store has these
    const MessageInfo& info = scope_.edit.outline()[candidate_.message];
    scope_.for_each_part_of(candidate_, [&](std::size_t i, const PartView& part) {
        const bool is_counted = info.parts.size() == 1 && part.kind != PartKind::media;
        found.tokens = add_saturating(found.tokens,
                                      is_counted ? scope_.edit.tokens_of(candidate_.message) : scope_.tokens_of(part));
        (part.kind == PartKind::media ? text.has_media : text.has_text) |=
            part.kind == PartKind::media || !part.text.empty();
        if (storage == nullptr) return;
        if (part.kind == PartKind::media && is_held_beside(*storage, part)) return;
        const bool is_new =
            candidate_.stored_of(i).empty() && origin_of(mark_of(info, candidate_.parts[i])) == Origin::original;
        found.is_text = is_new && candidate_.parts.size() == 1 && part.kind != PartKind::media;
        if (found.is_text) {
            name_object(parts, *storage, part.text, provenance, text);
            found.print = hash128(part.text);
        } else if (is_new) {
            fresh.push_back(to_part(part));
        }
        for (const std::string& key : candidate_.stored_of(i)) {
            if (std::ranges::find(provenance.stored_keys, key) != provenance.stored_keys.end()) continue;
            provenance.stored_keys.push_back(key);
            text.bytes += size_of_object(*storage, key, part.text);
        }
    });
    if (fresh.empty()) return found;
    found.content = offload_content(fresh);
    name_object(parts, *storage, *found.content, provenance, text);
    return found;
}

/// Whether an object that has another part of this result has this one too, as one that truncation made of all parts.
bool ResultClearing::is_held_beside(Storage& storage, const PartView& part) const {
    std::vector<std::string_view> seen;
    for (const std::vector<std::string>& keys : candidate_.stored) {
        for (const std::string& key : keys) {
            if (std::ranges::find(seen, key) != seen.end()) continue;
            seen.push_back(key);
            if (holds_part(storage, key, to_part(part))) return true;
        }
    }
    return false;
}

/// What the placeholder of a failed call keeps of its result; empty for any other.
std::string ResultClearing::failed_lines() const {
    std::string lines;
    if (!scope_.first_part(candidate_).is_error) return lines;
    scope_.for_each_part_of(candidate_, [&](std::size_t, const PartView& part) {
        if (part.kind == PartKind::media) return;
        if (std::string last = last_error_lines(part.text); !last.empty()) lines = std::move(last);
    });
    return lines;
}

/// `stored`: keys of `storage`; none: the placeholder names nothing.
void ResultClearing::write_placeholder(std::string& placeholder, ClearedText& text, std::span<const std::string> stored,
                                       const Storage* storage) const {
    const std::string last_lines = failed_lines();
    if (stored.empty()) {
        placeholder = plain_placeholder(scope_.turn.language, last_lines);
        return;
    }
    std::string location;
    for (const std::string& key : stored)
        location.append(location.empty() ? "" : ", ").append(reference_to(*storage, key, text.reader));
    text.last_lines = last_lines;
    text.location = location;
    placeholder.clear();
    append_placeholder(placeholder, text, scope_.turn.language);
}

void ResultClearing::stage_result(const std::vector<Part>& parts) {
    const auto storage = scope_.storage_for(tool());
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    ClearedText text{.tool = tool(), .reader = scope_.reader(), .has_text = false};
    if (scope_.turn.has_tool(fetch_media_name)) text.media_reader = fetch_media_name;
    Offload found = look_at(parts, storage.get(), provenance, text);
    std::string& placeholder = scope_.placeholder;
    write_placeholder(placeholder, text, provenance.stored_keys, storage.get());
    if (found.tokens <= scope_.turn.counter().count(placeholder)) return;
    if (found.content) {
        scope_.offload(provenance.stored_keys.back(), *std::move(found.content), storage, std::nullopt);
    } else if (found.is_text) {
        scope_.planned.add(provenance.stored_keys.back(), found.print);
        scope_.edit.store_text_on_commit(provenance.stored_keys.back(), candidate_.message, candidate_.parts.front(),
                                         storage);
    }
    set_all(placeholder, std::move(provenance));
}

void ResultClearing::stage_arguments(const std::vector<Part>& parts) {
    if (!candidate_.call_part || scope_.edit.is_protected(candidate_.call)) return;
    if (origin_of(mark_of(scope_.edit.outline()[candidate_.call], *candidate_.call_part)) != Origin::original) return;
    std::string raw = arguments();
    const auto storage = scope_.storage_for(tool());
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    std::string location;
    if (storage) {
        const std::string key = key_for(parts) + ".arguments";
        provenance.stored_keys.push_back(free_key(*storage, key, raw, scope_.planned));
        location = reference_to(*storage, provenance.stored_keys.front(), scope_.reader());
    }
    std::string now = cleared_arguments(location, scope_.turn.language);
    if (scope_.turn.counter().count(now) >= scope_.turn.counter().count(raw)) return;
    scope_.edit.set_text(candidate_.call, *candidate_.call_part, now, provenance);
    if (!storage) return;
    using Original = Draft::Original;
    const Serial serial = scope_.edit.outline()[candidate_.call].serial;
    scope_.offload(provenance.stored_keys.front(), std::move(raw), storage, Original{serial, *candidate_.call_part});
}

void ResultClearing::stage_handler(const std::vector<Part>& parts, ClearResult result) {
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    if (result.need_offload) {
        const auto storage = scope_.storage_for(tool());
        if (!storage)
            throw Error(Errc::storage_failed, std::string(scope_.name()) + ": clear_handler: no backend for offload");
        std::string key = result.key.empty()
                              ? free_key(*storage, key_for(parts), result.offload_content, scope_.planned)
                              : to_key(result.key, "clear_handler");
        provenance.stored_keys.push_back(key);
        scope_.offload(std::move(key), std::move(result.offload_content), storage, std::nullopt);
    }
    set_parts(parts, result.replacement_parts, provenance);
    if (result.replacement_arguments && candidate_.call_part && *result.replacement_arguments != arguments())
        scope_.edit.set_text(candidate_.call, *candidate_.call_part, *result.replacement_arguments, provenance);
}

}  // namespace whittle::inline v0::detail
