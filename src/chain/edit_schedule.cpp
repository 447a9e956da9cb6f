#include "whittle/chain/detail/edit_schedule.hpp"

#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace whittle::inline v0 {

namespace {

constexpr std::string_view call_note = "call";
constexpr std::string_view cold_note = "cold_calls";
constexpr std::string_view time_note = "last_use";
constexpr std::string_view frozen_note = "frozen_before";
constexpr std::string_view free_call_note = "free_call";
constexpr std::string_view free_from_note = "free_from";

/// Edits of messages from `first` on cost nothing at that call.
void note_free(Notes notes, int call, std::size_t first) {
    notes.set(free_call_note, std::int64_t{call});
    notes.set(free_from_note, static_cast<std::int64_t>(first));
}

/// The first message of the newest `rounds` calls.
std::size_t first_of_newest(const Outline& outline, int call, int rounds) noexcept {
    std::size_t first = outline.size();
    while (first > 0 && call_of(outline[first - 1]) >= call - std::max(rounds, 1)) --first;
    return first;
}

/// What thinking costs again once an edit in front of it has voided it, in tokens of input.
class VoidedThinking {
public:
    VoidedThinking(const HookTurn& turn, std::size_t size) : turn_(turn), looked_at_(size) {}

    /// Of the messages behind `message`; asked from the newest on.
    [[nodiscard]] double behind(std::size_t message) {
        const ModelProfile& profile = turn_.config.profile;
        if (!profile.thinking_bound_to_prefix) return 0.0;
        const Outline outline = turn_.outline();
        for (; looked_at_ > message + 1; --looked_at_) {
            for (const PartInfo& part : outline[looked_at_ - 1].parts)
                bytes_ += part.kind == PartKind::thinking ? static_cast<double>(part.text_bytes) : 0.0;
        }
        constexpr double usual_ratio = 5.0;
        constexpr double bytes_per_token = 4.0;
        const bool is_priced = profile.prices && profile.prices->input > 0 && profile.prices->output > 0;
        const double ratio = is_priced ? profile.prices->output / profile.prices->input : usual_ratio;
        return ratio * bytes_ / bytes_per_token;
    }

private:
    const HookTurn& turn_;
    std::size_t looked_at_;
    double bytes_ = 0.0;
};

/// What it costs and brings to commit all offers from one message on, in tokens at the plain input price.
struct EditCosts {
    double once_more = 0.0;      ///< of writing a token in place of reading it
    double rents_to_come = 0.0;  ///< of a token that could have gone, in all calls that may follow
    double unsent = 0.0;         ///< tokens that are written for the first time anyway
    double rents = 0.0;          ///< that the edits have cost so far by not being made
    double saved = 0.0;          ///< tokens that each later call sends less
    double behind = 0.0;         ///< tokens behind that message, which are written to the cache once more
    double voided = 0.0;         ///< thinking that is void then

