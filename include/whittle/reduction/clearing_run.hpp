#pragma once

#include "whittle/base/error.hpp"
#include "whittle/base/names.hpp"
#include "whittle/base/saturating.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/reduction/clearing.hpp"
#include "whittle/reduction/config.hpp"
#include "whittle/reduction/truncation.hpp"
#include "whittle/tokens/usage_fit.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// One run of the clearing phase: plans edits stage by stage in one transaction, each seeing the work of the one
/// before.
template <AgentMessage M>
class ClearingRun {
public:
    ClearingRun(Turn<M>& turn, const ReductionConfig& config, const ReductionCallbacks<M>& callbacks,
                std::string_view name, std::int64_t count)
        : turn_(turn),
          config_(config),
          callbacks_(callbacks),
          name_(name),
          count_(count),
          scale_(turn.counted().scale_to(count)),
          edit_(turn.edit()) {}

    /// Gives old rounds to the user's rewriter, oldest first, until the count is below `target` (0: all).
    void rewrite(std::int64_t target);
    /// Replaces old results, and what else is asked for, oldest first, until the count is below `target` (0: all).
    void clear(std::int64_t target);
    /// Cuts results of the newest rounds down until `tokens` more of the request are free, or nothing more can be cut.
    void shorten_newest(std::int64_t tokens);

