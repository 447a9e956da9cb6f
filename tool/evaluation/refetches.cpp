#include "refetches.hpp"

#include "characters.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::int64_t output_of_read_back = 60;  // tokens
constexpr std::int64_t half_slice = 4'000;        // characters: 1,000 tokens to each side

double plain(std::int64_t tokens) { return static_cast<double>(tokens); }

}  // namespace

void Refetches::pay(std::size_t call, const Missing& missing, std::span<const Cached> cached) {
    call_ = call;
    drop_old(call);
    pay_for_kept(cached);
    std::vector<Fetched> done;
    for (const EditProbe* const edit : missing.edits) fetch_unless_kept(*edit, done);
    for (const Needle needle : missing.needles) fetch_unless_kept(needle, done);
    pay_for_new(done);
}

void Refetches::drop_old(std::size_t call) {
    std::erase_if(kept_, [&](const Fetched& fetched) { return fetched.until && *fetched.until <= call; });
}

/// It is cached where the cached part of the request covers its place.
void Refetches::pay_for_kept(std::span<const Cached> cached) {
    for (const Fetched& fetched : kept_) {
        const std::int64_t in_front = shown_.tokens_before()[shown_.place_of(fetched.place)];
        for (std::size_t p = 0; p < profiles_.size(); ++p) {
            const CacheProfile& cache = profiles_[p].cache;
            const bool is_cached = cached[p].best > 0 && cached[p].best + cache.prefix_step_tokens >= in_front;
            const double rate = shown_.total() < cache.min_prefix_tokens ? 1.0 : is_cached ? cache.read : cache.write;
            money_[p] += rate * plain(fetched.tokens);
        }
    }
}

bool Refetches::holds(const Fetched& fetched, Needle needle) const {
    if (fetched.source == Source::object) return session_.probes.index.holds(fetched.slice, needle);
    return std::ranges::binary_search(session_.probes.occurrences[needle], fetched.message);
}

bool Refetches::holds(const Fetched& fetched, const EditProbe& edit) const {
    if (fetched.source == Source::object) return CopiedText(fetched.slice).holds(edit.old_text);
    return std::ranges::binary_search(edit.messages, fetched.message);
}

/// One fetch for each source; more slices of one object come with its first one.
template <typename Need>
void Refetches::fetch_unless_kept(const Need& need, std::vector<Fetched>& done) {
    if (std::ranges::any_of(kept_, [&](const Fetched& kept) { return holds(kept, need); })) return;
    const auto found = object_with(need);
    Fetched fetched = found ? from_object(found->object, need) : from_call(need);
    const auto same = std::ranges::find_if(done, [&](const Fetched& f) {
        if ((f.source == Source::object) != found.has_value()) return false;
        return found ? f.object == found->object : f.message == fetched.message;
    });
    if (same == done.end()) {
        if (found && found->named_in) read_first(*found->named_in, fetched.message, done);
        done.push_back(std::move(fetched));
    } else if (!holds(*same, need)) {
        same->slice += "\n" + fetched.slice;
        same->tokens += fetched.tokens;
    }
}

/// Of the object that names the one with what is needed, unless it has been read.
void Refetches::read_first(ObjectId object, std::size_t message, std::vector<Fetched>& done) const {
    const auto is_read = [&](const Fetched& f) { return f.source == Source::object && f.object == object; };
    if (std::ranges::any_of(kept_, is_read) || std::ranges::any_of(done, is_read)) return;
    done.push_back(slice_of_object(object, message, 0, 0));
}

void Refetches::pay_for_new(std::vector<Fetched>& done) {
    std::int64_t request = shown_.total();
    for (const Fetched& kept : kept_) request += kept.tokens;
    for (Fetched& fetched : done) {
        const std::int64_t added = fetched.tokens + fetched.output;
        for (std::size_t p = 0; p < profiles_.size(); ++p) {
            const CacheProfile& cache = profiles_[p].cache;
            const double known = request < cache.min_prefix_tokens ? cache.write : cache.read;
            money_[p] += request + added < cache.min_prefix_tokens
                             ? plain(request + added)
                             : known * plain(request) + cache.write * plain(added);
            money_[p] += profiles_[p].output * plain(fetched.output);
        }
        request += added;
        fetched.tokens += fetched.output;
        ++(fetched.source == Source::object ? recovered_ : fetched.source == Source::tool ? rerun_ : asked_);
        kept_.push_back(std::move(fetched));
    }
}

/// What stands in place of one of `messages` names it most likely; then any other changed message; then an object that
/// one of these names.
template <typename Messages, typename Holds>
std::optional<Refetches::Found> Refetches::find_object(const Messages& messages, Holds holds) {
    if (!objects_.has_storage()) return std::nullopt;
    std::vector<ObjectId> named;
    std::unordered_set<ObjectId> is_asked;
    const auto holder_named_by = [&](PieceId piece) -> std::optional<ObjectId> {
        for (const ObjectId object : objects_.named_by(piece, shown_.table()[piece])) {
            if (!is_asked.insert(object).second) continue;
            if (holds(object)) return object;
            named.push_back(object);
        }
        return std::nullopt;
    };
    for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
        const auto variant = shown_.variant_of(*message);
        if (!variant || shown_.is_shown_whole(*message)) continue;
        if (const auto object = holder_named_by(*variant)) return Found{*object};
    }
    for (const PieceId piece : shown_.others()) {
        if (const auto object = holder_named_by(piece)) return Found{*object};
    }
    for (const ObjectId first : named) {
        for (const ObjectId object : objects_.named_in(first)) {
            if (is_asked.insert(object).second && holds(object)) return Found{object, first};
        }
    }
    return std::nullopt;
}

