#include "draft_state.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

[[noreturn]] void throw_new_violations(std::string_view by, const std::vector<Violation>& violations) {
    std::string text = fmt::format("{}: commit: the result would break {} rule{} that the history keeps now", by,
                                   violations.size(), violations.size() == 1 ? "" : "s");
    throw Error(Errc::invalid_history, text + to_text(violations));
}

void emit_commit(const EventSink& events, std::string_view by, std::string_view conversation,
                 const CommitResult& result) noexcept {
    try {
        const std::string text = fmt::format("{}: {} -> {} tokens", by, result.tokens_before, result.tokens_after);
        emit(events,
             {Event::Level::info, by, "committed", text, conversation, result.tokens_before, result.tokens_after});
    } catch (...) {
    }
}

}  // namespace

bool CommitPipeline::is_worth_it(const CommitOptions& options) const noexcept {
    const std::int64_t gain = sub_saturating(context_.tokens_before, overlay_.tokens());
    if (!options.require_token_reduction && options.min_token_reduction <= 0) return true;
    return gain > 0 && gain >= options.min_token_reduction;
}

std::vector<Violation> CommitPipeline::introduced_violations() const {
    if (!context_.env.verify) return {};
    return overlay_.introduced_violations(context_.env.validity);
}

void CommitPipeline::verify() const {
    if (const auto split = overlay_.split_thinking()) {
        throw Error(Errc::invalid_history,
                    fmt::format("{}: commit: message {} would keep only some of its thinking; erase all of it or none",
                                context_.by, *split));
    }
    const std::vector<Violation> made = introduced_violations();
    if (!made.empty()) throw_new_violations(context_.by, made);
}

bool CommitPipeline::host_would_veto(bool needs_model) const {
    const EditEnvironment& env = context_.env;
    if (env.before_commit == nullptr || !*env.before_commit || plan_.edits().empty()) return false;
    const SideTable& side = context_.side;
    std::vector<Serial> touched;
    for (const MessagePort::Stretch& stretch : overlay_.replacement().stretches) {
        for (std::size_t m = 0; m < stretch.count; ++m) touched.push_back(side.infos[stretch.first + m].serial);
    }
    const Outline before = side.outline();
    CommitPlan plan{{.conversation_id = side.id, .round_serial = before.newest_round_serial(), .stop = env.stop}};
    plan.middleware = context_.by;
    plan.hook = env.hook;
    plan.reason = plan_.edits().front().mark->reason;
    plan.before = before;
    plan.after = overlay_.outline();
    plan.touched = touched;
    plan.first_changed = overlay_.first_changed().value_or(side.infos.size());
    plan.message_tokens_before = context_.tokens_before;
    plan.message_tokens_after = overlay_.tokens();
    plan.needs_model = needs_model;
    return !(*env.before_commit)(plan);
}

/// With `ThinkingOnPrefixEdit::drop`: thinking that the edits make void goes with them, in the open tool loop too
/// unless that breaks a rule of the provider.
void CommitPipeline::drop_void_thinking() {
    if (context_.env.thinking_on_prefix_edit != ThinkingOnPrefixEdit::drop) return;
    if (const auto first = overlay_.first_void_thinking()) drop_thinking_from(*first);
}

void CommitPipeline::drop_thinking_from(std::size_t first) {
    context_.require_current("drop_removable_thinking");
    overlay_.open();
    for (const bool open : {false, true}) {
        const EditGroup edit_group = plan_.begin_edit_group();
        const std::int64_t dropped = thinking_dropped_;
        erase_thinking(first, open);
        if (thinking_dropped_ == dropped || overlay_.introduced_violations(context_.env.validity).empty()) continue;
        plan_.drop_edit_groups({edit_group});
        thinking_dropped_ = dropped;
    }
}

/// All thinking from message `first` on: of the open tool loop, or of those before it.
void CommitPipeline::erase_thinking(std::size_t first, bool open) {
    const std::size_t size = overlay_.outline().size();
    const std::size_t loop = overlay_.outline().open_loop_begin().value_or(size);
    for (std::size_t i = size; i-- > first;) {
        const MessageInfo& info = overlay_.outline()[i];
        if (!info.has(PartKind::thinking) || (i >= loop) != open) continue;
        std::vector<std::size_t> thinking;
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (info.parts[p].kind == PartKind::thinking) thinking.push_back(p);
        }
        thinking_dropped_ += static_cast<std::int64_t>(thinking.size());
        if (thinking.size() == info.parts.size()) {
            plan_.replace(i, i + 1, {}, {.reason = "prefix_edit"});
        } else {
            plan_.erase(i, std::move(thinking), {.reason = "prefix_edit"});
        }
    }
}

