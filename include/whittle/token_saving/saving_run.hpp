#pragma once

#include "whittle/base/saturating.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/token_saving/compress.hpp"
#include "whittle/token_saving/planning.hpp"
#include "whittle/token_saving/stats.hpp"
#include "whittle/token_saving/words.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// One batch: plans head and tail, then words, then the nudge, in one transaction.
template <AgentMessage M>
class SavingRun {
public:
    SavingRun(Turn<M>& turn, const TokenSavingConfig& config, std::string_view name, WordCache& cache)
        : turn_(turn), config_(config), name_(name), cache_(cache), edit_(turn.edit()) {}

    void shorten_results(int batch);
    void compress_old_words(int batch);
    void nudge();
    CommitResult commit() { return edit_.commit({.must_save = !has_nudge_}); }

    /// What a commit has done; of what was planned only what is there. Call it after `commit`.
    [[nodiscard]] TokenSavingStats stats() const;
    [[nodiscard]] std::int64_t cache_hits() const noexcept { return cache_hits_; }
    /// Word level: it would have freed less than `minimum_gain_tokens`.
    [[nodiscard]] bool is_postponed() const noexcept { return is_postponed_; }

private:
    struct Planned {
        std::size_t message = 0;
        std::size_t part = 0;
        Serial serial = 0;
        std::int64_t chars = 0;
        std::string_view fact{};  ///< static text
    };

    /// A text that would lose words, or stays: then it frees nothing.
    struct Shorter {
        SavingCandidate candidate{};
        std::string_view rule{};  ///< static text
        std::string whole{};
        std::string now{};
        std::int64_t freed = 0;
    };

    template <typename Plan>
    [[nodiscard]] std::vector<SavingCandidate> plan(int batch, Plan which) const;
    [[nodiscard]] std::shared_ptr<Storage> storage() const {
        return config_.storage ? config_.storage : turn_.config.storage;
    }
    [[nodiscard]] std::int64_t tokens(std::string_view text) const { return turn_.counter().count(text); }
    [[nodiscard]] std::string key_for(const SavingCandidate& candidate, std::string_view folder) const;
    std::int64_t cut(const SavingCandidate& candidate);
    /// A message in front of a commit, in the journal.
    struct Earlier {
        const JournalEntry<M>* entry = nullptr;
        std::size_t splice = 0;
        std::size_t message = 0;

        [[nodiscard]] const MessageInfo& info() const { return entry->undo[splice].infos[message]; }
    };

    void read_journal();
    [[nodiscard]] const Earlier* before_mid(const SavingCandidate& candidate);
    [[nodiscard]] std::optional<std::string> text_before_mid(const SavingCandidate& candidate);
    [[nodiscard]] Shorter drop_words(SavingCandidate candidate, const WordOptions& options);
    void stage_words(Shorter text);
    void note(const WordChoice& choice);
    [[nodiscard]] WordOptions word_options();
    /// Where the whole text will be, or is; empty without a store.
    [[nodiscard]] std::string reserve(const SavingCandidate& candidate, std::string_view folder, std::string_view whole,
                                      Provenance& provenance);
    void stage(const SavingCandidate& candidate, std::string whole, std::string now, Provenance provenance,
               std::string_view fact);
    void tell(const SavingCandidate& candidate, std::string_view rule, std::int64_t freed);

    Turn<M>& turn_;
    const TokenSavingConfig& config_;
    std::string_view name_;
    WordCache& cache_;
    Transaction<M> edit_;
    NewKeys keys_{};
    std::vector<Planned> planned_{};
    std::optional<WordCounts> counts_{};
    std::optional<std::map<Serial, std::vector<Earlier>>> journal_{};  ///< own edits, oldest first
    std::int64_t cache_hits_ = 0;
    bool has_nudge_ = false;
    bool is_postponed_ = false;
    bool is_at_limit_ = false;
};

template <AgentMessage M>
template <typename Plan>
std::vector<SavingCandidate> SavingRun<M>::plan(int batch, Plan which) const {
    const std::function<bool(std::size_t)> is_pinned = [this](std::size_t message) { return edit_.is_pinned(message); };
    const Outline outline = edit_.outline();
    const SavingPlanner planner{outline, config_, turn_.config.protected_tools, name_, is_pinned, batch};
    return (planner.*which)();
}