    /// Tokens of the request, like `count`: what a provider bills for what we count as gone.
    [[nodiscard]] std::int64_t freed() const noexcept { return of_request(counted_freed()); }
    [[nodiscard]] std::int64_t of_request(std::int64_t counted) const noexcept { return scale_.to_request(counted); }
    /// `at_least`: tokens of the request.
    CommitResult commit(std::int64_t at_least);

private:
    [[nodiscard]] std::int64_t counted_freed() const noexcept {
        return sub_saturating(edit_.tokens_before(), edit_.tokens_after());
    }
    /// Below `target`, and worth a commit: a plan that stopped at the target alone might be dropped as too small.
    [[nodiscard]] bool is_enough(std::int64_t target, std::int64_t counted_freed) const noexcept {
        const std::int64_t freed = of_request(counted_freed);
        return target > 0 && sub_saturating(count_, freed) < target && freed >= config_.clear_at_least_tokens;
    }
    /// The least of our count that takes that much of the request.
    [[nodiscard]] std::int64_t counted_for(std::int64_t request_tokens) const noexcept {
        const std::int64_t counted = scale_.to_counted(request_tokens);
        return of_request(counted) < request_tokens ? add_saturating(counted, 1) : counted;
    }
    template <typename Work>
    bool attempt(Work&& work);
    void note_failure();
    void tell_failures();
    [[nodiscard]] std::vector<Unit> drop_rule_breakers();
    void report_dropped(const std::vector<Unit>& units);
    [[nodiscard]] ClearingPlan plan() const;
    [[nodiscard]] std::shared_ptr<Storage> storage_for(std::string_view tool) const {
        return backend_for(config_, tool, turn_.config.storage);
    }
    [[nodiscard]] std::string_view reader() const { return reader_tool(config_, turn_.request.tools); }
    [[nodiscard]] bool may_rewrite(const Round& round) const;
    [[nodiscard]] std::optional<std::vector<M>> ask_rewriter(const Round& round, std::int64_t& freed);
    void replace_round(const Round& round, std::vector<M> messages);
    /// Calls `visit(i, part)` for part `i` of the candidate.
    template <typename Visit>
    void for_each_part_of(const ClearingCandidate& candidate, Visit&& visit) const {
        for (std::size_t i = 0; i < candidate.parts.size(); ++i)
            edit_.visit_part(candidate.message, candidate.parts[i], [&](const PartView& part) { visit(i, part); });
    }
    /// Asked each time: an edit of the message makes its strings anew. Without any where the part is gone: a type may
    /// show no part for no text.
    [[nodiscard]] const PartInfo& first_part(const ClearingCandidate& candidate) const {
        static const PartInfo gone{};
        const MessageInfo& info = edit_.outline()[candidate.message];
        return candidate.parts.front() < info.parts.size() ? info.parts[candidate.parts.front()] : gone;
    }
    [[nodiscard]] std::string_view tool_of(const ClearingCandidate& candidate) const {
        return first_part(candidate).tool;
    }
    /// Last component of its key.
    [[nodiscard]] std::string_view object_name_of(const ClearingCandidate& candidate) const {
        return first_part(candidate).object_name;
    }
    [[nodiscard]] std::vector<Part> parts_of_result(const ClearingCandidate& candidate) const;
    [[nodiscard]] std::string arguments_of(const ClearingCandidate& candidate) const;
    /// What a user's function says of a call and its result.
    template <typename Result>
    [[nodiscard]] Result ask(const std::function<Result(const ToolDetail&)>& function,
                             const ClearingCandidate& candidate, const std::vector<Part>& parts) const {
        const std::string arguments = arguments_of(candidate);
        return function({tool_of(candidate), first_part(candidate).call_id, arguments, parts});
    }
    std::int64_t stage(const ClearingCandidate& candidate);
    void stage_result(const ClearingCandidate& candidate, const std::vector<Part>& parts);
    /// What is to be stored of a result.
    struct Offload {
        std::int64_t tokens = 0;               // of all its parts
        bool is_text = false;                  // the text of its only part
        Hash128 print{};                       // of that text
        std::optional<std::string> content{};  // anything else
    };
    [[nodiscard]] bool is_held_beside(const ClearingCandidate& candidate, Storage& storage, const PartView& part) const;
    Offload look_at(const ClearingCandidate& candidate, const std::vector<Part>& parts, Storage* storage,
                    Provenance& provenance, ClearedText& text);
    void name_object(const ClearingCandidate& candidate, const std::vector<Part>& parts, Storage& storage,
                     std::string_view content, Provenance& provenance, ClearedText& text);
    void stage_arguments(const ClearingCandidate& candidate, const std::vector<Part>& parts);
    void stage_handler(const ClearingCandidate& candidate, const std::vector<Part>& parts, ClearResult result);
    /// How many of `parts`, which are sorted, are below `part`.
    [[nodiscard]] static std::size_t count_below(const std::vector<std::size_t>& parts, std::size_t part) {
        return static_cast<std::size_t>(std::ranges::lower_bound(parts, part) - parts.begin());
    }
    void close_ranks(std::span<ClearingCandidate> candidates, std::size_t message) const;
    [[nodiscard]] std::int64_t size_of_object(Storage& storage, const std::string& key, std::string_view shown) const;
    void set_parts(const ClearingCandidate& candidate, const std::vector<Part>& before, const std::vector<Part>& now,
                   const Provenance& provenance);
    void erase_parts(std::size_t message, const std::vector<std::size_t>& parts, const Provenance& provenance);
    void set_all(const ClearingCandidate& candidate, std::string_view text, const Provenance& provenance);
    void set_each(const ClearingCandidate& candidate, const std::vector<bool>& is_new, const std::vector<Part>& now,
                  const Provenance& provenance);
    [[nodiscard]] std::string key_for(const ClearingCandidate& candidate, const std::vector<Part>& parts) const;
    void offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                 std::optional<typename Transaction<M>::Original> original);
    [[nodiscard]] std::int64_t tokens_of(const PartView& part) const;
    [[nodiscard]] ClearingPlan plan_shortening() const;
    [[nodiscard]] std::int64_t limit_that_frees(std::int64_t tokens,
                                                const std::vector<ClearingCandidate>& candidates) const;
    [[nodiscard]] std::optional<typename Transaction<M>::Original> original_at(const ClearingCandidate& candidate,
                                                                               std::size_t part) const {
        return typename Transaction<M>::Original{edit_.outline()[candidate.message].serial, candidate.parts[part]};
    }
    void shorten_text(const ClearingCandidate& candidate, std::size_t i, const std::string& whole,
                      std::int64_t max_bytes, const std::shared_ptr<Storage>& storage);
    std::int64_t shorten(const ClearingCandidate& candidate, std::int64_t max_bytes);

    Turn<M>& turn_;
    const ReductionConfig& config_;
    const ReductionCallbacks<M>& callbacks_;
    std::string_view name_;
    std::int64_t count_;  // of the request, as the trigger judges it
    TokenScale scale_;    // how that compares with what we count
    Transaction<M> edit_;
    PlannedKeys planned_{};
    std::string placeholder_{};          // of the result at hand; keeps its room
    std::vector<std::size_t> erased_{};  // parts of the message that a replacement took out
    /// What a user's function made, and its line in the report.
    struct UsersUnit {
        Unit unit = 0;
        Serial serial = 0;
        std::size_t part = 0;
    };
    std::vector<UsersUnit> users_units_{};
    int failures_ = 0;  // rounds and results that stay because something threw
    std::string first_failure_{};
};

