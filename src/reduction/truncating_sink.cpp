#include "truncating_sink.hpp"
#include "whittle/base/detail/graphemes.hpp"

#include "whittle/base/event.hpp"
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/conversation/detail/stored_parts.hpp"
#include "whittle/reduction/detail/truncation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

TruncatingSink::TruncatingSink(const ToolContext& context, TruncationLimits limits, PartSink& out)
    : context_(context), limits_(std::move(limits)), out_(out) {}

void TruncatingSink::write(std::string_view text) {
    if (!continues_) {
        const auto limit = static_cast<std::size_t>(limits_.max_bytes);
        const HeldTextLimits held{static_cast<std::size_t>(limits_.max_unstored),
                                  limit / 2 + longest_character + look_back_bytes, limit,
                                  static_cast<std::size_t>(limits_.max_held)};
        items_.push_back({.written = std::make_unique<HeldText>(held, limits_.storage)});
        continues_ = true;
    }
    items_.back().written->append(text);
    if (!head_is_out_ && is_streaming()) pass_head();
}

void TruncatingSink::push(Part part) {
    continues_ = false;
    items_.push_back({.part = std::move(part)});
}

void TruncatingSink::mark_stored(StoredPart stored) {
    if (items_.empty()) throw Error(Errc::invalid_argument, "say what is stored: there is no part yet");
    items_.back().stored.push_back(std::move(stored));
}

namespace {

/// What the first `most` bytes begin with, whatever follows what is known of them. The last cluster may go on, so it
/// waits where the cut could come back to it.
std::string_view settled_head(std::string_view known, std::size_t most) noexcept {
    if (known.empty() || known.size() > most || most - known.size() >= most_moved_bytes)
        return grapheme_prefix(known, most);
    return grapheme_prefix(known, known.size() - 1);
}

}  // namespace

/// What stays in any case need not wait: half of the limit, and in tokens no token is shorter than a byte.
void TruncatingSink::pass_head() {
    const std::string& front = items_.front().front();
    std::int64_t limit = limits_.max_bytes / 2;
    if (limits_.max_tokens > 0) limit = std::min(limit, limits_.max_tokens / 2);
    const auto most = static_cast<std::size_t>(limit);
    std::string_view ready = settled_head(without_incomplete_utf8(front), most);
    ready.remove_prefix(std::min(passed_, ready.size()));
    if (limits_.head_lines > 0) ready = first_lines(ready, limits_.head_lines - passed_lines_);
    passed_ += ready.size();
    passed_lines_ += limits_.head_lines > 0 ? count_line_feeds(ready) : 0;
    head_is_out_ =
        front.size() >= most + longest_character || (passed_lines_ > 0 && passed_lines_ == limits_.head_lines);
    if (!ready.empty()) out_.write(to_valid_utf8(ready));
}

std::string_view TruncatingSink::head_of(std::string_view front, std::size_t most) const noexcept {
    const std::string_view head = grapheme_prefix(front, most);
    return limits_.head_lines > 0 ? first_lines(head, limits_.head_lines) : head;
}

std::string_view TruncatingSink::tail_of(std::string_view end, std::size_t most) const noexcept {
    const std::string_view tail = grapheme_suffix(end, most);
    return limits_.tail_lines > 0 ? last_lines(tail, limits_.tail_lines) : tail;
}

std::int64_t TruncatingSink::tokens(std::string_view text) const {
    return context_.counter ? std::max<std::int64_t>(0, context_.counter->count(text)) : 0;
}

bool TruncatingSink::exceeds() const {
    std::int64_t bytes = 0;
    for (const Item& item : items_) bytes += item.is_text() ? item.size() : 0;
    if (bytes > limits_.max_bytes) return true;
    if (limits_.max_tokens <= 0) return false;
    std::int64_t sum = 0;
    for (const Item& item : items_) sum += item.is_text() ? tokens(item.front()) : 0;
    return sum > limits_.max_tokens;
}

