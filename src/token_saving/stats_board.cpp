#include "stats_board.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t most_conversations = 1'024;

void add_to(TokenSavingStats& sum, const TokenSavingStats& more, bool is_model_call) {
    sum.compressions += more.compressions;
    sum.chars_saved += more.chars_saved;
    sum.early_exits += more.early_exits;
    sum.perplexity_compressions += more.perplexity_compressions;
    sum.perplexity_chars_saved += more.perplexity_chars_saved;
    sum.perplexity_cache_hits += more.perplexity_cache_hits;
    if (is_model_call) sum.replacements_emitted = more.replacements_emitted;
}

}  // namespace

void StatsBoard::add(std::string_view conversation, const TokenSavingStats& more, bool is_model_call) {
    const std::scoped_lock lock(mutex_);
    add_to(all_, more, is_model_call);
    auto found = by_conversation_.find(conversation);
    if (found == by_conversation_.end()) {
        if (by_conversation_.size() >= most_conversations) {
            by_conversation_.erase(
                std::ranges::min_element(by_conversation_, {}, [](const auto& entry) { return entry.second.used; }));
        }
        found = by_conversation_.emplace(conversation, Entry{}).first;
    }
    add_to(found->second.stats, more, is_model_call);
    found->second.used = ++clock_;
}

TokenSavingStats StatsBoard::all() const {
    const std::scoped_lock lock(mutex_);
    return all_;
}

TokenSavingStats StatsBoard::of(std::string_view conversation) const {
    const std::scoped_lock lock(mutex_);
    const auto found = by_conversation_.find(conversation);
    return found == by_conversation_.end() ? TokenSavingStats{} : found->second.stats;
}

}  // namespace whittle::inline v0::detail