    /// What the rents are more than the price.
    [[nodiscard]] double surplus() const noexcept { return rents - once_more * behind - voided; }
    [[nodiscard]] bool is_paid_by_calls_to_come() const noexcept {
        return rents_to_come * saved >= once_more * (behind - unsent) + voided;
    }
};

/// Takes a number off the front; nullopt: there is none.
template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

EditSchedule::EditSchedule(HookTurn& turn, const EditScheduleConfig& config)
    : turn_(turn), config_(config), call_(turn.conversation_model_calls() + 1), now_(turn.config.clock->now()) {
    const Notes notes = turn.shared_notes(note_owner);
    const CacheProfile& cache = turn.config.profile.cache;
    is_new_ = notes.integer(call_note).value_or(0) < call_;
    const auto last = notes.integer(time_note);
    is_cold_ = is_new_ && last && cache.ttl_seconds > 0 &&
               sub_saturating(now_, *last) > mul_saturating(cache.ttl_seconds, 1'000);
    cold_calls_ = notes.integer(cold_note).value_or(0) + (is_cold_ ? 1 : 0);
    constexpr int least_calls = 10;  // over which pauses so far are spread
    rent_ = cache.read + cache.write * static_cast<double>(cold_calls_) / std::max(least_calls, call_);
    const Outline outline = turn.outline();
    newest_ = first_of_newest(outline, call_, config.keep_rounds);
}

std::size_t EditSchedule::frozen_messages(const Outline& outline, std::optional<std::int64_t> frozen_before) {
    if (!frozen_before) return 0;
    std::size_t frozen = outline.size();
    while (frozen > 0 && static_cast<std::int64_t>(outline[frozen - 1].serial) >= *frozen_before) --frozen;
    return frozen;
}

void EditSchedule::note_reply(HookTurn& turn) {
    if (turn.config.dry_run) return;
    turn.shared_notes(note_owner).set(time_note, turn.config.clock->now());
}

void EditSchedule::advance() {
    if (turn_.config.dry_run) return;
    Notes notes = turn_.shared_notes(note_owner);
    notes.set(time_note, now_);
    if (!is_new_) return;
    notes.set(call_note, std::int64_t{call_});
    if (!is_cold_) return;
    notes.set(cold_note, cold_calls_);
    note_free(notes, call_, 0);
}

bool EditSchedule::is_at_edge(std::int64_t total) const {
    const auto window = static_cast<double>(turn_.known_window());
    return config_.force_above_window_fraction > 0.0 && window > 0.0 &&
           static_cast<double>(total) > window * config_.force_above_window_fraction;
}

/// Little is not worth a prompt that has to be read anew.
bool EditSchedule::makes_room(std::span<const EditOffer> offers) const {
    constexpr std::int64_t least_part = 20;  // of the window
    std::int64_t gain = 0;
    for (const EditOffer& offer : offers) gain += offer.tokens_now - offer.tokens_then;
    return gain >= turn_.known_window() / least_part;
}

std::optional<std::size_t> EditSchedule::free_from(HookTurn& turn) {
    const Notes notes = turn.shared_notes(note_owner);
    if (notes.integer(free_call_note).value_or(0) != turn.conversation_model_calls() + 1) return std::nullopt;
    return static_cast<std::size_t>(notes.integer(free_from_note).value_or(0));
}

void EditSchedule::note_commit(std::size_t first) {
    if (turn_.config.dry_run) return;
    note_free(turn_.shared_notes(note_owner), call_, first);
    const Outline outline = turn_.outline();
    const Serial serial = newest_ < outline.size() ? outline[newest_].serial
                          : outline.size() > 0     ? outline[outline.size() - 1].serial + 1
                                                   : 0;
    turn_.shared_notes(note_owner).set(frozen_note, static_cast<std::int64_t>(serial));
}

/// "id=tokens in thousandths", one behind the other.
EditSchedule::Accounts EditSchedule::load_accounts(std::string_view owner) {
    Accounts accounts;
    const Notes notes = turn_.shared_notes(note_owner);
    std::string_view text = notes.text(owner).value_or(std::string_view());
    while (!text.empty()) {
        const auto id = take_number<std::uint64_t>(text);
        if (!id || !text.starts_with('=')) break;
        text.remove_prefix(1);
        accounts[*id] = static_cast<double>(take_number<std::int64_t>(text).value_or(0)) / 1'000.0;
        if (text.starts_with(' ')) text.remove_prefix(1);
    }
    return accounts;
}

void EditSchedule::save_accounts(std::string_view owner, std::span<const EditOffer> offers, const Accounts& accounts) {
    if (turn_.config.dry_run) return;
    std::string text;
    for (const EditOffer& offer : offers) {
        const auto found = accounts.find(offer.id);
        if (found == accounts.end()) continue;
        text.append(text.empty() ? "" : " ").append(std::to_string(offer.id)).append("=");
        text.append(std::to_string(std::llround(found->second * 1'000.0)));
    }
    Notes notes = turn_.shared_notes(note_owner);
    if (!text.empty()) return notes.set(owner, std::move(text));
    if (notes.text(owner)) notes.erase(owner);
}

std::optional<std::size_t> EditSchedule::decide(std::span<const EditOffer> offers, std::int64_t total,
                                                TokensBetween tokens, std::string_view owner) {
    if (!is_new_) return std::nullopt;
    Accounts accounts = load_accounts(owner);
    for (const EditOffer& offer : offers) {
        const std::int64_t saved = offer.tokens_now - offer.tokens_then;
        if (saved > 0) accounts[offer.id] += rent_ * static_cast<double>(saved);
    }
    std::optional<std::size_t> first;
    if ((is_cold_ && total > cold_start_of(config_.start_tokens)) || (is_at_edge(total) && makes_room(offers))) {
        for (const EditOffer& offer : offers) first = std::min(first.value_or(offer.message), offer.message);
    } else if (total > config_.start_tokens) {
        first = find_best(offers, accounts, tokens);
    }
    if (first) {
        for (const EditOffer& offer : offers) {
            if (offer.message >= *first) accounts.erase(offer.id);
        }
    }
    save_accounts(owner, offers, accounts);
    return first;
}

std::optional<std::size_t> EditSchedule::find_best(std::span<const EditOffer> offers, const Accounts& accounts,
                                                   TokensBetween tokens) const {
    constexpr double of_calls_so_far = 1.0 / 3.0;  // may follow
    const CacheProfile& cache = turn_.config.profile.cache;
    const std::size_t size = turn_.outline().size();
    const auto behind = [&](std::size_t first) {
        return first < size ? static_cast<double>(tokens(first, size)) : 0.0;
    };
    EditCosts all{.once_more = cache.write - cache.read,
                  .rents_to_come = of_calls_so_far * std::max(call_ - config_.first_calls, 0) * rent_,
                  .unsent = behind(std::min(turn_.last_request_messages(), size))};
    VoidedThinking thinking(turn_, size);
    double best = 0.0;
    std::optional<std::size_t> found;
    std::vector<EditOffer> newest_first(offers.begin(), offers.end());
    std::ranges::stable_sort(newest_first, std::ranges::greater{}, &EditOffer::message);
    for (std::size_t i = 0; i < newest_first.size(); ++i) {
        const EditOffer& offer = newest_first[i];
        if (const auto account = accounts.find(offer.id); account != accounts.end()) all.rents += account->second;
        all.saved += static_cast<double>(offer.tokens_now - offer.tokens_then);
        if (i + 1 < newest_first.size() && newest_first[i + 1].message == offer.message) continue;
        all.behind = behind(offer.message) - all.saved;
        all.voided = thinking.behind(offer.message);
        const bool is_best = all.surplus() >= 0 && (!found || all.surplus() > best);
        if (!is_best || !all.is_paid_by_calls_to_come()) continue;
        best = all.surplus();
        found = offer.message;
    }
    return found;
}

}  // namespace whittle::inline v0
