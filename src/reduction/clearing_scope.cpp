#include "whittle/reduction/detail/clearing_run.hpp"

#include "whittle/base/event.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace whittle::inline v0::detail {

ClearingPlan ClearingScope::plan() const {
    return plan_clearing(edit.outline(), config, turn.config.protected_tools, name(),
                         [&](std::size_t message) { return edit.is_protected(message); });
}

void ClearingScope::offload(std::string key, std::string content, const std::shared_ptr<Storage>& storage,
                            std::optional<Draft::Original> original) {
    planned.add(key, hash128(content));
    edit.store_on_commit(std::move(key), std::move(content), original, storage);
}

std::int64_t ClearingScope::tokens_of(const PartView& part) const {
    const TokenCounter& counter = turn.counter();
    return part.kind == PartKind::media ? counter.media_tokens(part.media) : counter.count(part.text);
}

void ClearingScope::for_each_part_of(const ClearingCandidate& candidate,
                                     FunctionRef<void(std::size_t, const PartView&)> visit) const {
    for (std::size_t i = 0; i < candidate.parts.size(); ++i)
        edit.visit_part(candidate.message, candidate.parts[i], [&](const PartView& part) { visit(i, part); });
}

const PartInfo& ClearingScope::first_part(const ClearingCandidate& candidate) const {
    static const PartInfo gone{};
    const MessageInfo& info = edit.outline()[candidate.message];
    return candidate.parts.front() < info.parts.size() ? info.parts[candidate.parts.front()] : gone;
}

std::vector<Part> ClearingScope::parts_of_result(const ClearingCandidate& candidate) const {
    std::vector<Part> parts;
    for_each_part_of(candidate, [&](std::size_t, const PartView& part) { parts.push_back(to_part(part)); });
    return parts;
}

bool ClearingFailures::attempt(FunctionRef<void()> work) {
    try {
        work();
        return true;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const Error& error) {
        if (turn_.config.on_error == OnError::propagate || error.errc() == Errc::cancelled) throw;
        note();
    } catch (...) {
        if (turn_.config.on_error == OnError::propagate) throw;
        note();
    }
    return false;
}

bool ClearingFailures::is_valid(FunctionRef<void()> commit) {
    try {
        commit();
        return true;
    } catch (const Error& error) {
        if (turn_.config.on_error == OnError::propagate || error.errc() != Errc::invalid_history) throw;
        note();
        return false;
    }
}

/// Of the exception in flight.
void ClearingFailures::note() {
    if (count_++ == 0) first_ = current_error_text();
}

void ClearingFailures::report() {
    if (count_ == 0) return;
    const std::string text = count_ == 1 ? first_ : first_ + " (and " + std::to_string(count_ - 1) + " more)";
    count_ = 0;
    turn_.report.ensure_details().error = text;
    emit_failure(turn_.on_event, turn_.report.middleware, turn_.conversation_id(), text);
}

}  // namespace whittle::inline v0::detail