std::optional<Refetches::Found> Refetches::object_with(Needle needle) {
    if (!stored_.hold_needle(needle)) return std::nullopt;
    return find_object(session_.probes.occurrences[needle],
                       [&](ObjectId object) { return objects_.holds(object, needle); });
}

std::optional<Refetches::Found> Refetches::object_with(const EditProbe& edit) {
    return find_object(edit.messages, [&](ObjectId object) { return objects_.holds_copy(object, edit.old_text); });
}

std::optional<std::size_t> Refetches::newest_with(Needle needle, Role role) const {
    const auto& all = session_.probes.occurrences[needle];
    const auto end = std::ranges::lower_bound(all, session_.calls[call_]);
    const auto newest = std::find_if(std::make_reverse_iterator(end), all.rend(),
                                     [&](std::uint32_t message) { return session_.piece(message).role() == role; });
    return newest == all.rend() ? std::nullopt : std::optional<std::size_t>(*newest);
}

Refetches::Fetched Refetches::from_object(ObjectId object, Needle needle) const {
    const std::size_t newest = std::max(newest_with(needle, Role::tool).value_or(0),  //
                                        newest_with(needle, Role::user).value_or(0));
    const NeedleIndex& index = session_.probes.index;
    return slice_of_object(object, newest, index.position_in(objects_.content(object), needle),
                           count_characters(index.text(needle)));
}

/// Line numbers stand in front of its lines, or an object has it escaped: its longest line says where it is.
Refetches::Fetched Refetches::from_object(ObjectId object, const EditProbe& edit) const {
    std::string_view longest;
    for (const std::string_view line : lines_of(edit.old_text))
        if (line.size() > longest.size()) longest = line;
    const auto in_front = static_cast<std::size_t>(longest.data() - edit.old_text.data());
    const std::string& content = objects_.content(object);
    std::size_t at = content.find(longest);
    if (at == std::string::npos) at = content.find(json_escaped(longest));
    if (at != std::string::npos) at -= std::min(at, in_front);
    return slice_of_object(object, edit.messages.back(), at, count_characters(edit.old_text));
}

/// 2,000 tokens around the `characters` at `at`, or these if they are more.
Refetches::Fetched Refetches::slice_of_object(ObjectId object, std::size_t message, std::size_t at,
                                              std::int64_t characters) const {
    const std::size_t first = session_.by_piece.at(session_.pieces[message]).front();
    const std::string_view text = objects_.content(object);
    const std::int64_t found = at == std::string_view::npos ? 0 : count_characters(text.substr(0, at));
    const std::int64_t length = std::max(2 * half_slice, characters);
    const std::int64_t last_begin = count_characters(text) - length;
    const std::int64_t begin = std::max<std::int64_t>(0, std::min(found - (length - characters) / 2, last_begin));
    Fetched fetched{.source = Source::object, .object = object, .message = first};
    fetched.slice = first_characters(text.substr(first_characters(text, begin).size()), length);
    fetched.tokens = tokens_of_characters(count_characters(fetched.slice));
    fetched.output = output_of_read_back;
    fetched.place = session_.calls[call_];
    fetched.until = calls_kept(first);
    return fetched;
}

/// The first call without it again.
std::optional<std::size_t> Refetches::calls_kept(std::size_t message) const {
    const auto calls = shown_.calls_kept(message);
    return calls ? std::optional(call_ + *calls) : std::nullopt;
}

Refetches::Fetched Refetches::from_call(Needle needle) const {
    const auto of_tool = newest_with(needle, Role::tool);
    return of_tool ? whole_message(*of_tool, Source::tool)
                   : whole_message(newest_with(needle, Role::user).value_or(0), Source::user);
}

/// What the agent has written itself is read where it wrote it: as much as of an object.
Refetches::Fetched Refetches::from_call(const EditProbe& edit) const {
    for (const Role role : {Role::tool, Role::user}) {
        const auto newest = std::find_if(edit.messages.rbegin(), edit.messages.rend(),
                                         [&](std::uint32_t message) { return session_.piece(message).role() == role; });
        if (newest != edit.messages.rend())
            return whole_message(*newest, role == Role::tool ? Source::tool : Source::user);
    }
    Fetched fetched = whole_message(edit.messages.back(), Source::tool);
    fetched.output = output_of_read_back;
    fetched.tokens = tokens_of_characters(std::max(2 * half_slice, count_characters(edit.old_text)));
    return fetched;
}

Refetches::Fetched Refetches::whole_message(std::size_t message, Source source) const {
    Fetched fetched{.source = source, .message = message};
    fetched.tokens = tokens_of_characters(session_.piece(message).characters);
    fetched.output = output_of_call(message);
    fetched.place = session_.calls[call_];
    fetched.until = calls_kept(message);
    return fetched;
}

/// The call again, by its share of the reply that made it.
std::int64_t Refetches::output_of_call(std::size_t result) const {
    const auto call = session_.by_call.find(session_.input.messages[result].result_of);
    if (call == session_.by_call.end()) return output_of_read_back;
    const Piece& reply = session_.piece(call->second);
    return std::max(output_of_read_back, reply.tokens / static_cast<std::int64_t>(reply.message->calls.size()));
}

}  // namespace whittle::inline v0::evaluation
