#include "whittle/reduction/detail/clearing_run.hpp"

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

void ClearingRun::for_each_part_of(const ClearingCandidate& candidate,
                                   FunctionRef<void(std::size_t, const PartView&)> visit) const {
    for (std::size_t i = 0; i < candidate.parts.size(); ++i)
        edit_.visit_part(candidate.message, candidate.parts[i], [&](const PartView& part) { visit(i, part); });
}

const PartInfo& ClearingRun::first_part(const ClearingCandidate& candidate) const {
    static const PartInfo gone{};
    const MessageInfo& info = edit_.outline()[candidate.message];
    return candidate.parts.front() < info.parts.size() ? info.parts[candidate.parts.front()] : gone;
}

/// The key for what is cleared: the user's, or the usual one.
std::string ClearingRun::key_for(const ClearingCandidate& candidate, const std::vector<Part>& parts) const {
    if (!callbacks_.generate_key)
        return usual_key(config_, turn_.conversation_id(), "clear", object_name_of(candidate));
    return to_key(ask(callbacks_.generate_key, candidate, parts), "gen_clear_offload_file_path");
}

void ClearingRun::offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                          std::optional<Draft::Original> original) {
    planned_.add(key, hash128(content));
    edit_.offload(std::move(key), std::move(content), original, storage);
}

/// Finds the key for what is to be stored, and says so.
void ClearingRun::name_object(const ClearingCandidate& candidate, const std::vector<Part>& parts, Storage& storage,
                              std::string_view content, Provenance& provenance, ClearedText& text) {
    provenance.stored.push_back(free_key(storage, key_for(candidate, parts), content, planned_));
    text.bytes += static_cast<std::int64_t>(content.size());
    if (provenance.stored.size() == 1) text.lines = count_lines(content);
}

/// What the candidate's parts come to: their tokens, what the store has of them and what it is to get.
ClearingRun::Offload ClearingRun::look_at(const ClearingCandidate& candidate, const std::vector<Part>& parts,
                                          Storage* storage, Provenance& provenance, ClearedText& text) {
    Offload found;
    std::vector<Part> fresh;  // no store has these
    const MessageInfo& info = edit_.outline()[candidate.message];
    for_each_part_of(candidate, [&](std::size_t i, const PartView& part) {
        const bool is_counted = info.parts.size() == 1 && part.kind != PartKind::media;
        found.tokens = add_saturating(found.tokens, is_counted ? edit_.tokens_of(candidate.message) : tokens_of(part));
        (part.kind == PartKind::media ? text.has_media : text.has_text) |=
            part.kind == PartKind::media || !part.text.empty();
        if (storage == nullptr) return;
        if (part.kind == PartKind::media && is_held_beside(candidate, *storage, part)) return;
        const bool is_new =
            candidate.stored_of(i).empty() && origin_of(mark_of(info, candidate.parts[i])) == Origin::original;
        found.is_text = is_new && candidate.parts.size() == 1 && part.kind != PartKind::media;
        if (found.is_text) {
            name_object(candidate, parts, *storage, part.text, provenance, text);
            found.print = hash128(part.text);
        } else if (is_new) {
            fresh.push_back(to_part(part));
        }
        for (const std::string& key : candidate.stored_of(i)) {
            if (std::ranges::find(provenance.stored, key) != provenance.stored.end()) continue;
            provenance.stored.push_back(key);
            text.bytes += size_of_object(*storage, key, part.text);
        }
    });
    if (fresh.empty()) return found;
    found.content = offload_content(fresh);
    name_object(candidate, parts, *storage, *found.content, provenance, text);
    return found;
}

/// Whether an object that has another part of this result has this one too, as one that truncation made of all parts.
bool ClearingRun::is_held_beside(const ClearingCandidate& candidate, Storage& storage, const PartView& part) const {
    std::vector<std::string_view> seen;
    for (const std::vector<std::string>& keys : candidate.stored) {
        for (const std::string& key : keys) {
            if (std::ranges::find(seen, key) != seen.end()) continue;
            seen.push_back(key);
            if (holds_part(storage, key, to_part(part))) return true;
        }
    }
    return false;
}