bool TruncatingSink::is_longer(const Item& item, std::int64_t quota, std::int64_t token_quota) const {
    if (!item.is_text() || (!item.stored.empty() && item.is_whole())) return false;
    if (item.size() > quota) return true;
    return limits_.max_tokens > 0 && tokens(item.front()) > token_quota;
}

TruncatingSink::Cuts TruncatingSink::plan() const {
    Cuts cuts(items_.size());
    if (!exceeds()) return cuts;
    const std::int64_t texts = std::ranges::count_if(items_, &Item::is_text);
    const std::int64_t token_quota = limits_.max_tokens / texts;
    const auto passed = static_cast<std::int64_t>(passed_);  // out already: the others share what is left
    const bool is_over = passed > limits_.max_bytes / texts;
    const std::int64_t quota = is_over ? (limits_.max_bytes - passed) / (texts - 1) : limits_.max_bytes / texts;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const std::int64_t own = is_over && i == 0 ? passed : quota;
        if (is_longer(items_[i], own, token_quota)) cuts[i] = cut(i, own, token_quota);
    }
    return cuts;
}

/// A stored text that is shown again keeps its first page; any other text half of its quota at each end.
TruncatingSink::Cut TruncatingSink::cut(std::size_t i, std::int64_t quota, std::int64_t token_quota) const {
    const Item& item = items_[i];
    const std::string end = item.end();
    const bool is_page = !limits_.read_location.empty();
    const auto most = static_cast<std::size_t>(is_page ? quota : quota / 2);
    std::string_view head = head_of(item.front(), most);
    std::string_view tail = is_page ? std::string_view() : tail_of(end, most);
    if (limits_.max_tokens > 0) {
        head = fit_tokens(head, is_page ? token_quota : token_quota / 2, false);
        tail = fit_tokens(tail, token_quota / 2, true);
    }
    Cut result{i == 0 ? std::max(head.size(), passed_) : head.size(), {}};
    const auto whole = static_cast<std::size_t>(item.size());
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(quota, static_cast<std::int64_t>(result.head)));
    result.tail = grapheme_suffix(tail, std::min({tail.size(), whole - result.head, room - result.head}));
    return result;
}

/// The longest prefix, or suffix, of at most `limit` tokens.
std::string_view TruncatingSink::fit_tokens(std::string_view text, std::int64_t limit, bool at_end) const {
    const auto part = [&](std::size_t bytes) {
        return at_end ? grapheme_suffix(text, bytes) : grapheme_prefix(text, bytes);
    };
    std::size_t fits = 0;
    std::size_t too_long = text.size() + 1;
    while (fits + 1 < too_long) {
        const std::size_t middle = fits + (too_long - fits) / 2;
        (tokens(part(middle)) <= limit ? fits : too_long) = middle;
    }
    return part(fits);
}

/// A cut that, with its notice, is no shorter than the whole text is none (L6).
void TruncatingSink::drop_useless(Cuts& cuts, const std::string& key) const {
    constexpr std::size_t number = 8;  // a taken key gets one
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        if (!cuts[i]) continue;
        const Item& item = items_[i];
        const std::string shown =
            item.front().substr(0, cuts[i]->head) + notice(item, *cuts[i], {.key = key}) + cuts[i]->tail;
        const bool is_shorter = static_cast<std::int64_t>(shown.size() + number) < item.size();
        const bool has_fewer_tokens = !context_.counter || !item.is_whole() || tokens(shown) < tokens(item.front());
        if (!is_shorter || !has_fewer_tokens) cuts[i].reset();
    }
}

std::vector<Part> TruncatingSink::parts_in_memory() const {
    std::vector<Part> parts;
    for (const Item& item : items_) {
        parts.push_back(item.part);
        if (item.written) parts.back().text = item.front();
    }
    return parts;
}

/// Bytes that are not UTF-8 are shown as U+FFFD, so the store has to keep them. A stored text that is shown again is
/// there already; what the tool gave beyond the page stays in the journal.
bool TruncatingSink::must_store(std::size_t i, const Cuts& cuts) const {
    const Item& item = items_[i];
    if (!item.is_text() || !item.stored.empty()) return false;
    if (!item.is_utf8) return true;
    return cuts[i] && (!is_page() || !item.is_whole());
}