CommitResult CommitPipeline::finish(Outcome outcome) {
    const CommitResult result{.outcome = outcome,
                              .tokens_before = context_.tokens_before,
                              .tokens_after = overlay_.tokens(),
                              .first_changed = overlay_.first_changed(),
                              .unstored_edit_groups = refused_edit_groups_,
                              .first_store_error = store_error_};
    if (context_.env.report != nullptr) fill_report(result);
    return result;
}

void CommitPipeline::fill_report(const CommitResult& result) {
    context_.env.report->outcome = result.outcome;
    StageDetails& details = context_.env.report->ensure_details();
    details.tokens_before = result.tokens_before;
    details.tokens_after = result.tokens_after;
    details.first_changed = result.first_changed;
    if (result.first_changed)
        details.cached_tokens_invalidated = context_.side.sent_tokens_from(*result.first_changed, context_.column);
    details.stored_keys.insert(details.stored_keys.end(), std::move_iterator(stored_.begin()),
                               std::move_iterator(stored_.end()));
    stored_.clear();  // told once
    details.bytes_stored += std::exchange(bytes_stored_, 0);
    details.thinking_parts_dropped += thinking_dropped_;
    const bool is_done = result.outcome == Outcome::committed || result.outcome == Outcome::planned;
    if (is_done && context_.env.thinking_on_prefix_edit && overlay_.first_void_thinking())
        details.thinking_prefix_edited = true;
}

CommitResult CommitPipeline::commit(const CommitOptions& options) {
    context_.require_current("commit");
    plan_.mend();
    const bool is_refused = refused_edit_groups_ > 0;
    if (plan_.edits().empty()) return finish(is_refused ? Outcome::store_failed : Outcome::nothing);
    if (!is_worth_it(options)) return finish(is_refused ? Outcome::store_failed : Outcome::too_small);
    verify();
    if (context_.env.dry_run) {
        drop_void_thinking();
        return finish(Outcome::planned);
    }
    if (host_would_veto(false)) return finish(Outcome::vetoed);
    require_budget(context_.env, context_.by, 0);
    if (store() > 0) {
        if (plan_.edits().empty() || !is_worth_it(options)) {
            keep_candidates([](const Candidate&) { return true; });
            return finish(Outcome::store_failed);
        }
        verify();
    }
    drop_void_thinking();
    const CommitResult result = finish(Outcome::committed);  // what can fail comes before the commit point
    try {
        overlay_.update_fingerprints();
        const MessagePort::Replacement replacement = overlay_.replacement();
        port_.commit(replacement, to_record(replacement.stretches));
    } catch (...) {
        start_again();  // the copies may have been moved from
        throw;
    }
    SideTable& side = context_.side;
    side.counters.next_serial = std::max(side.counters.next_serial, plan_.next_serial());
    if (context_.env.events != nullptr) emit_commit(*context_.env.events, context_.by, side.id, result);
    start_again();
    return result;
}

void CommitPipeline::start_again() noexcept {
    context_.renew();
    overlay_.close();
    plan_.clear();
    stored_.clear();
    bytes_stored_ = 0;
    refused_edit_groups_ = 0;
    store_error_ = nullptr;
    thinking_dropped_ = 0;
}

void CommitPipeline::write(const Offload& offload, std::string_view content) {
    const auto bytes = static_cast<std::int64_t>(content.size());
    require_budget(context_.env, context_.by, bytes);
    offload.storage->put_if_absent(offload.key, content);
    if (context_.env.budget != nullptr) context_.env.budget->store_bytes -= bytes;
    context_.side.own_objects().add(offload.key, offload.storage);
    stored_.push_back(offload.key);
    bytes_stored_ += bytes;
}

/// What the store says if it refuses.
std::optional<StoreFailure> CommitPipeline::try_write(Offload& offload) {
    const auto refused = [&](const std::exception& error) {
        if (!store_error_) store_error_ = std::current_exception();
        const std::string_view why = error.what();
        return StoreFailure{offload.key, std::string(why.empty() ? "unknown reason" : why)};
    };
    try {
        if (offload.source) {
            overlay_.visit_original(*offload.source, offload.original->part,
                                    [&](const PartView& part) { write(offload, part.text); });
        } else {
            write(offload, offload.content);
        }
        offload.is_written = true;
        if (offload.storage->masked_places(offload.key) > 0)
            offload.original.reset();  // the store does not have it: the journal keeps it
        return std::nullopt;
    } catch (const Error& error) {
        if (error.errc() == Errc::cancelled) throw;
        return refused(error);
    } catch (const std::exception& error) {
        return refused(error);
    }
}