template <AgentMessage M>
ClearingPlan ClearingRun<M>::plan() const {
    return plan_clearing(edit_.outline(), config_, turn_.config.protected_tools, name_,
                         [&](std::size_t message) { return edit_.is_pinned(message); });
}

// ---- clearing
// --------------------------------------------------------------------------------------------------------

template <AgentMessage M>
void ClearingRun<M>::clear(std::int64_t target) {
    ClearingPlan planned = plan();
    std::vector<ClearingCandidate>& candidates = planned.candidates;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        const ClearingCandidate& candidate = candidates[c];
        const bool enough = is_enough(target, counted_freed());
        erased_.clear();
        std::int64_t freed = 0;
        const bool is_looked_at = candidate.rule.empty() && !enough;
        const bool has_failed = is_looked_at && !attempt([&] { freed = stage(candidate); });
        const std::string_view rule = !candidate.rule.empty() ? candidate.rule
                                      : enough                ? "target_reached"
                                      : has_failed            ? "failed"
                                      : freed > 0             ? "old_round"
                                                              : "no_gain";
        if (turn_.config.explain || freed > 0 || has_failed) {
            turn_.report.more().candidates.push_back(
                {edit_.outline()[candidate.message].serial, candidate.parts.front(), freed > 0, rule, freed});
        }
        std::ranges::sort(erased_);
        if (freed > 0 && !erased_.empty()) close_ranks(std::span(candidates).subspan(c + 1), candidate.message);
    }
}

/// A handler has erased parts: later results in that message have moved.
template <AgentMessage M>
void ClearingRun<M>::close_ranks(std::span<ClearingCandidate> candidates, std::size_t message) const {
    for (ClearingCandidate& candidate : candidates) {
        if (candidate.message != message) continue;
        for (std::size_t& part : candidate.parts) part -= count_below(erased_, part);
    }
}

template <AgentMessage M>
std::vector<Part> ClearingRun<M>::parts_of_result(const ClearingCandidate& candidate) const {
    std::vector<Part> parts;
    for_each_part_of(candidate, [&](std::size_t, const PartView& part) { parts.push_back(to_part(part)); });
    return parts;
}

template <AgentMessage M>
std::string ClearingRun<M>::arguments_of(const ClearingCandidate& candidate) const {
    return candidate.call_part ? edit_.text_of_part(candidate.call, *candidate.call_part) : std::string();
}

template <AgentMessage M>
std::int64_t ClearingRun<M>::tokens_of(const PartView& part) const {
    const TokenCounter& counter = turn_.counter();
    return part.kind == PartKind::media ? counter.media_tokens(part.media) : counter.count(part.text);
}

/// Plans one call's clearing as a unit of its own. Returns the tokens that it frees; 0 if it was left as it is.
template <AgentMessage M>
std::int64_t ClearingRun<M>::stage(const ClearingCandidate& candidate) {
    const std::int64_t before = edit_.tokens_after();
    const ToolReductionCallbacks* own = find_for_tool(callbacks_.tool_config, tool_of(candidate));
    const bool is_handled = own != nullptr && own->clear_handler;
    std::vector<Part> parts;  // as a user's function sees them
    if (is_handled || callbacks_.gen_clear_offload_file_path) parts = parts_of_result(candidate);
    std::optional<ClearResult> handled;
    if (is_handled) {
        handled = ask(own->clear_handler, candidate, parts);
        if (!handled->need_clear) return 0;
    }
    planned_.begin_unit();
    const Unit unit = edit_.begin_unit();
    const auto drop = [&] {
        edit_.drop_unit(unit);
        planned_.drop_unit();
        return 0;
    };
    try {
        if (handled) {
            stage_handler(candidate, parts, *std::move(handled));
        } else {
            stage_result(candidate, parts);
            if (clears_inputs(config_, tool_of(candidate))) stage_arguments(candidate, parts);
        }
    } catch (...) {
        drop();
        throw;
    }
    const std::int64_t freed = before - edit_.tokens_after();
    if (freed <= 0) return drop();
    if (is_handled) users_units_.push_back({unit, edit_.outline()[candidate.message].serial, candidate.parts.front()});
    return freed;
}