std::vector<TruncatingSink::Place> TruncatingSink::store(const Cuts& cuts, const std::string& key) {
    std::vector<Place> places(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (!items_[i].written || !must_store(i, cuts)) continue;
        auto stored = items_[i].written->store(key);
        if (stored) places[i].key = *std::move(stored);
        places[i].failure = items_[i].written->failure();
    }
    store_pushed(cuts, key, places);
    return places;
}

/// The raw text of a single part, else all parts in one object.
void TruncatingSink::store_pushed(const Cuts& cuts, const std::string& key, std::vector<Place>& places) {
    const bool has_written = std::ranges::any_of(items_, [](const Item& item) { return item.written != nullptr; });
    std::optional<Place> shared;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].written || !must_store(i, cuts)) continue;
        if (has_written || items_.size() == 1) {
            places[i] = put(key, items_[i].part.text);
            continue;
        }
        if (!shared) shared = put(key, offload_content(parts_in_memory()));
        places[i] = *shared;
    }
    if (!shared || shared->key.empty()) return;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].is_text() && items_[i].stored.empty()) places[i] = {.key = shared->key, .element = i};
    }
}

TruncatingSink::Place TruncatingSink::put(const std::string& key, std::string_view content) const {
    try {
        if (!limits_.storage) return {.failure = "no backend for offload"};
        return {.key = put_to_free_key(*limits_.storage, key, content)};
    } catch (const std::exception& error) {
        return {.failure = *error.what() != '\0' ? error.what() : "unknown reason"};
    }
}

/// What stands for the whole text: an object that its writer named, or ours.
std::string TruncatingSink::location_of(const Item& item, const Place& place) const {
    if (!limits_.read_location.empty()) return limits_.read_location;
    const std::string& key = item.stored.empty() ? place.key : item.stored.front().key;
    const auto& storage = item.stored.empty() ? limits_.storage : item.stored.front().storage;
    return key.empty() || !storage ? key : reference_to(*storage, key, limits_.reader);
}

TruncatedText TruncatingSink::facts_of(const Item& item, const Cut& cut, const Place& place) const {
    return {.tool = context_.tool,
            .bytes = item.size(),
            .lines = item.written ? item.written->lines() : count_lines(item.part.text),
            .head = static_cast<std::int64_t>(cut.head),
            .tail = static_cast<std::int64_t>(cut.tail.size()),
            .location = place.key,
            .reader = limits_.reader,
            .failure = place.failure,
            .is_among_others = place.element.has_value()};
}

std::string TruncatingSink::notice(const Item& item, const Cut& cut, const Place& place) const {
    const std::string location = location_of(item, place);
    TruncatedText text = facts_of(item, cut, place);
    text.location = location;
    return is_page() ? page_notice(text, context_.language) : truncation_notice(text, context_.language);
}

/// Everything that can fail, before anything is passed on.
TruncatingSink::Decision TruncatingSink::decide() {
    Decision d{plan(), std::vector<Place>(items_.size()), std::vector<std::string>(items_.size())};
    bool is_due = std::ranges::any_of(d.cuts, [](const auto& cut) { return cut.has_value(); });
    for (std::size_t i = 0; i < items_.size(); ++i) is_due = is_due || must_store(i, d.cuts);
    if (!is_due) return d;
    const std::string key = limits_.key(parts_in_memory());
    drop_useless(d.cuts, key);
    d.places = store(d.cuts, key);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (d.cuts[i]) d.notices[i] = notice(items_[i], *d.cuts[i], d.places[i]);
    }
    return d;
}

