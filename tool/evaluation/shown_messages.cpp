#include "shown_messages.hpp"

#include "characters.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::evaluation {

ShownMessages::ShownMessages(const SessionData& session)
    : session_(session),
      table_(&session.table),
      lead_(session.system_piece ? 1 : 0),
      tokens_before_{session.tools_tokens},
      states_(session.pieces.size()),
      shown_by_others_(session.probes.index.size()) {
    if (session.system_piece) push(*session.system_piece, invented, 0);
}

void ShownMessages::take(std::size_t call, const Request& request) {
    const std::size_t reply = session_.calls[call];
    const std::size_t keep = std::min(request.keep, pieces_.size() - lead_);
    std::vector<PieceId> tail;
    tail.reserve(request.rest.size());
    for (const SentMessage& sent : request.rest) tail.push_back(piece_of(sent));
    find_common(tail, keep);
    forget_tail();
    for (std::size_t i = common_ - lead_ - keep; i < tail.size(); ++i) push(tail[i], request.rest[i].recorded, reply);
    note_what_left(call);
    note_what_arrived(call);
    are_others_known_ = false;
}

PieceId ShownMessages::piece_of(const SentMessage& sent) {
    if (!sent.message) {
        if (sent.recorded < session_.pieces.size()) return session_.pieces[sent.recorded];
        throw Error(Errc::invalid_argument, fmt::format("evaluate a request: there is no recorded message {}",
                                                        static_cast<std::int64_t>(sent.recorded)));
    }
    if (const auto known = held_.find(sent.message.get()); known != held_.end()) return known->second.piece;
    const PieceId piece = table_.add(*sent.message);
    held_.emplace(sent.message.get(), Held{sent.message, piece});
    return piece;
}

PieceId ShownMessages::add_piece(const Message& message) {
    return piece_of({.recorded = SentMessage::unknown, .message = std::make_shared<const Message>(message)});
}

/// The first `keep` messages stay, `tail` follows.
void ShownMessages::find_common(std::span<const PieceId> tail, std::size_t keep) {
    const auto old = std::span<const PieceId>(pieces_).subspan(lead_ + keep);
    const auto [differs, instead] = std::ranges::mismatch(tail, old);
    common_ = lead_ + keep + static_cast<std::size_t>(differs - tail.begin());
    was_edited_ = common_ < pieces_.size();
    common_tokens_ = tokens_before_[common_];
    if (differs == tail.end() || instead == old.end()) return;
    const Piece& now = table_[*differs];
    const Piece& before = table_[*instead];
    if (have_same_head(*now.message, *before.message))
        common_tokens_ += whole_tokens(common_front(now.text, before.text));
}

void ShownMessages::forget_tail() {
    before_.clear();
    for (std::size_t place = common_; place < pieces_.size(); ++place) {
        const std::size_t recorded = recorded_[place];
        if (recorded == invented || !states_[recorded].is_whole) count_other(pieces_[place], false);
        if (recorded == invented) continue;
        before_.emplace_back(recorded, pieces_[place]);
        states_[recorded].piece.reset();
        states_[recorded].is_whole = false;
    }
    pieces_.resize(common_);
    recorded_.resize(common_);
    next_.resize(common_);
    tokens_before_.resize(common_ + 1);
}

/// `recorded`: what the strategy says of it; `reply`: where the recording ends for it.
void ShownMessages::push(PieceId piece, std::size_t recorded, std::size_t reply) {
    const std::size_t from = next_.empty() ? 0 : next_.back();
    const bool is_lead = pieces_.size() < lead_;
    if (!is_lead && recorded == SentMessage::unknown) recorded = original_of(piece, from);
    if (is_lead || recorded < from || recorded >= reply) recorded = invented;
    pieces_.push_back(piece);
    recorded_.push_back(recorded);
    next_.push_back(recorded == invented ? from : recorded + 1);
    tokens_before_.push_back(tokens_before_.back() + table_[piece].tokens);
    if (is_lead) return;
    if (recorded != invented) {
        states_[recorded].piece = piece;
        states_[recorded].is_whole = is_whole(piece, recorded);
    }
    if (recorded == invented || !states_[recorded].is_whole) count_other(piece, true);
}

/// The same message, or the one whose call or result it is.
std::size_t ShownMessages::original_of(PieceId piece, std::size_t from) const {
    if (const auto same = session_.by_piece.find(piece); same != session_.by_piece.end()) {
        const auto next = std::ranges::lower_bound(same->second, from);
        if (next != same->second.end()) return *next;
    }
    return first_named(*table_[piece].message);
}

std::size_t ShownMessages::first_named(const Message& message) const {
    const bool is_result = !message.result_of.empty();
    if (!is_result && message.calls.empty()) return invented;
    const auto& names = is_result ? session_.by_result : session_.by_call;
    const auto named = names.find(is_result ? message.result_of : message.calls.front().id);
    return named == names.end() ? invented : named->second;
}

bool ShownMessages::is_whole(PieceId piece, std::size_t recorded) const {
    const Piece& original = session_.piece(recorded);
    if (piece == session_.pieces[recorded]) return true;
    return table_[piece].role() == original.role() && table_[piece].text == original.text;
}

void ShownMessages::count_other(PieceId piece, bool is_added) {
    int& places = other_count_[piece];
    places += is_added ? 1 : -1;
    if (places != (is_added ? 1 : 0)) return;
    for (const Needle needle : needles_in(piece)) shown_by_others_[needle] += is_added ? 1 : -1;
}

const std::vector<Needle>& ShownMessages::needles_in(PieceId piece) {
    const auto [known, is_new] = needles_.try_emplace(piece);
    if (is_new) known->second = session_.probes.index.find_in(table_[piece].text);
    return known->second;
}

void ShownMessages::note_what_left(std::size_t call) {
    touched_.clear();
    for (const auto& [recorded, piece] : before_) {
        State& state = states_[recorded];
        if (state.piece != piece && !state.left) state.left = call;
        touched_.push_back(recorded);
    }
}

void ShownMessages::note_what_arrived(std::size_t call) {
    for (; arrived_to_ < session_.calls[call]; ++arrived_to_) {
        states_[arrived_to_].arrived = call;
        touched_.push_back(arrived_to_);
    }
}

std::optional<std::size_t> ShownMessages::calls_kept(std::size_t message) const {
    const State& state = states_[message];
    const std::size_t arrived = state.arrived.value_or(0);
    if (!state.left || *state.left <= arrived) return std::nullopt;
    return *state.left - arrived;
}

std::size_t ShownMessages::place_of(std::size_t message) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(next_, message) - next_.begin());
}

bool ShownMessages::shows(Needle needle) const {
    if (others_show(needle)) return true;
    const auto& all = session_.probes.occurrences[needle];
    const auto end = std::ranges::lower_bound(all, arrived_to_);
    return std::any_of(std::make_reverse_iterator(end), all.rend(),
                       [&](std::uint32_t message) { return states_[message].is_whole; });
}

const std::vector<PieceId>& ShownMessages::others() {
    if (are_others_known_) return others_;
    are_others_known_ = true;
    others_.clear();
    std::unordered_map<PieceId, bool> is_listed;
    for (std::size_t place = lead_; place < pieces_.size(); ++place) {
        const std::size_t recorded = recorded_[place];
        const bool is_other = recorded == invented || !states_[recorded].is_whole;
        if (is_other && is_listed.try_emplace(pieces_[place], true).second) others_.push_back(pieces_[place]);
    }
    return others_;
}

}  // namespace whittle::inline v0::evaluation