template <AgentMessage M>
void SavingRun<M>::tell(const SavingCandidate& candidate, std::string_view rule, std::int64_t freed) {
    if (freed <= 0 && !turn_.config.explain) return;
    turn_.report.more().candidates.push_back(
        {edit_.outline()[candidate.message].serial, candidate.part, freed > 0, rule, freed});
}

// ---- storing
// ---------------------------------------------------------------------------------------------------------

template <AgentMessage M>
std::string SavingRun<M>::key_for(const SavingCandidate& candidate, std::string_view folder) const {
    const MessageInfo& info = edit_.outline()[candidate.message];
    const SharedString& name = info.parts[candidate.part].object_name;
    std::string key = turn_.conversation.id() + "/" + std::string(folder) + "/";
    key += name.empty() ? "message-" + std::to_string(info.serial) : name.str();
    return key;
}

template <AgentMessage M>
std::string SavingRun<M>::reserve(const SavingCandidate& candidate, std::string_view folder, std::string_view whole,
                                  Provenance& provenance) {
    const auto store = storage();
    if (!store) return {};
    const Mark& mark = mark_of(edit_.outline()[candidate.message], candidate.part);
    const std::string_view reader = reader_among(turn_.request.tools);
    if (mark && !mark->stored.empty()) return reference_to(*store, mark->stored.front(), reader);
    provenance.stored.push_back(unused_key(*store, key_for(candidate, folder), whole, keys_));
    return reference_to(*store, provenance.stored.front(), reader);
}

template <AgentMessage M>
void SavingRun<M>::stage(const SavingCandidate& candidate, std::string whole, std::string now, Provenance provenance,
                         std::string_view fact) {
    const Serial serial = edit_.outline()[candidate.message].serial;
    const std::int64_t chars = count_code_points(whole) - count_code_points(now);
    planned_.push_back({candidate.message, candidate.part, serial, chars, fact});
    const std::vector<std::string> fresh = provenance.stored;
    edit_.set_text(candidate.message, candidate.part, now, std::move(provenance));
    if (fresh.empty()) return;
    keys_.content.emplace(fresh.front(), hash128(whole));
    edit_.offload(fresh.front(), std::move(whole), typename Transaction<M>::Original{serial, candidate.part},
                  storage());
}

// ---- head and tail
// ---------------------------------------------------------------------------------------------------

template <AgentMessage M>
void SavingRun<M>::shorten_results(int batch) {
    for (const SavingCandidate& candidate : plan(batch, &SavingPlanner::head_and_tail)) {
        const std::int64_t freed = candidate.may_cut ? cut(candidate) : 0;
        tell(candidate, candidate.may_cut && freed <= 0 ? "no_gain" : candidate.rule, freed);
    }
}

/// Plans one text as a unit of its own. Returns the tokens that it frees; 0 if the text stays.
template <AgentMessage M>
std::int64_t SavingRun<M>::cut(const SavingCandidate& candidate) {
    std::string whole = edit_.text_of_part(candidate.message, candidate.part);
    const Mark mark = mark_of(edit_.outline()[candidate.message], candidate.part);
    Provenance provenance{.origin = Origin::placeholder, .reason = reason_with(mark, name_, fact_head_tail)};
    if (count_code_points(whole) <= config_.compress_threshold_chars) return 0;
    const std::string location = reserve(candidate, "token_saving", whole, provenance);
    const std::string_view reader = location.empty() ? std::string_view() : reader_among(turn_.request.tools);
    auto now = cut_to_head_and_tail(whole, config_.compress_threshold_chars, config_.head_keep_chars,
                                    config_.tail_keep_chars, {location, reader, turn_.language});
    if (!now) return 0;
    const std::int64_t freed = sub_saturating(tokens(whole), tokens(*now));
    if (freed <= 0) return 0;
    edit_.begin_unit();
    stage(candidate, std::move(whole), *std::move(now), std::move(provenance), fact_head_tail);
    return freed;
}

// ---- words
// -----------------------------------------------------------------------------------------------------------

