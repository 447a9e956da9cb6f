#include "whittle/conversation/detail/host_results.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

ReturnQueue::~ReturnQueue() = default;

ReturnQueue::ReturnQueue(std::span<const ToolReturn> returns, Missing missing)
    : count_(returns.size()), missing_(missing) {
    for (const ToolReturn& r : returns) waiting_.add(r.result.call_id, r);
}

const ToolReturn* ReturnQueue::take(std::string_view call_id) {
    const ToolReturn* const oldest = waiting_.take(call_id);
    if (oldest != nullptr) taken_.push_back(oldest);
    return oldest;
}

std::vector<const ToolReturn*> ReturnQueue::take(std::span<const HostResult> results) {
    std::vector<const ToolReturn*> taken;
    for (const HostResult& result : results) taken.push_back(take(result.result.call_id));
    return taken;
}

void ReturnQueue::finish() const {
    if (missing_ == Missing::passed_over || taken_.size() == count_) return;
    throw Error(Errc::invalid_argument, "push tool results: " + std::to_string(count_ - taken_.size()) + " of " +
                                            std::to_string(count_) + " returns have no result in the messages");
}

namespace {

/// Which parts of a return each text of a host's result shows; absent: that text goes.
using Places = std::vector<std::optional<std::vector<std::size_t>>>;

struct Texts {
    std::vector<std::size_t> all{};     ///< which parts are texts
    std::vector<std::size_t> filled{};  ///< those with a text
    std::string joined{};
};

Texts texts_of(std::span<const Part> parts) {
    Texts texts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].kind == PartKind::media) continue;
        texts.all.push_back(i);
        if (!parts[i].text.empty()) texts.filled.push_back(i);
        texts.joined += parts[i].text;
    }
    return texts;
}

/// The media of `host` that are not among those of `shown`, in order; nullopt if `shown` has one that `host` lacks.
std::optional<std::vector<std::size_t>> media_that_go(std::span<const Part> host, std::span<const Part> shown) {
    const auto is_media = [](const Part& part) { return part.kind == PartKind::media; };
    std::vector<std::size_t> gone;
    auto next = std::ranges::find_if(shown, is_media);
    for (std::size_t i = 0; i < host.size(); ++i) {
        if (!is_media(host[i])) continue;
        if (next == shown.end() || next->media != host[i].media) {
            gone.push_back(i);
            continue;
        }
        next = std::find_if(std::next(next), shown.end(), is_media);
    }
    if (next != shown.end()) return std::nullopt;
    return gone;
}

Places one_by_one(std::size_t count, std::span<const std::size_t> slots, std::span<const std::size_t> texts) {
    Places places(count, std::vector<std::size_t>{});
    for (std::size_t i = 0; i < slots.size(); ++i) places[slots[i]]->push_back(texts[i]);
    return places;
}

/// Text by text where there are as many, empty ones aside. Else in order: the last place takes all that is left, a
/// place too many goes; the first stays, since a result without text would be no answer.
Places place_texts(const Texts& host, const Texts& shown) {
    std::vector<std::size_t> slots(host.all.size());
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = i;
    if (host.all.size() == shown.all.size()) return one_by_one(slots.size(), slots, shown.all);
    if (host.filled.size() == shown.filled.size()) {
        std::vector<std::size_t> filled;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (std::ranges::binary_search(host.filled, host.all[i])) filled.push_back(i);
        }
        return one_by_one(slots.size(), filled, shown.filled);
    }
    Places places(slots.size());
    places.front().emplace();
    for (std::size_t i = 0; i < shown.filled.size(); ++i) {
        auto& place = places[std::min(i, places.size() - 1)];
        if (!place) place.emplace();
        place->push_back(shown.filled[i]);
    }
    return places;
}

std::string join(std::span<const Part> parts, std::span<const std::size_t> which) {
    std::string text;
    for (const std::size_t i : which) text += parts[i].text;
    return text;
}

/// How the host's result comes to show other parts.
struct Placed {
    std::vector<HostEdit> edits{};
    std::vector<std::size_t> at{};                  ///< of each text that stays: its part in the message
    std::vector<std::vector<std::size_t>> shows{};  ///< and the parts of the return that it shows
    std::vector<bool> is_changed{};
};

void add_place(Placed& placed, std::size_t at, std::vector<std::size_t> which, std::string text, bool is_changed) {
    placed.at.push_back(at);
    placed.shows.push_back(std::move(which));
    placed.is_changed.push_back(is_changed);
    if (is_changed) placed.edits.push_back({at, std::move(text)});
}