/// Reports that parts stay which were to be cut.
void CommitPipeline::keep_candidates(FunctionRef<bool(const Candidate&)> stays) {
    if (context_.env.report == nullptr) return;
    for (Candidate& candidate : context_.env.report->ensure_details().candidates) {
        if (candidate.removed && stays(candidate))
            candidate = {candidate.serial, candidate.part, false, "store_refused", 0};
    }
}

/// Those whose texts were to be stored for these edit groups.
void CommitPipeline::keep_candidates_of(std::span<const EditGroup> refused) {
    std::set<std::pair<Serial, std::size_t>> places;
    for (const Offload& offload : plan_.offloads()) {
        if (offload.original && std::ranges::binary_search(refused, offload.edit_group))
            places.emplace(offload.original->serial, offload.original->part);
    }
    keep_candidates([&](const Candidate& candidate) { return places.contains({candidate.serial, candidate.part}); });
}

/// Stores first (L2). What was refused is reported, and told once for all.
int CommitPipeline::store() {
    context_.require_current("store_and_drop_refused");
    if (context_.env.dry_run || plan_.offloads().empty()) return 0;
    std::vector<EditGroup> failed;  // ascending, as those of the offloads
    std::vector<StoreFailure> failures;
    for (Offload& offload : plan_.offloads()) {
        if (offload.is_written || (!failed.empty() && failed.back() == offload.edit_group)) continue;
        auto failure = try_write(offload);
        if (!failure) continue;
        failed.push_back(offload.edit_group);
        failures.push_back(*std::move(failure));
    }
    if (failed.empty()) return 0;
    const int refused = static_cast<int>(failed.size());
    refused_edit_groups_ += refused;
    emit_store_failures(context_.env.events, context_.by, context_.side.id, failures);
    if (context_.env.report != nullptr) {
        StageDetails& details = context_.env.report->ensure_details();
        details.store_failures.insert(details.store_failures.end(), std::move_iterator(failures.begin()),
                                      std::move_iterator(failures.end()));
        keep_candidates_of(failed);
    }
    plan_.drop_edit_groups(std::move(failed));
    return refused;
}

namespace {

/// The stored texts that are whole originals of replaced messages. Uses up their keys.
std::vector<StoredText> take_originals(const SideTable& side, std::span<const MessagePort::Stretch> stretches,
                                       std::vector<Offload>& offloads) {
    struct Place {
        Serial serial = 0;
        std::size_t stretch = 0;
        std::size_t message = 0;  // of the stretch
    };
    std::vector<Place> places;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        for (std::size_t m = 0; m < stretches[i].count; ++m)
            places.push_back({side.infos[stretches[i].first + m].serial, i, m});
    }
    if (!std::ranges::is_sorted(places, {}, &Place::serial)) std::ranges::sort(places, {}, &Place::serial);
    std::vector<StoredText> texts;
    for (Offload& offload : offloads) {
        if (!offload.original) continue;
        const auto place = std::ranges::lower_bound(places, offload.original->serial, {}, &Place::serial);
        if (place == places.end() || place->serial != offload.original->serial) continue;
        texts.push_back({place->stretch, place->message, offload.original->part, std::move(offload.key),
                         std::move(offload.storage)});
    }
    return texts;
}

}  // namespace

/// Uses up what is to be stored.
JournalRecord CommitPipeline::to_record(std::span<const MessagePort::Stretch> stretches) {
    const SideTable& side = context_.side;
    JournalRecord record = side.new_record(JournalRecord::Kind::edit, context_.by, {});
    for (const Edit& edit : plan_.edits()) {
        if (record.reason.empty()) record.reason = edit.mark->reason;
        record.referenced_keys.insert(record.referenced_keys.end(), edit.mark->stored_keys.begin(),
                                      edit.mark->stored_keys.end());
    }
    sort_unique(record.referenced_keys);
    record.when = context_.env.clock->now();
    record.tokens_before = context_.tokens_before;
    record.tokens_after = overlay_.tokens();
    record.texts_in_store = take_originals(side, stretches, plan_.offloads());
    return record;
}

}  // namespace whittle::inline v0::detail