/// The key for what is cleared: the user's, or the usual one.
template <AgentMessage M>
std::string ClearingRun<M>::key_for(const ClearingCandidate& candidate, const std::vector<Part>& parts) const {
    if (!callbacks_.gen_clear_offload_file_path)
        return usual_key(config_, turn_.conversation.id(), "clear", object_name_of(candidate));
    return to_key(ask(callbacks_.gen_clear_offload_file_path, candidate, parts), "gen_clear_offload_file_path");
}

template <AgentMessage M>
void ClearingRun<M>::offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                             std::optional<typename Transaction<M>::Original> original) {
    planned_.add(key, hash128(content));
    edit_.offload(std::move(key), std::move(content), original, storage);
}

/// The bytes of the whole text, as far as that can be found out.
template <AgentMessage M>
std::int64_t ClearingRun<M>::size_of_object(Storage& storage, const std::string& key, std::string_view shown) const {
    try {
        if (const auto info = storage.stat(key)) return info->bytes;
    } catch (const std::exception&) {  // the size is for reading only
    }
    return static_cast<std::int64_t>(shown.size());
}

/// Finds the key for what is to be stored, and says so.
template <AgentMessage M>
void ClearingRun<M>::name_object(const ClearingCandidate& candidate, const std::vector<Part>& parts, Storage& storage,
                                 std::string_view content, Provenance& provenance, ClearedText& text) {
    provenance.stored.push_back(free_key(storage, key_for(candidate, parts), content, planned_));
    text.bytes += static_cast<std::int64_t>(content.size());
    if (provenance.stored.size() == 1) text.lines = count_lines(content);
}

/// What the candidate's parts come to: their tokens, what the store has of them and what it is to get.
template <AgentMessage M>
typename ClearingRun<M>::Offload ClearingRun<M>::look_at(const ClearingCandidate& candidate,
                                                         const std::vector<Part>& parts, Storage* storage,
                                                         Provenance& provenance, ClearedText& text) {
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
template <AgentMessage M>
bool ClearingRun<M>::is_held_beside(const ClearingCandidate& candidate, Storage& storage, const PartView& part) const {
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

template <AgentMessage M>
void ClearingRun<M>::stage_result(const ClearingCandidate& candidate, const std::vector<Part>& parts) {
    const auto storage = storage_for(tool_of(candidate));
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    ClearedText text{.tool = tool_of(candidate), .reader = reader(), .has_text = false};
    if (turn_.has_tool(media_reader_name)) text.media_reader = media_reader_name;
    Offload found = look_at(candidate, parts, storage.get(), provenance, text);
    std::string location;
    for (const std::string& key : provenance.stored) {
        location.append(location.empty() ? "" : ", ").append(reference_to(*storage, key, text.reader));
    }
    text.location = location;
    placeholder_.clear();
    if (provenance.stored.empty()) {
        placeholder_ = plain_placeholder(turn_.language);
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
    set_all(candidate, placeholder_, provenance);
}

template <AgentMessage M>
void ClearingRun<M>::stage_arguments(const ClearingCandidate& candidate, const std::vector<Part>& parts) {
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
    using Original = typename Transaction<M>::Original;
    const Serial serial = edit_.outline()[candidate.call].serial;
    offload(provenance.stored.front(), std::move(arguments), storage, Original{serial, *candidate.call_part});
}

template <AgentMessage M>
void ClearingRun<M>::stage_handler(const ClearingCandidate& candidate, const std::vector<Part>& parts,
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

#include "whittle/reduction/clearing_parts_impl.hpp"
#include "whittle/reduction/clearing_rewrite_impl.hpp"
#include "whittle/reduction/clearing_shorten_impl.hpp"