std::optional<Placed> place_parts(const HostResult& host, std::span<const Part> shown) {
    const std::span<const Part> own = host.result.parts;
    auto gone = media_that_go(own, shown);
    const Texts slots = texts_of(own);
    const Texts texts = texts_of(shown);
    if (!gone || (slots.all.empty() && gone->empty() && !texts.filled.empty())) return std::nullopt;
    Placed placed;
    if (slots.all.empty() && !texts.filled.empty()) {  // text takes the place of media that were a result alone
        add_place(placed, host.at[gone->front()], texts.filled, texts.joined, true);
        gone->erase(gone->begin());
    }
    const Places places = slots.all.empty() ? Places{} : place_texts(slots, texts);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t at = host.at[slots.all[i]];
        if (!places[i]) {
            placed.edits.push_back({at, std::nullopt});
            continue;
        }
        std::string text = join(shown, *places[i]);
        const bool is_changed = text != own[slots.all[i]].text;
        add_place(placed, at, *places[i], std::move(text), is_changed);
    }
    for (const std::size_t i : *gone) placed.edits.push_back({host.at[i], std::nullopt});
    return placed;
}

/// Whether the host's message came as it is shown: its text reads the same. A host may have joined texts, and have no
/// place for media.
bool came_as_shown(const HostResult& host, std::span<const Part> shown) {
    const auto is_media = [](const Part& part) { return part.kind == PartKind::media; };
    const std::string own = texts_of(host.result.parts).joined;
    const std::string joined = texts_of(shown).joined;
    if (own != joined && own != to_valid_utf8(joined)) return false;
    if (std::ranges::none_of(host.result.parts, is_media)) return true;
    const auto gone = media_that_go(host.result.parts, shown);
    return gone && gone->empty();
}

/// Places the parts in a message in which nothing is to be edited.
Placed places_as_shown(const HostResult& host, std::span<const Part> shown) {
    const Texts slots = texts_of(host.result.parts);
    const Texts texts = texts_of(shown);
    Placed placed;
    const Places places = slots.all.empty() ? Places{} : place_texts(slots, texts);
    for (std::size_t i = 0; i < places.size(); ++i)
        add_place(placed, host.at[slots.all[i]], places[i].value_or(std::vector<std::size_t>{}), {}, false);
    return placed;
}

/// Places the parts in a message that was made of them: an adapter may show media elsewhere, and leave out empty and
/// blank texts beside others.
Placed places_as_made(const HostResult& made, std::span<const Part> parts) {
    Placed placed;
    std::size_t next = 0;
    for (std::size_t i = 0; i < made.at.size(); ++i) {
        const Part& shown = made.result.parts[i];
        if (shown.kind == PartKind::media) continue;
        const bool is_shown_blank = is_blank(shown.text);
        const auto is_left_out = [&](const Part& part) {
            if (part.kind == PartKind::media) return true;
            return is_shown_blank ? part.text.empty() && !shown.text.empty() : is_blank(part.text);
        };
        while (next < parts.size() && is_left_out(parts[next])) ++next;
        if (next == parts.size()) break;
        add_place(placed, made.at[i], {next++}, {}, false);
    }
    return placed;
}

/// The objects that parts of a return stand for.
class StoredOf {
public:
    explicit StoredOf(const ToolReturn& from) {
        for (const StoredPart& stored : from.stored) by_part_.try_emplace(stored.part, &stored);
    }

    [[nodiscard]] const StoredPart* find(std::size_t part) const {
        const auto found = by_part_.find(part);
        return found == by_part_.end() ? nullptr : found->second;
    }
    /// The first of several.
    [[nodiscard]] const StoredPart* find(std::span<const std::size_t> parts) const {
        for (const std::size_t part : parts) {
            if (const StoredPart* stored = find(part)) return stored;
        }
        return nullptr;
    }

private:
    std::unordered_map<std::size_t, const StoredPart*> by_part_{};
};

[[nodiscard]] bool holds_a_whole(const StoredPart* stored) noexcept {
    return stored != nullptr && !stored->is_shown_whole && !stored->key.empty();
}

StoredText text_at(std::size_t part, const StoredPart& stored) {
    return {.part = part, .key = stored.key, .storage = stored.storage, .index_in_object = stored.index_in_object};
}

