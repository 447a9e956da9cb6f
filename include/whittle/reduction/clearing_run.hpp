#pragma once

#include "whittle/base/names.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/reduction/clearing.hpp"
#include "whittle/reduction/config.hpp"
#include "whittle/reduction/truncation.hpp"

#include <algorithm>
#include <cstdint>
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
        : turn_(turn), config_(config), callbacks_(callbacks), name_(name), count_(count), edit_(turn.edit()) {}

    /// Gives old rounds to the user's rewriter, oldest first, until the count is below `target` (0: all).
    void rewrite(std::int64_t target);
    /// Replaces old results, and what else is asked for, oldest first, until the count is below `target` (0: all).
    void clear(std::int64_t target);
    /// Cuts results of the newest rounds down until `tokens` more are free, or nothing more can be cut.
    void shorten_newest(std::int64_t tokens);

    [[nodiscard]] std::int64_t freed() const noexcept { return edit_.tokens_before() - edit_.tokens_after(); }
    CommitResult commit(std::int64_t at_least) { return edit_.commit({.at_least_tokens = at_least}); }

private:
    [[nodiscard]] bool is_enough(std::int64_t target) const noexcept { return target > 0 && count_ - freed() < target; }
    [[nodiscard]] std::vector<ClearingCandidate> plan() const;
    [[nodiscard]] std::shared_ptr<Storage> storage_for(std::string_view tool) const;
    [[nodiscard]] std::string root() const {
        return config_.root_dir.empty() ? turn_.conversation.id() : config_.root_dir;
    }
    [[nodiscard]] std::string_view reader() const { return reader_tool(config_, turn_.request.tools); }
    [[nodiscard]] bool may_rewrite(const Round& round) const;
    void rewrite_round(const Round& round);
    [[nodiscard]] std::vector<Part> parts_of_result(const ClearingCandidate& candidate) const;
    [[nodiscard]] std::string arguments_of(const ClearingCandidate& candidate) const;
    std::int64_t stage(const ClearingCandidate& candidate);
    void stage_result(const ClearingCandidate& candidate, const std::vector<Part>& parts);
    void stage_arguments(const ClearingCandidate& candidate);
    void stage_handler(const ClearingCandidate& candidate, const std::vector<Part>& parts, ClearResult result);
    void set_parts(const ClearingCandidate& candidate, const std::vector<Part>& before, const std::vector<Part>& now,
                   const Provenance& provenance);
    [[nodiscard]] std::string key_for(const ClearingCandidate& candidate, const std::vector<Part>& parts,
                                      Storage& storage, std::string_view content);
    void offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                 std::optional<typename Transaction<M>::Original> original);
    [[nodiscard]] std::int64_t tokens_of(const std::vector<Part>& parts) const;
    [[nodiscard]] std::vector<ClearingCandidate> plan_shortening() const;
    [[nodiscard]] std::int64_t limit_that_frees(std::int64_t tokens,
                                                const std::vector<ClearingCandidate>& candidates) const;
    std::int64_t shorten(const ClearingCandidate& candidate, std::int64_t max_bytes);

    Turn<M>& turn_;
    const ReductionConfig& config_;
    const ReductionCallbacks<M>& callbacks_;
    std::string_view name_;
    std::int64_t count_;
    Transaction<M> edit_;
    PlannedKeys planned_{};
    std::vector<std::string> new_keys_{};  // of the unit that is being planned
};

template <AgentMessage M>
std::vector<ClearingCandidate> ClearingRun<M>::plan() const {
    return plan_clearing(edit_.outline(), config_, turn_.config.protected_tools, name_,
                         [&](std::size_t message) { return edit_.is_pinned(message); });
}

template <AgentMessage M>
std::shared_ptr<Storage> ClearingRun<M>::storage_for(std::string_view tool) const {
    const ToolReductionConfig* settings = find_for_tool(config_.tool_config, tool);
    if (settings != nullptr && settings->backend) return settings->backend;
    return config_.backend ? config_.backend : turn_.config.storage;
}

// ---- rewriting
// -------------------------------------------------------------------------------------------------------

