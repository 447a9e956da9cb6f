#include "characters.hpp"
#include "ledger.hpp"
#include "refetches.hpp"
#include "session_data.hpp"
#include "shown_messages.hpp"
#include "stored_texts.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::evaluation {
namespace {

std::vector<CostProfile> profiles_of(const RunOptions& options) {
    if (!options.profiles.empty()) return options.profiles;
    const auto all = cost_profiles();
    return {all.begin(), all.end()};
}

std::size_t index_of(ProbeKind kind) noexcept { return static_cast<std::size_t>(kind); }

std::size_t index_of_age(std::size_t calls) noexcept {
    constexpr std::size_t recent_to = 10;
    constexpr std::size_t middle_to = 50;
    return static_cast<std::size_t>(calls <= recent_to ? Age::recent : calls <= middle_to ? Age::middle : Age::old);
}

std::size_t index_of_edit_age(std::size_t calls) noexcept {
    constexpr std::array<std::size_t, edit_ages - 1> up_to{5, 10, 30};
    return static_cast<std::size_t>(std::ranges::lower_bound(up_to, calls) - up_to.begin());
}

}  // namespace

class Run::Impl {
public:
    Impl(const Session& session, const RunOptions& options);

    void send(std::size_t call, const Request& request);
    Figures finish();

private:
    struct Removed {
        bool ever = false;
        bool always_restorable = true;
    };

    /// Of a request, with everything and as it is sent.
    struct Sizes {
        RequestTokens raw{};
        RequestTokens sent{};
    };

    void check_order(std::size_t call) const;
    void pay_aside(std::size_t call, const SideCall& side);
    [[nodiscard]] bool is_counted(std::size_t call) const { return !std::ranges::binary_search(uncounted_, call); }
    [[nodiscard]] Sizes fill_caches(std::size_t call);
    void account(std::size_t call, const Sizes& sizes);
    void pay_refetches(std::size_t call, std::span<const Cached> cached);
    void list_call(std::size_t call, const Sizes& sizes, std::span<const double> refetches_before);
    void compare_with_previous();
    void look_at_newest(std::size_t call);
    void look_at_newest_result(std::size_t message);
    void look_at_removed(std::size_t call);
    void check_errors(std::size_t call);
    void check_artifacts(std::size_t call);
    void check_users(std::size_t call);
    [[nodiscard]] std::vector<Needle> check_actions(std::size_t call);
    [[nodiscard]] std::vector<const EditProbe*> check_edits(std::size_t call);
    [[nodiscard]] bool others_have(const std::string& old_text);
    bool check_probe(ProbeKind kind, Needle needle, std::size_t age);
    void count(ProbeKind kind, std::size_t age, bool is_visible, bool is_recoverable);
    [[nodiscard]] bool is_restorable(std::size_t message);
    [[nodiscard]] bool stands_elsewhere(std::size_t message, std::string_view text);
    [[nodiscard]] std::size_t turn_of(std::size_t call) const { return data_.turns[data_.calls[call]]; }

    const SessionData& data_;
    std::vector<CostProfile> profiles_;
    std::int64_t window_;
    std::vector<std::size_t> uncounted_;
    bool lists_calls_;
    ShownMessages shown_;
    NamedObjects objects_;
    StoredTexts stored_;
    PrefixTree sent_cache_;
    PrefixTree raw_cache_;
    std::vector<PieceId> raw_pieces_{};  // of all requests, if everything is sent
    std::vector<std::int64_t> raw_before_{};
    std::size_t raw_sent_ = 0;  // of these, in the request before
    Refetches refetches_;
    Refetches line_refetches_;  // as if single lines were enough for an edit
    Ledger ledger_;
    Figures figures_{};
    std::optional<std::size_t> last_call_{};
    std::int64_t last_total_ = 0;
    std::size_t oldest_error_ = 0;  // those before are not asked any more
    std::vector<Removed> removed_;  // by message
    std::vector<bool> was_whole_;   // by message: in some request
    std::unordered_map<PieceId, std::vector<std::string>> copied_{};
};