/// The whole text where a host joined several parts, some of which are in a store; nullopt if that cannot be read.
std::optional<std::string> joined_whole(const ToolReturn& from, std::span<const std::size_t> which,
                                        const StoredOf& stored) {
    try {
        std::string whole;
        for (const std::size_t part : which) {
            const StoredPart* object = stored.find(part);
            whole += holds_a_whole(object) ? fetch_trusted_text(text_at(part, *object)) : from.result.parts[part].text;
        }
        return whole;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

class Planner {
public:
    void add(const HostResult& host, const ToolReturn& from) {
        const bool is_shown = came_as_shown(host, from.result.parts);
        const auto placed = is_shown ? places_as_shown(host, from.result.parts) : place_parts(host, from.result.parts);
        if (!placed) return;
        const StoredOf stored(from);
        if (is_shown) {
            add_original(host, from, *placed, stored);
        } else {
            plan_.show.insert(plan_.show.end(), placed->edits.begin(), placed->edits.end());
            add_copies(from, *placed, stored);
        }
        for (std::size_t i = 0; i < placed->at.size(); ++i) {
            const auto& which = placed->shows[i];
            plan_.marks.back().push_back(
                mark_of_return(from, stored.find(which), placed->is_changed[i] || (is_shown && from.original)));
        }
    }
    void add_made(const HostResult& made, const ToolReturn& from) {
        const Placed placed = places_as_made(made, from.result.parts);
        const StoredOf stored(from);
        for (std::size_t i = 0; i < placed.at.size(); ++i) {
            const std::size_t part = placed.shows[i].front();
            plan_.marks.back().push_back(mark_of_return(from, stored.find(part), true));
            for (const StoredPart& object : from.stored) {
                if (object.part == part && holds_a_whole(&object) && !from.original)
                    plan_.only_stored.push_back(text_at(placed.at[i], object));
            }
        }
    }
    void next_result() { plan_.marks.emplace_back(); }
    [[nodiscard]] HostPlan take() { return std::move(plan_); }

private:
    /// Of a message that came as it is shown: what it would be with the whole result.
    void add_original(const HostResult& host, const ToolReturn& from, const Placed& placed, const StoredOf& stored) {
        if (from.original) {
            if (const auto back = place_parts(host, from.original->parts))
                plan_.back.insert(plan_.back.end(), back->edits.begin(), back->edits.end());
            return;
        }
        for (std::size_t i = 0; i < placed.at.size(); ++i) {
            const auto& which = placed.shows[i];
            if (std::ranges::none_of(which, [&](std::size_t part) { return holds_a_whole(stored.find(part)); }))
                continue;
            if (which.size() == 1) {
                plan_.only_stored.push_back(text_at(placed.at[i], *stored.find(which.front())));
            } else if (auto whole = joined_whole(from, which, stored)) {
                plan_.back.push_back({placed.at[i], *std::move(whole)});
            }
        }
    }

    void add_copies(const ToolReturn& from, const Placed& placed, const StoredOf& stored) {
        for (std::size_t i = 0; i < placed.at.size(); ++i) {
            const StoredPart* object = placed.shows[i].size() == 1 ? stored.find(placed.shows[i]) : nullptr;
            if (placed.is_changed[i] && holds_a_whole(object) && !from.original)
                plan_.also_stored.push_back(text_at(placed.at[i], *object));
        }
    }

    HostPlan plan_{};
};

}  // namespace

HostPlan plan_message(std::span<const HostResult> results, std::span<const ToolReturn* const> returns, MadeBy made_by) {
    Planner planner;
    for (std::size_t i = 0; i < results.size(); ++i) {
        planner.next_result();
        if (returns[i] == nullptr) continue;
        made_by == MadeBy::host ? planner.add(results[i], *returns[i]) : planner.add_made(results[i], *returns[i]);
    }
    return planner.take();
}

void sort_backwards(std::vector<HostEdit>& edits) { std::ranges::sort(edits, std::ranges::greater(), &HostEdit::part); }

std::vector<std::size_t> gone_from(const std::vector<HostEdit>& edits, std::size_t first) {
    std::vector<std::size_t> gone;
    for (std::size_t i = first; i < edits.size() && !edits[i].text; ++i) gone.push_back(edits[i].part);
    std::ranges::reverse(gone);
    return gone;
}

void mark_results(MessageInfo& info, const std::vector<std::vector<Mark>>& marks) {
    ResultNumbers numbers;
    std::vector<std::size_t> texts(marks.size());
    for (PartInfo& part : info.parts) {
        const auto number = numbers.next(part);
        if (!number || part.kind != PartKind::tool_result || *number >= marks.size()) continue;
        const std::size_t text = texts[*number]++;
        if (text < marks[*number].size()) part.mark = marks[*number][text];
    }
}

void take_names_of_results(MessageInfo& info, const MessageInfo& shown) {
    std::vector<const PartInfo*> named;
    ResultNumbers of_shown;
    for (const PartInfo& part : shown.parts) {
        const auto number = of_shown.next(part);
        if (number && *number == named.size()) named.push_back(&part);
    }
    ResultNumbers numbers;
    for (PartInfo& part : info.parts) {
        const auto number = numbers.next(part);
        if (!number || *number >= named.size()) continue;
        part.call_id.share_if_equal(named[*number]->call_id);
        part.key_safe_call_id = named[*number]->key_safe_call_id;
        part.tool = named[*number]->tool;
    }
}

void push_parts(std::span<const Part> parts, PartSink& out) {
    if (parts.size() == 1 && parts.front().kind == PartKind::text) return out.write(parts.front().text);
    for (const Part& part : parts) out.push(part);
}

}  // namespace whittle::inline v0::detail