/// Once only, and not what is cleared already.
template <AgentMessage M>
bool ClearingRun<M>::may_rewrite(const Round& round) const {
    const auto is_ours = [&](const Mark& mark) {
        return mark && mark->by == name_ && (mark->reason == "rewrite" || mark->reason == "clear");
    };
    const Outline outline = edit_.outline();
    if (is_ours(outline[round.call].mark)) return false;
    return std::ranges::none_of(round.results, [&](std::size_t message) {
        return std::ranges::any_of(outline[message].parts, [&](const PartInfo& part) { return is_ours(part.mark); });
    });
}

template <AgentMessage M>
void ClearingRun<M>::rewrite(std::int64_t target) {
    if (!callbacks_.clear_message_rewriter) return;
    const auto retained = static_cast<std::size_t>(std::max(1, config_.clear_retention_suffix_limit));
    std::vector<Serial> old;
    const std::vector<Round> rounds = edit_.outline().rounds();
    for (std::size_t r = 0; r + retained < rounds.size(); ++r) old.push_back(rounds[r].group);
    for (const Serial group : old) {  // positions change with every rewrite
        if (is_enough(target)) return;
        const std::vector<Round> now = edit_.outline().rounds();
        const auto round = std::ranges::find(now, group, &Round::group);
        if (round != now.end() && may_rewrite(*round)) rewrite_round(*round);
    }
}

/// The new messages stand where the call stood.
template <AgentMessage M>
void ClearingRun<M>::rewrite_round(const Round& round) {
    const M call = edit_.messages()[round.call];
    std::vector<M> results;
    for (const std::size_t message : round.results) results.push_back(edit_.messages()[message]);
    std::vector<M> rewritten = callbacks_.clear_message_rewriter(call, results);
    std::vector<M> before{call};
    before.insert(before.end(), results.begin(), results.end());
    if (std::ranges::equal(rewritten, before, [](const M& a, const M& b) { return same_message(a, b); })) return;
    const std::int64_t tokens = edit_.tokens_after();
    const Serial serial = edit_.outline()[round.call].serial;
    const Provenance provenance{.origin = Origin::placeholder, .reason = "rewrite"};
    const Unit unit = edit_.begin_unit();
    edit_.allow_pinned(true);
    for (auto message = round.results.rbegin(); message != round.results.rend(); ++message)
        edit_.erase(*message, provenance);
    edit_.replace_range(round.call, round.call + 1, std::move(rewritten), provenance);
    edit_.allow_pinned(false);
    const std::int64_t freed = tokens - edit_.tokens_after();
    if (freed <= 0) edit_.drop_unit(unit);
    turn_.report.more().candidates.push_back(
        {serial, 0, freed > 0, freed > 0 ? "rewritten" : "no_gain", std::max<std::int64_t>(0, freed)});
}

// ---- clearing
// --------------------------------------------------------------------------------------------------------

template <AgentMessage M>
void ClearingRun<M>::clear(std::int64_t target) {
    for (const ClearingCandidate& candidate : plan()) {
        const bool enough = is_enough(target);
        const std::int64_t freed = candidate.rule.empty() && !enough ? stage(candidate) : 0;
        if (!turn_.config.explain && freed == 0) continue;
        const std::string_view rule = !candidate.rule.empty() ? candidate.rule
                                      : enough                ? "target_reached"
                                      : freed > 0             ? "old_round"
                                                              : "no_gain";
        turn_.report.more().candidates.push_back(
            {edit_.outline()[candidate.message].serial, candidate.parts.front(), freed > 0, rule, freed});
    }
}

template <AgentMessage M>
std::vector<Part> ClearingRun<M>::parts_of_result(const ClearingCandidate& candidate) const {
    std::vector<Part> parts;
    std::size_t at = 0;
    message_traits<M>::for_each_part(edit_.messages()[candidate.message], [&](const PartView& part) {
        if (std::ranges::find(candidate.parts, at++) != candidate.parts.end()) parts.push_back(to_part(part));
    });
    return parts;
}