/// A user's function has failed: what is in memory stays whole, what is not is cut by bytes.
TruncatingSink::Decision TruncatingSink::decide_alone() {
    Decision d{Cuts(items_.size()), std::vector<Place>(items_.size()), std::vector<std::string>(items_.size())};
    const auto half = static_cast<std::size_t>(limits_.max_bytes / 2);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        if (!item.is_whole()) {
            const std::size_t head = head_of(item.front(), half).size();
            const std::string end = item.end();
            d.cuts[i] = Cut{i == 0 ? std::max(head, passed_) : head, std::string(tail_of(end, half))};
        }
    }
    d.places = store(d.cuts, limits_.fallback_key);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (d.cuts[i])  // by its key: `locate` may be what failed
            d.notices[i] = truncation_notice(facts_of(items_[i], *d.cuts[i], d.places[i]), context_.language);
    }
    return d;
}

void TruncatingSink::finish() {
    for (Item& item : items_) item.is_utf8 = !item.is_text() || is_valid_utf8(item.front());
    std::exception_ptr failure;
    Decision d;
    try {
        d = decide();
    } catch (...) {
        failure = std::current_exception();
        d = decide_alone();
    }
    if (needs_original(d)) original_ = parts_in_memory();
    for (std::size_t i = 0; i < items_.size(); ++i) emit(i, d);
    if (failure) std::rethrow_exception(failure);
}

/// Whether all of a text that no store has is in memory, and some of it is not shown.
bool TruncatingSink::needs_original(const Decision& d) const {
    if (!std::ranges::all_of(items_, &Item::is_whole)) return false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        if (!item.is_text() || !item.is_whole() || !item.stored.empty() || !d.places[i].key.empty()) continue;
        if ((d.cuts[i] && !stays_whole(i, d)) || !item.is_utf8) return true;
    }
    return false;
}

bool TruncatingSink::stays_whole(std::size_t i, const Decision& d) const {
    const Item& item = items_[i];
    if (!d.cuts[i]) return true;
    return !d.places[i].failure.empty() && item.is_whole() && item.size() <= limits_.max_unstored;
}

void TruncatingSink::emit(std::size_t i, const Decision& d) {
    Item& item = items_[i];
    const Place& place = d.places[i];
    if (!item.is_text()) return out_.push(std::move(item.part));
    if (!place.failure.empty()) tell("store_failed", item, place);
    const bool is_whole = stays_whole(i, d);
    const bool is_same = is_whole && item.is_utf8;
    if (is_whole) {
        emit_text(i, item.front());
    } else {
        emit_text(i, item.front().substr(0, d.cuts[i]->head) + d.notices[i] + d.cuts[i]->tail);
        if (place.failure.empty()) tell("truncated", item, place);
    }
    const bool is_lost = !is_whole && place.key.empty() && item.stored.empty() && !original_;
    if (!place.key.empty() || is_lost) {
        out_.mark_stored({.key = place.key,
                          .by = std::string(limits_.by),
                          .storage = limits_.storage,
                          .is_shown_whole = is_same && !place.key.empty(),
                          .index_in_object = place.element});
    }
    for (StoredPart& stored : item.stored) out_.mark_stored(std::move(stored));
}

void TruncatingSink::emit_text(std::size_t i, std::string text) {
    const std::size_t passed = i == 0 ? passed_ : 0;
    std::string rest = to_valid_utf8(std::string_view(text).substr(passed));
    if (!items_[i].written) {
        items_[i].part.text = std::move(rest);
        return out_.push(std::move(items_[i].part));
    }
    if (!rest.empty() || passed == 0) out_.write(rest);
}

void TruncatingSink::tell(std::string_view kind, const Item& item, const Place& place) const {
    if (context_.events == nullptr) return;
    const bool has_failed = !place.failure.empty();
    const std::string text = has_failed ? fmt::format("{}: a result of {} bytes could not be stored: {}", context_.tool,
                                                      item.size(), place.failure)
                                        : fmt::format("{}: a result of {} bytes was shortened; all of it is in \"{}\"",
                                                      context_.tool, item.size(), place.key);
    whittle::emit(*context_.events, {.level = has_failed ? Event::Level::error : Event::Level::info,
                                     .source = limits_.by,
                                     .kind = kind,
                                     .text = text,
                                     .conversation = context_.conversation_id});
}

}  // namespace whittle::inline v0::detail
