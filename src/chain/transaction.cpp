#include "whittle/chain/transaction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace whittle::inline v0::detail {

std::vector<bool> find_protected(const Outline& outline, std::string_view by,
                                 const std::function<bool(const MessageInfo&)>* pins, bool spare_open_results) {
    std::vector<bool> result(outline.size(), false);
    const Serial open = outline.open_group();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        const bool is_spared = spare_open_results && info.has(PartKind::tool_result);
        const bool is_open = open != 0 && info.group == open && !is_spared;
        const bool is_pinned = info.pinned || (pins != nullptr && *pins && (*pins)(info));
        const bool is_own_summary = origin_of(info.mark) == Origin::summary && info.mark->by == by;
        result[i] = (info.role == Role::system && !is_own_summary) || is_open || is_pinned;
    }
    if (const auto user = outline.newest_user()) result[*user] = true;
    return result;
}

std::size_t find_gone(std::span<const PartInfo> old, std::size_t now, std::size_t edited, bool is_text_set) {
    if (now >= old.size()) return old.size();
    if (!is_text_set || old[edited].kind != PartKind::media) return edited;
    for (std::size_t p = edited + 1; p < old.size(); ++p) {
        const PartInfo& part = old[p];
        if (part.kind == PartKind::tool_result && part.bytes == 0 && part.call_id == old[edited].call_id) return p;
    }
    return edited;
}

namespace {

void keep_known(PartInfo& part, const PartInfo& old) {
    part.mark = old.mark;
    part.object_name = old.object_name;
    if (part.tool.empty()) part.tool = old.tool;
    part.tool.share_if_equal(old.tool);
    part.call_id.share_if_equal(old.call_id);
}

}  // namespace

void describe_anew(PartInfo& part, const PartView& shown) {
    PartInfo fresh = describe(shown);
    keep_known(fresh, part);
    part = std::move(fresh);
}

void keep_known(MessageInfo& info, const MessageInfo& old, std::span<const std::size_t> gone) {
    info.serial = old.serial;
    info.role = old.role;
    info.group = old.group;
    info.turn = old.turn;
    info.call_index = old.call_index;
    info.pinned = old.pinned;
    info.mark = old.mark;
    auto next = gone.begin();
    std::size_t was = 0;
    for (PartInfo& part : info.parts) {
        for (; next != gone.end() && *next == was; ++next) ++was;
        if (was >= old.parts.size()) break;
        keep_known(part, old.parts[was++]);
    }
}

std::uint64_t distance_to(std::span<const Serial> places, Serial first, Serial last) noexcept {
    const auto next = std::ranges::lower_bound(places, first);
    if (next != places.end() && *next <= last) return 0;
    std::uint64_t distance = UINT64_MAX;
    if (next != places.end()) distance = 2 * (*next - last);
    if (next != places.begin()) distance = std::min(distance, 2 * (first - *std::prev(next)) + 1);
    return distance;
}

void throw_pinned(std::string_view by, std::string_view attempted, Serial serial, std::string_view rule) {
    throw Error(Errc::pinned, fmt::format("{}: {} message {}: {}", by, attempted, serial, rule));
}

void throw_split_thinking(std::string_view by, Serial serial) {
    throw Error(Errc::invalid_history,
                fmt::format("{}: commit: message {} would keep only some of its thinking; erase all of it or none", by,
                            serial));
}

void throw_new_violations(std::string_view by, const std::vector<Violation>& violations) {
    std::string text = fmt::format("{}: commit: the result would break {} rule{} that the history keeps now", by,
                                   violations.size(), violations.size() == 1 ? "" : "s");
    for (const Violation& v : violations)
        text += fmt::format("; {} at message {}: {}", id_of(v.rule), v.message, v.text);
    throw Error(Errc::invalid_history, text);
}

void tell_commit(const EventSink& events, std::string_view by, std::string_view conversation,
                 const CommitResult& result) noexcept {
    try {
        const std::string text = fmt::format("{}: {} -> {} tokens", by, result.tokens_before, result.tokens_after);
        emit(events,
             {Event::Level::info, by, "committed", text, conversation, result.tokens_before, result.tokens_after});
    } catch (...) {
    }
}

void tell_store_failures(const EventSink* events, std::string_view by, std::string_view conversation,
                         std::span<const StoreFailure> failures) noexcept {
    if (events == nullptr || failures.empty()) return;
    try {
        const StoreFailure& first = failures.front();
        const std::string which =
            failures.size() == 1
                ? fmt::format("\"{}\" could not be stored", first.key)
                : fmt::format("{} objects could not be stored, the first of them \"{}\"", failures.size(), first.key);
        const std::string text = fmt::format("{}: {}", which, first.reason);
        emit(*events, {.level = Event::Level::error,
                       .source = by,
                       .kind = "store_failed",
                       .text = text,
                       .conversation = conversation});
    } catch (...) {
    }
}

void sort_unique(std::vector<std::string>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

void require_budget(const EditEnvironment& environment, std::string_view by, std::int64_t bytes) {
    if (environment.stop.stop_requested())
        throw Error(Errc::cancelled, fmt::format("{}: commit: stopped before the commit point", by));
    if (environment.budget == nullptr) return;
    if (bytes > environment.budget->store_bytes) {
        throw Error(Errc::limit_exceeded, fmt::format("{}: store {} bytes: limits.store_bytes leaves {} for this hook",
                                                      by, bytes, environment.budget->store_bytes));
    }
    if (environment.clock->now() > environment.budget->deadline) {
        throw Error(Errc::limit_exceeded, fmt::format("{}: commit: the hook is past limits.deadline", by));
    }
}

}  // namespace whittle::inline v0::detail