Run::Impl::Impl(const Session& session, const RunOptions& options)
    : data_(*session.data_),
      profiles_(profiles_of(options)),
      window_(options.window),
      uncounted_(options.uncounted),
      lists_calls_(options.lists_calls),
      shown_(data_),
      objects_(options.storage, data_.probes.index),
      stored_(data_, shown_, objects_),
      sent_cache_(shown_.table(), profiles_, data_.system_piece.has_value()),
      raw_cache_(data_.table, profiles_, data_.system_piece.has_value()),
      refetches_(data_, shown_, objects_, stored_, profiles_),
      line_refetches_(data_, shown_, objects_, stored_, profiles_),
      ledger_(profiles_),
      removed_(data_.pieces.size()),
      was_whole_(data_.pieces.size()) {
    if (data_.system_piece) raw_pieces_.push_back(*data_.system_piece);
    raw_pieces_.insert(raw_pieces_.end(), data_.pieces.begin(), data_.pieces.end());
    raw_before_.push_back(data_.tools_tokens);
    for (const PieceId piece : raw_pieces_) raw_before_.push_back(raw_before_.back() + data_.table[piece].tokens);
}

void Run::Impl::check_order(std::size_t call) const {
    if (call < data_.calls.size() && (!last_call_ || call > *last_call_)) return;
    throw Error(Errc::invalid_argument, fmt::format("evaluate session {}: call {} of {} is out of order",
                                                    data_.input.id, call, data_.calls.size()));
}

void Run::Impl::send(std::size_t call, const Request& request) {
    check_order(call);
    if (data_.calls[call] == 0) return;  // nothing was said before
    const bool counts = is_counted(call);
    if (counts) {
        for (const SideCall& side : request.side_calls) pay_aside(call, side);
    }
    shown_.take(call, request);
    stored_.forget_names();
    const Sizes sizes = fill_caches(call);
    if (counts) account(call, sizes);
    look_at_removed(call);
    const std::vector<double> refetches_before = lists_calls_ ? refetches_.money() : std::vector<double>{};
    if (counts) {
        look_at_newest(call);
        pay_refetches(call, sizes.sent.cached);
        check_errors(call);
        const bool is_last = call + 1 == data_.calls.size();
        if (is_last || (last_call_ && shown_.was_edited())) check_artifacts(call);
        check_users(call);
    }
    if (lists_calls_) list_call(call, sizes, refetches_before);
    last_call_ = call;
    last_total_ = shown_.total();
}

void Run::Impl::pay_aside(std::size_t call, const SideCall& side) {
    std::vector<PieceId> pieces;
    if (side.shares_prefix && data_.system_piece) pieces.push_back(*data_.system_piece);
    for (const Message& message : side.messages) pieces.push_back(shown_.add_piece(message));
    std::vector<std::int64_t> before{side.shares_prefix ? data_.tools_tokens : 0};
    for (const PieceId piece : pieces) before.push_back(before.back() + shown_.table()[piece].tokens);
    RequestTokens tokens{.total = before.back(), .cached = std::vector<Cached>(profiles_.size())};
    if (side.shares_prefix) tokens.cached = sent_cache_.add_aside({pieces, before, data_.call_seconds[call]});
    const std::int64_t reply = tokens_of_characters(count_characters(side.reply));
    ledger_.add_aside(tokens, reply);
    ++figures_.side_calls;
    figures_.side_tokens += tokens.total + reply;
}

Run::Impl::Sizes Run::Impl::fill_caches(std::size_t call) {
    const double now = data_.call_seconds[call];
    const std::size_t raw_count = data_.calls[call] + (data_.system_piece ? 1 : 0);
    const auto raw_before = std::span<const std::int64_t>(raw_before_).first(raw_count + 1);
    const auto raw_pieces = std::span<const PieceId>(raw_pieces_).first(raw_count);
    Sizes sizes{{raw_before.back(), raw_cache_.add({raw_pieces, raw_before, now, raw_sent_})},
                {shown_.total(), sent_cache_.add({shown_.pieces(), shown_.tokens_before(), now, shown_.common()})}};
    raw_sent_ = raw_count;
    return sizes;
}

void Run::Impl::account(std::size_t call, const Sizes& sizes) {
    const auto& [raw, sent] = sizes;
    ledger_.add_call(raw, sent, data_.piece(data_.calls[call]).tokens);
    ++figures_.calls;
    figures_.raw += raw.total;
    figures_.sent += sent.total;
    figures_.peak_raw = std::max(figures_.peak_raw, raw.total);
    figures_.peak_sent = std::max(figures_.peak_sent, sent.total);
    figures_.over_window_raw += raw.total > window_ ? 1 : 0;
    figures_.faults.over_window += sent.total > window_ ? 1 : 0;
    figures_.faults.larger_than_raw += sent.total > raw.total ? 1 : 0;
    if (last_call_) compare_with_previous();
}

