#pragma once

#include "whittle/base/version.hpp"
#include "whittle/chain/middleware.hpp"
#include "whittle/token_saving/detail/words.hpp"
#include "whittle/token_saving/steps.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// When tool results are cut to head and tail.
enum class SavingTime {
    on_arrival,  ///< when the tool returns, before the model sees the result
    batched,     ///< once they left the exempt window, together, every `batch_calls` model calls
};

/// Settings of `TokenSaving`; docs/token_saving.md explains them. "chars" are Unicode code points.
struct TokenSavingConfig {
    std::int64_t compress_threshold_chars = 1'800;  ///< longer tool results are cut to head and tail
    std::int64_t head_keep_chars = 900;             ///< code points kept of the start
    std::int64_t tail_keep_chars = 700;             ///< code points kept of the end
    std::int64_t head_keep_lines = 0;               ///< first lines kept, of at most `head_keep_chars`; 0: all of these
    std::int64_t tail_keep_lines = 0;               ///< last lines kept, of at most `tail_keep_chars`; 0: all of these
    int keep_recent_tool_messages = 2;              ///< newest tool results left whole; not with `on_arrival`
    bool enable_compression = true;                 ///< cut tool results to head and tail
    int early_exit_min_call_index = 40;             ///< no nudge before that many model calls
    std::string early_exit_text{};                  ///< the nudge. Empty: the built-in text in the chain's language
    SignalsFunction signals_fn{};   ///< `none` or `trajectory`: what judges if the agent runs in circles. Empty: none
    bool enable_early_exit = true;  ///< nudge an agent that runs in circles
    bool enable_perplexity_compression = false;  ///< drop words of old texts
    /// `none`, `heuristic`, `frequency` (by the conversation's own counts, not a vocabulary) or `model`: which words
    /// go. Empty: none, no word-level compression.
    AnyWordClassifier perplexity_classifier{};
    int perplexity_recent_cutoff = 3;         ///< model calls ago; younger messages stay
    int perplexity_mid_cutoff = 10;           ///< model calls ago; from here on a message is old
    double perplexity_keep_ratio_mid = 0.55;  ///< share of the unprotected words that stays at first
    double perplexity_keep_ratio_old = 0.30;  ///< share that stays once a message is old
    int perplexity_window_words = 50;         ///< words of one classifier call
    int perplexity_min_content_words = 30;    ///< texts of fewer words stay
    std::shared_ptr<Storage> storage{};       ///< own storage. Null: the chain's
    std::int64_t minimum_gain_tokens = 200;   ///< word-level: a batch that frees less is postponed
    SavingTime when = SavingTime::batched;    ///< `on_arrival` or `batched`: when tool results are cut
    int batch_calls = 10;                     ///< model calls between batches; 1: at every call
};

/// The built-in text of the nudge.
[[nodiscard]] std::string_view default_early_exit_text(Language language) noexcept;

/// Reports every value that is out of range or contradicts another.
void check_token_saving(const TokenSavingConfig& config, const ChainInfo& chain, std::string_view name,
                        Problems& problems);

/// What token saving has done. Characters are Unicode code points.
struct TokenSavingStats {
    std::int64_t compressions = 0;             ///< tool results cut to head and tail
    std::int64_t chars_saved = 0;              ///< by that, markers subtracted
    std::int64_t early_exits = 0;              ///< nudges
    std::int64_t perplexity_compressions = 0;  ///< texts from which words were left out
    std::int64_t perplexity_chars_saved = 0;   ///< by that
    std::int64_t perplexity_cache_hits = 0;    ///< windows of words, and texts that must stay, decided before
    std::int64_t replacements_emitted = 0;     ///< messages replaced before the newest model call

    friend bool operator==(const TokenSavingStats&, const TokenSavingStats&) = default;
};

/// As configurations write it; `make_token_saving` makes it.
[[nodiscard]] MiddlewareType<TokenSavingConfig> token_saving_type();

}  // namespace whittle::inline v0
