#pragma once

#include "planning.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/token_saving/config.hpp"
#include "word_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// One batch: plans head and tail, then words, then the nudge, on one draft.
class SavingRun {
public:
    SavingRun(HookTurn& turn, Draft& edit, const TokenSavingConfig& config, WordCache& cache)
        : turn_(turn), edit_(edit), config_(config), name_(turn.report.middleware), cache_(cache) {}

    void shorten_results(int batch);
    void compress_old_words(int batch);
    void nudge();
    CommitResult commit() { return edit_.commit({.require_token_reduction = !has_nudge_}); }

    /// What a commit has done; of what was planned only what is there. Call it after `commit`.
    [[nodiscard]] TokenSavingStats stats() const;
    [[nodiscard]] std::int64_t cache_hits() const noexcept { return cache_hits_; }
    /// The words that could go would have freed less than `minimum_gain_tokens`.
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
    using Lever = std::vector<SavingCandidate> (SavingPlanner::*)() const;

    [[nodiscard]] std::vector<SavingCandidate> plan(int batch, Lever lever) const;
    [[nodiscard]] std::shared_ptr<Storage> storage() const {
        return config_.storage ? config_.storage : turn_.config.storage;
    }
    [[nodiscard]] std::int64_t tokens(std::string_view text) const { return turn_.counter().count(text); }
    [[nodiscard]] const MessageInfo& info_of(const SavingCandidate& candidate) const {
        return edit_.outline()[candidate.message];
    }
    [[nodiscard]] const Mark& mark_at(const SavingCandidate& candidate) const {
        return mark_of(info_of(candidate), candidate.part);
    }
    [[nodiscard]] std::string key_for(const SavingCandidate& candidate, std::string_view folder) const;
    /// Where the whole text is; empty if a store does not have it yet, or there is none.
    [[nodiscard]] std::string location_of(const Mark& mark) const;
    /// Where the whole text will be, or is; empty without a store.
    [[nodiscard]] std::string reserve(const SavingCandidate& candidate, std::string_view folder, std::string_view whole,
                                      Provenance& provenance);
    void stage(const SavingCandidate& candidate, std::string whole, std::string now, Provenance provenance,
               std::string_view fact);
    void tell(const SavingCandidate& candidate, std::string_view rule, std::int64_t freed);
    void report_error(std::string text);

    [[nodiscard]] std::optional<std::string> cut_text(std::string_view whole, std::string_view location) const;
    std::int64_t cut(const SavingCandidate& candidate);

    [[nodiscard]] WordOptions word_options();
    void read_journal();
    [[nodiscard]] const ReplacedMessage* before_mid(const SavingCandidate& candidate);
    [[nodiscard]] std::optional<std::string> text_before_mid(const SavingCandidate& candidate);
    [[nodiscard]] Shorter drop_words(SavingCandidate candidate, const WordOptions& options);
    void note(const WordChoice& choice);
    void stage_words(Shorter text);

    HookTurn& turn_;
    Draft& edit_;
    const TokenSavingConfig& config_;
    std::string_view name_;
    WordCache& cache_;
    PlannedKeys keys_{};
    std::vector<Planned> planned_{};
    std::optional<WordCounts> counts_{};
    std::optional<std::map<Serial, std::vector<ReplacedMessage>>> journal_{};  ///< own edits, oldest first
    std::int64_t cache_hits_ = 0;
    bool has_nudge_ = false;
    bool is_postponed_ = false;
    bool is_at_limit_ = false;
};

}  // namespace whittle::inline v0::detail