template <AgentMessage M>
std::string ClearingRun<M>::arguments_of(const ClearingCandidate& candidate) const {
    std::string arguments;
    if (!candidate.call_part) return arguments;
    std::size_t at = 0;
    message_traits<M>::for_each_part(edit_.messages()[candidate.call], [&](const PartView& part) {
        if (at++ == *candidate.call_part) arguments = part.text;
    });
    return arguments;
}

template <AgentMessage M>
std::int64_t ClearingRun<M>::tokens_of(const std::vector<Part>& parts) const {
    const TokenCounter& counter = turn_.counter();
    std::int64_t sum = 0;
    for (const Part& part : parts)
        sum += part.kind == PartKind::media ? counter.media_tokens(view_of(part).media) : counter.count(part.text);
    return sum;
}

/// Plans one call's clearing as a unit of its own. Returns the tokens that it frees; 0 if it was left as it is.
template <AgentMessage M>
std::int64_t ClearingRun<M>::stage(const ClearingCandidate& candidate) {
    const std::vector<Part> parts = parts_of_result(candidate);
    const std::int64_t before = edit_.tokens_after();
    const ToolReductionCallbacks* own = find_for_tool(callbacks_.tool_config, candidate.tool);
    std::optional<ClearResult> handled;
    if (own != nullptr && own->clear_handler) {
        const std::string arguments = arguments_of(candidate);
        const std::string call_id = edit_.outline()[candidate.message].parts[candidate.parts.front()].call_id;
        handled = own->clear_handler({candidate.tool, call_id, arguments, parts});
        if (!handled->need_clear) return 0;
    }
    new_keys_.clear();
    const Unit unit = edit_.begin_unit();
    if (handled) {
        stage_handler(candidate, parts, *std::move(handled));
    } else {
        stage_result(candidate, parts);
        if (clears_inputs(config_, candidate.tool)) stage_arguments(candidate);
    }
    const std::int64_t freed = before - edit_.tokens_after();
    if (freed > 0) return freed;
    edit_.drop_unit(unit);
    for (const std::string& key : new_keys_) planned_.erase(key);
    return 0;
}

/// The key for what is cleared: the user's, or the usual one.
template <AgentMessage M>
std::string ClearingRun<M>::key_for(const ClearingCandidate& candidate, const std::vector<Part>& parts,
                                    Storage& storage, std::string_view content) {
    std::string key = root() + "/clear/" + candidate.name;
    if (callbacks_.gen_clear_offload_file_path) {
        const std::string arguments = arguments_of(candidate);
        const std::string call_id = edit_.outline()[candidate.message].parts[candidate.parts.front()].call_id;
        key = to_key(callbacks_.gen_clear_offload_file_path({candidate.tool, call_id, arguments, parts}),
                     "gen_clear_offload_file_path");
    }
    return free_key(storage, std::move(key), content, planned_);
}

template <AgentMessage M>
void ClearingRun<M>::offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                             std::optional<typename Transaction<M>::Original> original) {
    if (planned_.emplace(key, hash128(content)).second) new_keys_.push_back(key);
    edit_.offload(std::move(key), std::move(content), original, storage);
}

template <AgentMessage M>
void ClearingRun<M>::stage_result(const ClearingCandidate& candidate, const std::vector<Part>& parts) {
    const auto storage = storage_for(candidate.tool);
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear", .stored = candidate.stored};
    std::string placeholder(plain_placeholder(turn_.language));
    std::string content;
    if (storage) {
        ClearedText text{.tool = candidate.tool, .reader = reader()};
        std::string location;
        if (candidate.stored.empty()) {
            content = offload_content(parts);
            provenance.stored.push_back(key_for(candidate, parts, *storage, content));
            text.bytes = static_cast<std::int64_t>(content.size());
            text.lines = count_lines(content);
        } else {
            for (const Part& part : parts) {
                text.bytes += static_cast<std::int64_t>(part.text.size());
                text.lines += count_lines(part.text);
            }
        }
        for (const std::string& key : provenance.stored)
            location += (location.empty() ? "" : ", ") + storage->locate(key);
        text.location = location;
        placeholder = clearing_placeholder(text, turn_.language);
    }
    const std::int64_t cost = turn_.counter().count(placeholder) * static_cast<std::int64_t>(parts.size());
    if (tokens_of(parts) <= cost) return;
    for (const std::size_t part : candidate.parts) edit_.set_text(candidate.message, part, placeholder, provenance);
    if (!storage || !candidate.stored.empty()) return;
    using Original = typename Transaction<M>::Original;
    const bool is_plain = parts.size() == 1 && parts.front().kind != PartKind::media;
    const Serial serial = edit_.outline()[candidate.message].serial;
    offload(provenance.stored.front(), std::move(content), storage,
            is_plain ? std::optional(Original{serial, candidate.parts.front()}) : std::nullopt);
}