void Run::Impl::pay_refetches(std::size_t call, std::span<const Cached> cached) {
    const std::vector<Needle> needles = check_actions(call);
    const std::vector<const EditProbe*> edits = check_edits(call);
    refetches_.pay(call, {.needles = needles, .edits = edits}, cached);
    line_refetches_.pay(call, {.needles = needles, .edits = {}}, cached);
}

void Run::Impl::list_call(std::size_t call, const Sizes& sizes, std::span<const double> refetches_before) {
    CallFigures& listed = figures_.by_call.emplace_back();
    listed = {.call = call,
              .is_counted = is_counted(call),
              .raw = sizes.raw.total,
              .sent = sizes.sent.total,
              .cached_raw = sizes.raw.cached.front().best,
              .cached_sent = sizes.sent.cached.front().best};
    listed.costs.resize(profiles_.size());
    if (!listed.is_counted) return;
    for (std::size_t p = 0; p < profiles_.size(); ++p)
        listed.costs[p] = {.raw = ledger_.last_raw(p),
                           .sent = ledger_.last_sent(p),
                           .refetches = refetches_.money()[p] - refetches_before[p]};
}

void Run::Impl::compare_with_previous() {
    constexpr std::int64_t slack = 64;
    const std::int64_t invalidated = last_total_ - shown_.common_tokens();
    ++figures_.steps;
    figures_.commits += shown_.was_edited() ? 1 : 0;
    if (invalidated <= slack) return;
    ++figures_.resets;
    figures_.invalidated += invalidated;
    figures_.deep_resets += 2 * invalidated > last_total_ ? 1 : 0;
}

void Run::Impl::look_at_newest(std::size_t call) {
    const std::size_t reply = data_.calls[call];
    std::size_t first = reply;
    while (first > 0 && data_.piece(first - 1).role() != Role::assistant) --first;
    if (first > 0 && !data_.piece(first - 1).message->calls.empty() && !shown_.is_shown_whole(first - 1))
        ++figures_.faults.newest_call_changed;
    for (std::size_t message = first; message < reply; ++message) {
        if (data_.piece(message).role() == Role::tool) look_at_newest_result(message);
    }
    const auto& users = data_.probes.users;
    const auto behind = std::ranges::lower_bound(users, reply, {}, &Occurrence::message);
    if (behind == users.begin()) return;
    const auto& [message, needle] = *(behind - 1);
    if (!shown_.is_shown_whole(message) && !shown_.others_show(needle)) ++figures_.faults.newest_user_changed;
}

void Run::Impl::look_at_newest_result(std::size_t message) {
    constexpr std::int64_t enough = 64;
    const Piece& piece = data_.piece(message);
    figures_.arrived += piece.characters;
    std::int64_t shown = shown_.is_shown_whole(message) ? piece.characters : 0;
    if (const auto variant = shown_.variant_of(message); variant && shown == 0) {
        const std::string& text = shown_.table()[*variant].text;
        shown = common_front(piece.text, text);
        const auto rest_of = [&](const std::string& whole) {
            return std::string_view(whole).substr(first_characters(whole, shown).size());
        };
        shown += common_end(rest_of(piece.text), rest_of(text));
    }
    figures_.arrived_shown += shown;
    if (shown_.is_shown_whole(message) || shown >= std::min(enough, (piece.characters + 1) / 2)) return;
    ++(stored_.hold(message) ? figures_.faults.newest_result_hidden : figures_.faults.newest_result_dropped);
}

/// Of what goes, everything stands elsewhere in the request or in a named object.
void Run::Impl::look_at_removed(std::size_t call) {
    for (const std::size_t message : shown_.touched()) {
        if (message >= data_.calls[call]) continue;
        if (shown_.is_shown_whole(message)) {
            was_whole_[message] = true;
            continue;
        }
        Removed& removed = removed_[message];
        removed.ever = true;
        if (objects_.has_storage()) removed.always_restorable = removed.always_restorable && is_restorable(message);
    }
}

bool Run::Impl::is_restorable(std::size_t message) {
    const auto is_there = [&](const std::string& text, std::size_t) { return stands_elsewhere(message, text); };
    return all_texts(*data_.piece(message).message, is_there) || stored_.hold(message);
}

bool Run::Impl::stands_elsewhere(std::size_t message, std::string_view text) {
    const auto in = [&](PieceId piece) { return shown_.table()[piece].text.find(text) != std::string::npos; };
    const auto variant = shown_.variant_of(message);
    return variant ? in(*variant) : std::ranges::any_of(shown_.others(), in);
}

void Run::Impl::count(ProbeKind kind, std::size_t age, bool is_visible, bool is_recoverable) {
    ProbeCount& row = figures_.probes[index_of(kind)][index_of_age(age)];
    ++row.needed;
    ++(is_visible ? row.visible : is_recoverable ? row.recoverable : row.lost);
}

