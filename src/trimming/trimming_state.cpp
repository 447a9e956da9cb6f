#include "trimming_run.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

bool TrimmingState::is_idle() const noexcept {
    const TrimmingConfig& config = settings->config;
    const bool takes_arrivals = config.unit == TrimUnit::lines && config.drop_known_lines_on_arrival;
    return !takes_arrivals && request_tokens <= cold_start_of(config.start_tokens);
}

void TrimmingState::take(HookTurn& turn) {
    now = turn.conversation_model_calls() + 1;
    Known known;
    Transcript::Saved saved;
    if (!std::exchange(is_valid, false) || messages_.size() > turn.outline().size()) {
        is_new = true;
        messages_.clear();
        open_.clear();
        considered = 0;
        saved = transcript.restart(turn);
    } else if (edits_ != turn.edit_version()) {
        known = set_aside(turn.outline(), saved);
    }
    add_messages(turn, std::move(known), saved);
    edits_ = turn.edit_version();
    transcript.save(turn, messages_, false);
    is_valid = true;
}

/// What is as it was keeps what is known of it; the rest is read as if it had just come.
TrimmingState::Known TrimmingState::set_aside(const Outline& outline, Transcript::Saved& saved) {
    std::unordered_map<Serial, Hash128> fingerprints;
    for (std::size_t i = 0; i < outline.size(); ++i) fingerprints.emplace(outline[i].serial, outline[i].fingerprint);
    Known known;
    for (TrimMessage& message : std::exchange(messages_, {})) {
        const auto found = fingerprints.find(message.serial);
        const bool is_same = found != fingerprints.end() && found->second == message.fingerprint;
        for (std::size_t p = 0; p < message.parts.size() && !is_same; ++p) {
            transcript.show(message.parts[p], {});
            if (!message.parts[p].saved.empty()) saved.forms[{message.serial, p}] = message.parts[p].saved;
        }
        std::optional<TrimMessage>& kept = known[message.serial];
        if (is_same) kept = std::move(message);
    }
    open_.clear();
    considered = 0;
    return known;
}

void TrimmingState::add_messages(HookTurn& turn, Known known, const Transcript::Saved& saved) {
    const Outline outline = turn.outline();
    const std::size_t first = messages_.size();
    if (first == outline.size()) return;
    bool is_last_new = false;
    for (std::size_t m = first; m < outline.size(); ++m) {
        const auto found = known.find(outline[m].serial);
        is_last_new = found == known.end();
        const bool is_kept = !is_last_new && found->second;
        messages_.push_back(is_kept ? *std::move(found->second) : transcript.read(turn, m, saved));
        for (std::size_t p = 0; p < messages_[m].parts.size(); ++p) {
            if (messages_[m].parts[p].kind != TrimPart::Kind::passive) open_.emplace_back(m, p);
        }
    }
    if (is_last_new) transcript.clear_arrived();
    add_up(turn, first);
}

void TrimmingState::add_up(HookTurn& turn, std::size_t first) {
    sums_.resize(first + 1);
    for (std::size_t i = first; i < messages_.size(); ++i) sums_.push_back(sums_[i] + turn.tokens_of(i));
}

void TrimmingState::accept(HookTurn& turn, std::size_t first) {
    const Outline outline = turn.outline();
    for (std::size_t i = first; i < messages_.size(); ++i) messages_[i].fingerprint = outline[i].fingerprint;
    add_up(turn, first);
    edits_ = turn.edit_version();
    transcript.save(turn, messages_, true);
}

std::span<const TrimPlace> TrimmingState::open_places(std::size_t first) {
    std::erase_if(open_, [&](const TrimPlace& place) { return at(place).is_closed; });
    return {std::ranges::lower_bound(open_, TrimPlace(first, 0)), open_.end()};
}

}  // namespace whittle::inline v0::detail