/// What the placeholder of a failed call keeps of its result; empty for any other.
std::string ClearingRun::failed_lines(const ClearingCandidate& candidate) const {
    std::string lines;
    if (!first_part(candidate).is_error) return lines;
    for_each_part_of(candidate, [&](std::size_t, const PartView& part) {
        if (part.kind == PartKind::media) return;
        if (std::string last = last_error_lines(part.text); !last.empty()) lines = std::move(last);
    });
    return lines;
}

void ClearingRun::stage_result(const ClearingCandidate& candidate, const std::vector<Part>& parts) {
    const auto storage = storage_for(tool_of(candidate));
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    ClearedText text{.tool = tool_of(candidate), .reader = reader(), .has_text = false};
    if (turn_.has_tool(fetch_media_name)) text.media_reader = fetch_media_name;
    Offload found = look_at(candidate, parts, storage.get(), provenance, text);
    const std::string last_lines = failed_lines(candidate);
    text.last_lines = last_lines;
    std::string location;
    for (const std::string& key : provenance.stored) {
        location.append(location.empty() ? "" : ", ").append(reference_to(*storage, key, text.reader));
    }
    text.location = location;
    placeholder_.clear();
    if (provenance.stored.empty()) {
        placeholder_ = plain_placeholder(turn_.language, last_lines);
    } else {
        append_placeholder(placeholder_, text, turn_.language);
    }
    if (found.tokens <= turn_.counter().count(placeholder_)) return;
    if (found.content) {
        offload(provenance.stored.back(), *std::move(found.content), storage, std::nullopt);
    } else if (found.is_text) {
        planned_.add(provenance.stored.back(), found.print);
        edit_.offload_text(provenance.stored.back(), candidate.message, candidate.parts.front(), storage);
    }
    set_all(candidate, placeholder_, std::move(provenance));
}

void ClearingRun::stage_arguments(const ClearingCandidate& candidate, const std::vector<Part>& parts) {
    if (!candidate.call_part || edit_.is_pinned(candidate.call)) return;
    if (origin_of(mark_of(edit_.outline()[candidate.call], *candidate.call_part)) != Origin::original) return;
    std::string arguments = arguments_of(candidate);
    const auto storage = storage_for(tool_of(candidate));
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    std::string location;
    if (storage) {
        const std::string key = key_for(candidate, parts) + ".arguments";
        provenance.stored.push_back(free_key(*storage, key, arguments, planned_));
        location = reference_to(*storage, provenance.stored.front(), reader());
    }
    std::string now = cleared_arguments(location, turn_.language);
    if (turn_.counter().count(now) >= turn_.counter().count(arguments)) return;
    edit_.set_text(candidate.call, *candidate.call_part, now, provenance);
    if (!storage) return;
    using Original = Draft::Original;
    const Serial serial = edit_.outline()[candidate.call].serial;
    offload(provenance.stored.front(), std::move(arguments), storage, Original{serial, *candidate.call_part});
}

void ClearingRun::stage_handler(const ClearingCandidate& candidate, const std::vector<Part>& parts,
                                ClearResult result) {
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    if (result.need_offload) {
        const auto storage = storage_for(tool_of(candidate));
        if (!storage) throw Error(Errc::storage_failed, std::string(name_) + ": clear_handler: no backend for offload");
        std::string key = result.key.empty() ? free_key(*storage, key_for(candidate, parts), result.content, planned_)
                                             : to_key(result.key, "clear_handler");
        provenance.stored.push_back(key);
        offload(std::move(key), std::move(result.content), storage, std::nullopt);
    }
    set_parts(candidate, parts, result.parts, provenance);
    if (result.arguments && candidate.call_part && *result.arguments != arguments_of(candidate))
        edit_.set_text(candidate.call, *candidate.call_part, *result.arguments, provenance);
}

}  // namespace whittle::inline v0::detail