template <AgentMessage M>
void ClearingRun<M>::stage_arguments(const ClearingCandidate& candidate) {
    if (!candidate.call_part || edit_.is_pinned(candidate.call)) return;
    if (origin_of(mark_of(edit_.outline()[candidate.call], *candidate.call_part)) != Origin::original) return;
    std::string arguments = arguments_of(candidate);
    const auto storage = storage_for(candidate.tool);
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    std::string location;
    if (storage) {
        const std::string key = root() + "/clear/" + candidate.name + ".arguments";
        provenance.stored.push_back(free_key(*storage, key, arguments, planned_));
        location = storage->locate(provenance.stored.front());
    }
    std::string now = cleared_arguments(location, turn_.language);
    if (turn_.counter().count(now) >= turn_.counter().count(arguments)) return;
    edit_.set_text(candidate.call, *candidate.call_part, std::move(now), provenance);
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
        const auto storage = storage_for(candidate.tool);
        if (!storage) throw Error(Errc::storage_failed, std::string(name_) + ": clear_handler: no backend for offload");
        std::string key = result.key.empty() ? key_for(candidate, parts, *storage, result.content)
                                             : to_key(result.key, "clear_handler");
        provenance.stored.push_back(key);
        offload(std::move(key), std::move(result.content), storage, std::nullopt);
    }
    set_parts(candidate, parts, result.parts, provenance);
    if (result.arguments && candidate.call_part && *result.arguments != arguments_of(candidate))
        edit_.set_text(candidate.call, *candidate.call_part, *std::move(result.arguments), provenance);
}

/// As many parts as before: each takes the text of its successor. Else the first takes all text, the others go.
template <AgentMessage M>
void ClearingRun<M>::set_parts(const ClearingCandidate& candidate, const std::vector<Part>& before,
                               const std::vector<Part>& now, const Provenance& provenance) {
    const bool one_by_one = now.size() == before.size();
    std::string all;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const bool is_kept = one_by_one && now[i].media == before[i].media && now[i].kind == before[i].kind &&
                             now[i].text == before[i].text;
        if (now[i].kind == PartKind::media && !is_kept) {
            throw Error(
                Errc::callback_failed,
                std::string(name_) + ": clear_handler: a replacement part is text, or the part that stood there");
        }
        all += now[i].text;
        if (one_by_one && !is_kept) edit_.set_text(candidate.message, candidate.parts[i], now[i].text, provenance);
    }
    if (one_by_one) return;
    for (std::size_t i = candidate.parts.size(); i-- > 1;)
        edit_.erase_part(candidate.message, candidate.parts[i], provenance);
    edit_.set_text(candidate.message, candidate.parts.front(), std::move(all), provenance);
}

// ---- shortening the newest results
// -----------------------------------------------------------------------------------

/// What may be shortened: results of retained rounds that nobody else has made or wants as they are.
template <AgentMessage M>
std::vector<ClearingCandidate> ClearingRun<M>::plan_shortening() const {
    std::vector<ClearingCandidate> candidates = plan();
    std::erase_if(candidates, [&](const ClearingCandidate& candidate) {
        if (!candidate.is_retained || edit_.is_pinned(candidate.message)) return true;
        if (matches_tool(turn_.config.protected_tools, candidate.tool)) return true;
        return std::ranges::any_of(candidate.parts, [&](std::size_t part) {
            const Mark& mark = mark_of(edit_.outline()[candidate.message], part);
            return origin_of(mark) != Origin::original && (mark->by != name_ || mark->reason == "clear");
        });
    });
    return candidates;
}

