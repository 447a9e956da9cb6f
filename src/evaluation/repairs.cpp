#include "repairs.hpp"

#include "characters.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::int64_t output_of_read_back = 60;  // tokens
constexpr std::int64_t half_slice = 4'000;        // characters: 1,000 tokens to each side

double plain(std::int64_t tokens) { return static_cast<double>(tokens); }

}  // namespace

void Repairs::pay(std::size_t call, std::span<const Needle> missing, std::span<const Cached> cached) {
    call_ = call;
    drop_old(call);
    pay_for_kept(cached);
    std::vector<Fetched> done;
    for (const Needle needle : missing) {
        if (std::ranges::none_of(kept_, [&](const Fetched& f) { return holds(f, needle); })) fetch(needle, done);
    }
    pay_for_new(done);
}

void Repairs::drop_old(std::size_t call) {
    std::erase_if(kept_, [&](const Fetched& fetched) { return fetched.until && *fetched.until <= call; });
}

/// It is cached where the cached part of the request covers its place.
void Repairs::pay_for_kept(std::span<const Cached> cached) {
    for (const Fetched& fetched : kept_) {
        const std::int64_t in_front = shown_.tokens_before()[shown_.place_of(fetched.place)];
        for (std::size_t p = 0; p < profiles_.size(); ++p) {
            const CacheProfile& cache = profiles_[p].cache;
            const bool is_cached = cached[p].best > 0 && cached[p].best + cache.step >= in_front;
            const double rate = shown_.total() < cache.minimum ? 1.0 : is_cached ? cache.read : cache.write;
            money_[p] += rate * plain(fetched.tokens);
        }
    }
}

bool Repairs::holds(const Fetched& fetched, Needle needle) const {
    if (fetched.source == Source::object) return session_.probes.index.holds(fetched.slice, needle);
    return std::ranges::binary_search(session_.probes.occurrences[needle], fetched.message);
}

/// One fetch for each source; more slices of one object come with its first one.
void Repairs::fetch(Needle needle, std::vector<Fetched>& done) {
    const auto object = object_with(needle);
    Fetched fetched = object ? from_object(*object, needle) : from_call(needle);
    const auto same = std::ranges::find_if(done, [&](const Fetched& f) {
        if ((f.source == Source::object) != object.has_value()) return false;
        return object ? f.object == *object : f.message == fetched.message;
    });
    if (same == done.end()) {
        done.push_back(std::move(fetched));
    } else if (!holds(*same, needle)) {
        same->slice += "\n" + fetched.slice;
        same->tokens += fetched.tokens;
    }
}

void Repairs::pay_for_new(std::vector<Fetched>& done) {
    std::int64_t request = shown_.total();
    for (const Fetched& kept : kept_) request += kept.tokens;
    for (Fetched& fetched : done) {
        const std::int64_t added = fetched.tokens + fetched.output;
        for (std::size_t p = 0; p < profiles_.size(); ++p) {
            const CacheProfile& cache = profiles_[p].cache;
            const double known = request < cache.minimum ? cache.write : cache.read;
            money_[p] += request + added < cache.minimum ? plain(request + added)
                                                         : known * plain(request) + cache.write * plain(added);
            money_[p] += profiles_[p].output * plain(fetched.output);
        }
        request += added;
        fetched.tokens += fetched.output;
        ++(fetched.source == Source::object ? recovered_ : fetched.source == Source::tool ? rerun_ : asked_);
        kept_.push_back(std::move(fetched));
    }
}

/// What stands in its place names it most likely; then any other changed message.
std::optional<ObjectId> Repairs::object_with(Needle needle) {
    if (!objects_.has_storage()) return std::nullopt;
    const auto named_by = [&](PieceId piece) -> std::optional<ObjectId> {
        for (const ObjectId object : objects_.named_by(piece, shown_.table()[piece])) {
            if (objects_.holds(object, needle)) return object;
        }
        return std::nullopt;
    };
    const auto& all = session_.probes.occurrences[needle];
    for (auto message = all.rbegin(); message != all.rend(); ++message) {
        const auto variant = shown_.variant_of(*message);
        if (!variant || shown_.is_shown_whole(*message)) continue;
        if (const auto object = named_by(*variant)) return object;
    }
    for (const PieceId piece : shown_.others()) {
        if (const auto object = named_by(piece)) return object;
    }
    return std::nullopt;
}

std::optional<std::size_t> Repairs::newest_with(Needle needle, Role role) const {
    const auto& all = session_.probes.occurrences[needle];
    const auto end = std::ranges::lower_bound(all, session_.calls[call_]);
    const auto newest = std::find_if(std::make_reverse_iterator(end), all.rend(),
                                     [&](std::uint32_t message) { return session_.piece(message).role() == role; });
    return newest == all.rend() ? std::nullopt : std::optional<std::size_t>(*newest);
}

Repairs::Fetched Repairs::from_object(ObjectId object, Needle needle) const {
    const std::size_t newest = std::max(newest_with(needle, Role::tool).value_or(0),  //
                                        newest_with(needle, Role::user).value_or(0));
    const std::size_t first = session_.by_piece.at(session_.pieces[newest]).front();
    Fetched fetched{.source = Source::object, .object = object, .message = first, .slice = slice_of(object, needle)};
    fetched.tokens = tokens_of_characters(count_characters(fetched.slice));
    fetched.output = output_of_read_back;
    fetched.place = session_.calls[call_];
    if (const auto calls = shown_.calls_kept(first)) fetched.until = call_ + *calls;
    return fetched;
}

/// 2,000 tokens around it.
std::string Repairs::slice_of(ObjectId object, Needle needle) const {
    const std::string_view text = objects_.content(object);
    const std::size_t found = session_.probes.index.position_in(text, needle);
    const std::int64_t at = found == std::string_view::npos ? 0 : count_characters(text.substr(0, found));
    const std::int64_t last_begin = count_characters(text) - 2 * half_slice;
    const std::int64_t begin = std::max<std::int64_t>(0, std::min(at - half_slice, last_begin));
    const std::int64_t length = std::max(2 * half_slice, count_characters(session_.probes.index.text(needle)));
    return std::string(first_characters(text.substr(first_characters(text, begin).size()), length));
}

Repairs::Fetched Repairs::from_call(Needle needle) const {
    const auto of_tool = newest_with(needle, Role::tool);
    const std::size_t message = of_tool ? *of_tool : newest_with(needle, Role::user).value_or(0);
    Fetched fetched{.source = of_tool ? Source::tool : Source::user, .message = message};
    fetched.tokens = tokens_of_characters(session_.piece(message).characters);
    fetched.output = output_of_call(message);
    fetched.place = session_.calls[call_];
    if (const auto calls = shown_.calls_kept(message)) fetched.until = call_ + *calls;
    return fetched;
}

/// The call again, by its share of the reply that made it.
std::int64_t Repairs::output_of_call(std::size_t result) const {
    const auto call = session_.by_call.find(session_.input.messages[result].result_of);
    if (call == session_.by_call.end()) return output_of_read_back;
    const Piece& reply = session_.piece(call->second);
    return std::max(output_of_read_back, reply.tokens / static_cast<std::int64_t>(reply.message->calls.size()));
}

}  // namespace whittle::inline v0::evaluation