template <AgentMessage M>
WordOptions SavingRun<M>::word_options() {
    if (!counts_ && std::holds_alternative<WindowScorer>(config_.perplexity_classifier)) {
        counts_.emplace();
        for (const M& message : turn_.conversation.messages())
            message_traits<M>::for_each_part(message, [&](const PartView& part) { counts_->add(part.text); });
    }
    WordOptions options{.window_words = static_cast<std::size_t>(config_.perplexity_window_words),
                        .min_content_words = static_cast<std::size_t>(config_.perplexity_min_content_words)};
    options.cache = &cache_;
    options.context = {.counts = counts_ ? &*counts_ : nullptr,
                       .stop = turn_.request.stop,
                       .budget = &turn_.budget,
                       .report = &turn_.report,
                       .clock = turn_.config.clock.get()};
    return options;
}

/// One unit: all of it is worth its while, or none. Nothing is planned before that is known.
template <AgentMessage M>
void SavingRun<M>::compress_old_words(int batch) {
    const std::vector<SavingCandidate> candidates = plan(batch, &SavingPlanner::words);
    if (std::ranges::none_of(candidates, &SavingCandidate::may_cut)) return;
    const WordOptions options = word_options();
    std::vector<Shorter> shorter;
    std::int64_t sum = 0;
    for (const SavingCandidate& candidate : candidates) {
        shorter.push_back(candidate.may_cut ? drop_words(candidate, options) : Shorter{candidate, candidate.rule});
        sum = add_saturating(sum, shorter.back().freed);
    }
    is_postponed_ = sum > 0 && sum < config_.minimum_gain_tokens;
    if (!is_postponed_) edit_.begin_unit();
    for (Shorter& text : shorter) {
        const bool waits = is_postponed_ && text.freed > 0;
        tell(text.candidate, waits ? "too_small" : text.rule, waits ? 0 : text.freed);
        if (!is_postponed_ && text.freed > 0) stage_words(std::move(text));
    }
}

template <AgentMessage M>
void SavingRun<M>::stage_words(Shorter text) {
    const SavingCandidate& candidate = text.candidate;
    const std::string_view fact = candidate.is_old ? fact_words_old : fact_words_mid;
    const Mark mark = mark_of(edit_.outline()[candidate.message], candidate.part);
    Provenance provenance{.origin = Origin::placeholder, .reason = reason_with(mark, name_, fact)};
    static_cast<void>(reserve(candidate, "token_saving_words", text.whole, provenance));
    stage(candidate, std::move(text.whole), std::move(text.now), std::move(provenance), fact);
}

template <AgentMessage M>
void SavingRun<M>::note(const WordChoice& choice) {
    cache_hits_ += choice.remembered;
    is_at_limit_ = choice.is_undecided;
    if (!choice.failure.empty() && turn_.report.more().error.empty())
        turn_.report.more().error = "perplexity_classifier: " + choice.failure;
}

template <AgentMessage M>
void SavingRun<M>::read_journal() {
    journal_.emplace();
    for (const auto& entry : turn_.conversation.journal()) {
        if (entry->by != name_ || entry->kind != JournalEntry<M>::Kind::edit) continue;
        for (std::size_t s = 0; s < entry->undo.size(); ++s)
            for (std::size_t m = 0; m < entry->undo[s].infos.size(); ++m)
                (*journal_)[entry->undo[s].infos[m].serial].push_back({entry.get(), s, m});
    }
}

/// The message as the mid tier found it.
template <AgentMessage M>
auto SavingRun<M>::before_mid(const SavingCandidate& candidate) -> const Earlier* {
    if (!journal_) read_journal();
    const auto found = journal_->find(edit_.outline()[candidate.message].serial);
    if (found == journal_->end()) return nullptr;
    const auto& all = found->second;
    const auto is_before = [&](const Earlier& one) {
        return !has_fact(mark_of(one.info(), candidate.part), name_, fact_words_mid);
    };
    const auto newest = std::find_if(all.rbegin(), all.rend(), is_before);
    return newest == all.rend() ? nullptr : &*newest;
}