bool Run::Impl::check_probe(ProbeKind kind, Needle needle, std::size_t age) {
    const bool is_visible = shown_.shows(needle);
    count(kind, age, is_visible, !is_visible && stored_.hold_needle(needle));
    return is_visible;
}

/// Returns what is missing.
std::vector<Needle> Run::Impl::check_actions(std::size_t call) {
    std::vector<Needle> missing;
    for (const Probe& probe : data_.probes.of_call[call]) {
        if (!check_probe(probe.kind, probe.needle, probe.age)) missing.push_back(probe.needle);
    }
    return missing;
}

/// For ten calls.
void Run::Impl::check_errors(std::size_t call) {
    constexpr std::size_t calls_asked = 10;
    const auto& errors = data_.probes.errors;
    const auto age_of = [&](const Occurrence& error) { return turn_of(call) - data_.turns[error.message]; };
    while (oldest_error_ < errors.size() && errors[oldest_error_].message < data_.calls[call] &&
           age_of(errors[oldest_error_]) > calls_asked)
        ++oldest_error_;
    for (std::size_t e = oldest_error_; e < errors.size() && errors[e].message < data_.calls[call]; ++e)
        check_probe(ProbeKind::error, errors[e].needle, age_of(errors[e]));
}

void Run::Impl::check_artifacts(std::size_t call) {
    for (const Artifact& artifact : data_.probes.artifacts) {
        const auto behind = std::ranges::lower_bound(artifact.writes, data_.calls[call]);
        if (behind == artifact.writes.begin()) continue;
        check_probe(ProbeKind::artifact, artifact.needle, turn_of(call) - data_.turns[*(behind - 1)]);
    }
}

void Run::Impl::check_users(std::size_t call) {
    for (const auto& [message, needle] : data_.probes.users) {
        if (message >= data_.calls[call]) return;
        const bool is_visible = shown_.is_shown_whole(message) || shown_.others_show(needle);
        count(ProbeKind::constraint, turn_of(call) - data_.turns[message], is_visible,
              !is_visible && stored_.hold(message));
    }
}

/// In a changed message, or one that a strategy made up.
bool Run::Impl::others_have(const std::string& old_text) {
    return std::ranges::any_of(shown_.others(), [&](PieceId piece) {
        const auto [known, is_new] = copied_.try_emplace(piece);
        if (is_new) known->second = copied_texts(*shown_.table()[piece].message);
        return std::ranges::any_of(known->second,
                                   [&](const std::string& text) { return text.find(old_text) != std::string::npos; });
    });
}

/// Returns those whose old text is not whole.
std::vector<const EditProbe*> Run::Impl::check_edits(std::size_t call) {
    std::vector<const EditProbe*> missing;
    for (const EditProbe& edit : data_.edits[call]) {
        const auto any = [&](auto&& is) { return std::ranges::any_of(edit.messages, is); };
        EditCount& row = figures_.edits[index_of_edit_age(edit.age)];
        ++row.needed;
        if (any([&](std::uint32_t m) { return shown_.is_shown_whole(m); }) || others_have(edit.old_text)) {
            ++row.possible;
            continue;
        }
        missing.push_back(&edit);
        if (!any([&](std::uint32_t m) { return was_whole_[m]; })) {
            ++row.cut_on_arrival;
        } else if (refetches_.object_with(edit)) {
            ++row.recoverable;
        }
    }
    return missing;
}

Figures Run::Impl::finish() {
    figures_.session = data_.input.id;
    figures_.source = data_.input.source;
    figures_.kind = data_.input.kind;
    figures_.size = data_.size;
    figures_.refetches_from_store = refetches_.recovered();
    figures_.refetches_by_rerun = refetches_.rerun();
    figures_.refetches_from_user = refetches_.asked();
    for (const Removed& removed : removed_) {
        figures_.removed_messages += removed.ever ? 1 : 0;
        figures_.faults.messages_not_restorable += removed.ever && !removed.always_restorable ? 1 : 0;
    }
    figures_.money = ledger_.finish(refetches_.money(), line_refetches_.money());
    return figures_;
}

Run::Run(const Session& session, const RunOptions& options) : impl_(std::make_unique<Impl>(session, options)) {}
Run::~Run() = default;
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
void Run::send(std::size_t call, const Request& request) { impl_->send(call, request); }
Figures Run::finish() { return impl_->finish(); }

}  // namespace whittle::inline v0::evaluation
