// The part of a saving run that leaves words out.
#include "saving_run.hpp"
#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

namespace whittle::inline v0::detail {

WordOptions SavingRun::word_options() {
    if (!counts_ && std::holds_alternative<WindowScorer>(config_.perplexity_classifier)) {
        counts_.emplace();
        for (std::size_t message = 0; message < turn_.outline().size(); ++message)
            turn_.visit_parts(message, [&](const PartView& part) { counts_->add(part.text); });
    }
    WordOptions options{.window_words = static_cast<std::size_t>(config_.perplexity_window_words),
                        .min_content_words = static_cast<std::size_t>(config_.perplexity_min_content_words)};
    options.cache = &cache_;
    options.context = {.counts = counts_ ? &*counts_ : nullptr,
                       .conversation = turn_.conversation_id(),
                       .stop = turn_.stop,
                       .budget = &turn_.budget,
                       .report = &turn_.report,
                       .clock = turn_.config.clock.get()};
    return options;
}

/// One edit group: all of it pays, or none of it is done. Nothing is planned before that is known.
void SavingRun::compress_old_words(int batch) {
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
    if (!is_postponed_) edit_.begin_edit_group();
    for (Shorter& text : shorter) {
        const bool waits = is_postponed_ && text.freed > 0;
        tell(text.candidate, waits ? "too_small" : text.rule, waits ? 0 : text.freed);
        if (!is_postponed_ && text.freed > 0) stage_words(std::move(text));
    }
}

void SavingRun::stage_words(Shorter text) {
    const SavingCandidate& candidate = text.candidate;
    const std::string_view fact = candidate.is_old ? fact_words_old : fact_words_mid;
    Provenance provenance{.origin = Origin::placeholder, .reason = reason_with(mark_at(candidate), name_, fact)};
    static_cast<void>(reserve(candidate, "token_saving_words", text.whole, provenance));
    stage(candidate, std::move(text.whole), std::move(text.now), std::move(provenance), fact);
}

void SavingRun::note(const WordChoice& choice) {
    cache_hits_ += choice.remembered;
    is_at_limit_ = choice.is_undecided;
    if (!choice.failure.empty()) report_error("perplexity_classifier: " + choice.failure);
}

void SavingRun::read_journal() {
    journal_.emplace();
    turn_.visit_replaced([&](const ReplacedMessage& replaced) {
        if (replaced.record.by == name_ && replaced.record.kind == JournalRecord::Kind::edit)
            (*journal_)[replaced.info.serial].push_back(replaced);
    });
}

/// The message as the mid tier found it.
const ReplacedMessage* SavingRun::before_mid(const SavingCandidate& candidate) {
    if (!journal_) read_journal();
    const auto found = journal_->find(info_of(candidate).serial);
    if (found == journal_->end()) return nullptr;
    const auto& all = found->second;
    const auto is_before = [&](const ReplacedMessage& one) {
        return !has_fact(mark_of(one.info, candidate.part), name_, fact_words_mid);
    };
    const auto newest = std::find_if(all.rbegin(), all.rend(), is_before);
    return newest == all.rend() ? nullptr : &*newest;
}

/// The text as the mid tier found it, cut to head and tail if it has been since. Absent where the journal, or the
/// store, does not have it any more.
std::optional<std::string> SavingRun::text_before_mid(const SavingCandidate& candidate) try {
    const ReplacedMessage* earlier = before_mid(candidate);
    if (earlier == nullptr) return std::nullopt;
    std::string text = turn_.text_of(*earlier, candidate.part);
    const Mark& mark = mark_at(candidate);
    const bool was_cut = has_fact(mark_of(earlier->info, candidate.part), name_, fact_head_tail);
    if (was_cut || !has_fact(mark, name_, fact_head_tail)) return text;
    return cut_text(text, location_of(mark));
} catch (const std::exception& error) {
    report_error(error.what());
    return std::nullopt;
}

/// One text without its least words. The old tier takes them from the text as it was before the mid one, of which its
/// ratio is a share. Once a limit is reached, the texts behind it wait for the next batch.
auto SavingRun::drop_words(SavingCandidate candidate, const WordOptions& options) -> Shorter {
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

}  // namespace whittle::inline v0::detail