/// The text as the mid tier found it, cut to head and tail if it has been since. Absent where the journal, or the
/// store, does not have it any more.
template <AgentMessage M>
std::optional<std::string> SavingRun<M>::text_before_mid(const SavingCandidate& candidate) try {
    const Earlier* earlier = before_mid(candidate);
    if (earlier == nullptr) return std::nullopt;
    std::string text =
        text_of(load_original(*turn_.conversation.objects(), *earlier->entry, earlier->splice, earlier->message),
                candidate.part);
    const Mark mark = mark_of(edit_.outline()[candidate.message], candidate.part);
    const bool was_cut = has_fact(mark_of(earlier->info(), candidate.part), name_, fact_head_tail);
    if (was_cut || !has_fact(mark, name_, fact_head_tail)) return text;
    const auto store = storage();
    const std::string_view reader = reader_among(turn_.request.tools);
    const std::string location =
        store && !mark->stored.empty() ? reference_to(*store, mark->stored.front(), reader) : std::string();
    return cut_to_head_and_tail(text, config_.compress_threshold_chars, config_.head_keep_chars,
                                config_.tail_keep_chars,
                                {location, location.empty() ? std::string_view() : reader, turn_.language});
} catch (const std::exception& error) {
    if (turn_.report.more().error.empty()) turn_.report.more().error = error.what();
    return std::nullopt;
}

/// One text without its least words. The old tier takes them from the text as it was before the mid one, of which its
/// ratio is a share. Once a limit is reached, the texts behind it wait for the next batch.
template <AgentMessage M>
auto SavingRun<M>::drop_words(SavingCandidate candidate, const WordOptions& options) -> Shorter {
    if (is_at_limit_) return {candidate, "limit_reached"};
    std::string whole = edit_.text_of_part(candidate.message, candidate.part);
    std::string source = whole;
    if (auto earlier = candidate.was_mid ? text_before_mid(candidate) : std::nullopt) {
        source = *std::move(earlier);
        candidate.keep_ratio = config_.perplexity_keep_ratio_old;
    }
    const Hash128 key = WordCache::key_of(source, candidate.keep_ratio);
    if (cache_.whole.find(key)) {
        ++cache_hits_;
        return {candidate, "no_gain"};
    }
    const std::vector<Word> words = split_words(source);
    const WordChoice choice = choose_words(source, words, config_.perplexity_classifier, candidate.keep_ratio, options);
    note(choice);
    if (is_at_limit_) return {candidate, "limit_reached"};
    if (choice.keep.empty()) {
        cache_.whole.put(key, {});
        return {candidate, "no_gain"};
    }
    std::string now = join_kept(source, words, choice.keep);
    const std::int64_t freed = tokens(whole) - tokens(now);
    if (freed <= 0 || now.size() >= whole.size() || now.empty()) return {candidate, "no_gain"};
    return {candidate, candidate.rule, std::move(whole), std::move(now), freed};
}

// ---- the nudge
// -------------------------------------------------------------------------------------------------------

template <AgentMessage M>
void SavingRun<M>::nudge() {
    const std::string_view text = config_.early_exit_text.empty() ? default_early_exit_text(turn_.language)
                                                                  : std::string_view(config_.early_exit_text);
    edit_.begin_unit();
    edit_.insert(edit_.outline().size(), message_traits<M>::make(Role::user, text),
                 {.origin = Origin::nudge, .reason = "early_exit"});
    has_nudge_ = true;
}

template <AgentMessage M>
TokenSavingStats SavingRun<M>::stats() const {
    TokenSavingStats stats{.early_exits = has_nudge_ ? 1 : 0, .perplexity_cache_hits = cache_hits_};
    const Outline outline = turn_.conversation.outline();
    std::vector<Serial> replaced;
    for (const Planned& one : planned_) {
        const bool is_there = one.message < outline.size() && outline[one.message].serial == one.serial &&
                              has_fact(mark_of(outline[one.message], one.part), name_, one.fact);
        if (!is_there) continue;
        const bool is_cut = one.fact == fact_head_tail;
        (is_cut ? stats.compressions : stats.perplexity_compressions) += 1;
        (is_cut ? stats.chars_saved : stats.perplexity_chars_saved) += one.chars;
        replaced.push_back(one.serial);
    }
    std::ranges::sort(replaced);
    stats.replacements_emitted = std::unique(replaced.begin(), replaced.end()) - replaced.begin();
    return stats;
}

}  // namespace whittle::inline v0::detail