/// The largest limit for each of their texts that frees enough, by estimate.
template <AgentMessage M>
std::int64_t ClearingRun<M>::limit_that_frees(std::int64_t tokens,
                                              const std::vector<ClearingCandidate>& candidates) const {
    constexpr std::int64_t notice = 250;
    constexpr std::int64_t least = 1'000;
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;  // bytes, tokens
    for (const ClearingCandidate& candidate : candidates) {
        for (const Part& part : parts_of_result(candidate)) {
            if (part.kind == PartKind::media) continue;
            sizes.emplace_back(static_cast<std::int64_t>(part.text.size()), turn_.counter().count(part.text));
        }
    }
    const auto frees = [&](std::int64_t limit) {
        double sum = 0.0;
        for (const auto& [bytes, count] : sizes) {
            if (bytes > limit + notice)
                sum += static_cast<double>(count) * static_cast<double>(bytes - limit - notice) /
                       static_cast<double>(bytes);
        }
        return sum;
    };
    std::int64_t limit = least;
    std::int64_t too_high = std::max(least, config_.max_length_for_trunc) + 1;
    while (limit + 1 < too_high) {
        const std::int64_t middle = limit + (too_high - limit) / 2;
        (frees(middle) >= static_cast<double>(tokens) ? limit : too_high) = middle;
    }
    return limit;
}

template <AgentMessage M>
void ClearingRun<M>::shorten_newest(std::int64_t tokens) {
    edit_.allow_open_results();
    const std::vector<ClearingCandidate> candidates = plan_shortening();
    const std::int64_t limit = limit_that_frees(tokens, candidates);
    for (const ClearingCandidate& candidate : candidates) {
        const std::int64_t less = shorten(candidate, limit);
        if (less > 0) {
            turn_.report.more().candidates.push_back(
                {edit_.outline()[candidate.message].serial, candidate.parts.front(), true, "newest_shortened", less});
        }
    }
}

/// Plans one result's shortening as a unit of its own. Returns the tokens that it frees.
template <AgentMessage M>
std::int64_t ClearingRun<M>::shorten(const ClearingCandidate& candidate, std::int64_t max_bytes) {
    const std::vector<Part> parts = parts_of_result(candidate);
    const auto texts = std::ranges::count_if(parts, [](const Part& part) { return part.kind != PartKind::media; });
    const auto storage = storage_for(candidate.tool);
    if (texts == 0 || !storage) return 0;
    const std::int64_t quota = max_bytes / texts;
    Provenance provenance{.origin = Origin::placeholder, .reason = "truncate", .stored = candidate.stored};
    std::string content;
    if (candidate.stored.empty()) {
        content = offload_content(parts);
        provenance.stored.push_back(free_key(*storage, root() + "/trunc/" + candidate.name, content, planned_));
    }
    const std::string location = storage->locate(provenance.stored.front());
    const std::int64_t before = edit_.tokens_after();
    const Serial serial = edit_.outline()[candidate.message].serial;
    const Unit unit = edit_.begin_unit();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].kind == PartKind::media || static_cast<std::int64_t>(parts[i].text.size()) <= quota) continue;
        TruncatedText text{.tool = candidate.tool, .location = location, .reader = reader()};
        edit_.set_text(candidate.message, candidate.parts[i],
                       cut_to(parts[i].text, static_cast<std::size_t>(quota), text, turn_.language), provenance);
    }
    const std::int64_t freed = before - edit_.tokens_after();
    if (freed <= 0) {
        edit_.drop_unit(unit);
        return 0;
    }
    if (!candidate.stored.empty()) return freed;
    using Original = typename Transaction<M>::Original;
    offload(provenance.stored.front(), std::move(content), storage,
            parts.size() == 1 ? std::optional(Original{serial, candidate.parts.front()}) : std::nullopt);
    return freed;
}

}  // namespace whittle::inline v0::detail
