#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/conversation/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace whittle::inline v0 {

namespace {

struct SerialPlace {
    Serial serial = 0;
    std::size_t stretch = 0;
    std::size_t message = 0;  // of the stretch
};

[[noreturn]] void throw_new_violations(std::string_view by, const std::vector<Violation>& violations) {
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

void keep_for_its_store(Candidate& candidate) noexcept {
    if (candidate.cut) candidate = {candidate.serial, candidate.part, false, "store_refused", 0};
}

void keep_every_candidate(StageDetails& details) noexcept {
    for (Candidate& candidate : details.candidates) keep_for_its_store(candidate);
}

}  // namespace

bool Draft::is_worth_it(const CommitOptions& options) const noexcept {
    const std::int64_t gain = sub_saturating(before_, after_);
    if (!options.must_save && options.at_least_tokens <= 0) return true;
    return gain > 0 && gain >= options.at_least_tokens;
}

/// No message comes or goes, and no edit changes anything for the worse that a rule looks at.
bool Draft::keeps_every_rule() const noexcept {
    for (std::size_t i = 0; i < base_.size(); ++i) {
        if (base_[i] != i) return false;
        if (owned_[i] != nullptr && !keeps_rules(side_->infos[i], *infos_[i])) return false;
    }
    return base_.size() == side_->infos.size();
}

/// What the projection breaks that the conversation does not.
std::vector<Violation> Draft::made_violations() const {
    if (env_.validity == nullptr || !is_open_ || keeps_every_rule()) return {};
    const std::vector<Violation> after = validate(outline(), *env_.validity);
    if (after.empty()) return {};  // what was there before need not be read
    return new_violations(validate(side_->outline(), *env_.validity), after);
}

void Draft::verify() const {
    require_whole_thinking();
    if (!env_.verify) return;
    const std::vector<Violation> made = made_violations();
    if (!made.empty()) throw_new_violations(by_, made);
}

void Draft::write(const Offload& offload) {
    if (!offload.source) return write(offload, offload.content);
    read_original(*offload.source, offload.original->part, [&](const PartView& part) { write(offload, part.text); });
}

void Draft::write(const Offload& offload, std::string_view content) {
    const auto bytes = static_cast<std::int64_t>(content.size());
    detail::require_budget(env_, by_, bytes);
    offload.storage->put_if_absent(offload.key, content);
    if (env_.budget != nullptr) env_.budget->store_bytes -= bytes;
    side_->own_objects().add(offload.key, offload.storage);
    stored_.push_back(offload.key);
    bytes_stored_ += bytes;
}

/// What the store says if it refuses.
std::optional<StoreFailure> Draft::try_write(Offload& offload) {
    std::string why;
    try {
        write(offload);
        offload.is_written = true;
        if (offload.storage->masked_places(offload.key) > 0)
            offload.original.reset();  // the store does not have it: the journal keeps it
        return std::nullopt;
    } catch (const Error& error) {
        if (error.errc() == Errc::cancelled) throw;
        why = error.what();
        if (!store_error_) store_error_ = std::current_exception();
    } catch (const std::exception& error) {
        why = error.what();
        if (!store_error_) store_error_ = std::current_exception();
    }
    return StoreFailure{offload.key, why.empty() ? "unknown reason" : std::move(why)};
}

/// Reports that the parts stay whose texts were to be stored for these units.
void Draft::keep_candidates_of(std::span<const Unit> refused) {
    std::set<std::pair<Serial, std::size_t>> places;
    for (const Offload& offload : offloads_) {  // in order of their units, as these
        while (!refused.empty() && refused.front() < offload.unit) refused = refused.subspan(1);
        if (refused.empty()) break;
        if (refused.front() == offload.unit && offload.original)
            places.emplace(offload.original->serial, offload.original->part);
    }
    for (Candidate& candidate : env_.report->more().candidates) {
        if (places.contains({candidate.serial, candidate.part})) keep_for_its_store(candidate);
    }
}

/// Stores first (L2). What was refused is reported, and told once for all.
int Draft::store() {
    require_current("store");
    if (env_.dry_run || offloads_.empty()) return 0;
    std::vector<Unit> failed;  // offloads stand in order of their units
    std::vector<StoreFailure> failures;
    for (Offload& offload : offloads_) {
        if (offload.is_written || (!failed.empty() && failed.back() == offload.unit)) continue;
        auto failure = try_write(offload);
        if (!failure) continue;
        failed.push_back(offload.unit);
        failures.push_back(*std::move(failure));
    }
    if (failed.empty()) return 0;
    const int refused = static_cast<int>(failed.size());
    refused_units_ += refused;
    detail::tell_store_failures(env_.events, by_, side_->id, failures);
    if (env_.report != nullptr) {
        StageDetails& details = env_.report->more();
        details.store_failures.insert(details.store_failures.end(), std::move_iterator(failures.begin()),
                                      std::move_iterator(failures.end()));
        keep_candidates_of(failed);
    }
    drop_units(std::move(failed));
    return refused;
}

std::vector<Draft::Stretch> Draft::changed_stretches() const {
    std::vector<Stretch> stretches;
    const std::size_t size = base_.size();
    std::size_t base = 0;
    for (std::size_t i = 0; i < size || base < side_->infos.size();) {
        if (i < size && base_[i] == base && owned_[i] == nullptr) {
            ++i, ++base;
            continue;
        }
        Stretch stretch{.first = base};
        const std::size_t begin = i;
        for (; i < size && !(base_[i] != inserted && owned_[i] == nullptr); ++i) {
            if (base_[i] != inserted) base = base_[i] + 1;
        }
        stretch.items = std::span(owned_).subspan(begin, i - begin);
        base = i < size ? base_[i] : side_->infos.size();
        stretch.count = base - stretch.first;
        stretches.push_back(stretch);
    }
    return stretches;
}

/// Uses up what is to be stored.
JournalRecord Draft::to_record(const std::vector<Stretch>& stretches) {
    JournalRecord record = side_->new_record(JournalRecord::Kind::edit, by_, {});
    for (const Edit& edit : edits_) {
        if (record.reason.empty()) record.reason = edit.mark->reason;
        record.stored.insert(record.stored.end(), edit.mark->stored.begin(), edit.mark->stored.end());
    }
    detail::sort_unique(record.stored);
    record.when = env_.clock->now();
    record.tokens_before = before_;
    record.tokens_after = after_;
    std::vector<SerialPlace> places;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        for (std::size_t m = 0; m < stretches[i].count; ++m)
            places.push_back({side_->infos[stretches[i].first + m].serial, i, m});
    }
    if (!std::ranges::is_sorted(places, {}, &SerialPlace::serial)) std::ranges::sort(places, {}, &SerialPlace::serial);
    for (Offload& offload : offloads_) {
        if (!offload.original) continue;
        const auto place = std::ranges::lower_bound(places, offload.original->serial, {}, &SerialPlace::serial);
        if (place == places.end() || place->serial != offload.original->serial) continue;
        record.texts.push_back({place->stretch, place->message, offload.original->part, std::move(offload.key),
                                std::move(offload.storage)});
    }
    return record;
}

std::int64_t Draft::sent_tokens_behind(std::size_t first) const noexcept {
    std::int64_t tokens = 0;
    for (std::size_t i = first; i < std::min(side_->counters.sent, side_->infos.size()); ++i) {
        tokens = add_saturating(tokens, side_->infos[i].tokens[column_]);
    }
    return tokens;
}

void Draft::fill_report(const CommitResult& result) {
    if (env_.report == nullptr) return;
    env_.report->outcome = result.outcome;
    StageDetails& details = env_.report->more();
    details.tokens_before = result.tokens_before;
    details.tokens_after = result.tokens_after;
    details.first_changed = result.first_changed;
    if (result.first_changed) details.cached_tokens_invalidated = sent_tokens_behind(*result.first_changed);
    details.stored.insert(details.stored.end(), std::move_iterator(stored_.begin()), std::move_iterator(stored_.end()));
    stored_.clear();  // told once
    details.bytes_stored += std::exchange(bytes_stored_, 0);
    details.thinking_dropped += thinking_dropped_;
    const bool is_done = result.outcome == Outcome::committed || result.outcome == Outcome::planned;
    if (is_done && env_.on_prefix_edit && first_void_thinking()) details.prefix_edited = true;
}

bool Draft::is_vetoed(bool needs_model) const {
    if (env_.before_commit == nullptr || !*env_.before_commit || edits_.empty()) return false;
    std::vector<Serial> touched;
    for (const Stretch& stretch : changed_stretches()) {
        for (std::size_t m = 0; m < stretch.count; ++m) touched.push_back(side_->infos[stretch.first + m].serial);
    }
    const Outline before = side_->outline();
    CommitPlan plan{{.conversation = side_->id, .round = before.newest_group(), .stop = env_.stop}};
    plan.middleware = by_;
    plan.hook = env_.hook;
    plan.reason = edits_.front().mark->reason;
    plan.before = before;
    plan.after = outline();
    plan.touched = touched;
    plan.first_changed = first_changed().value_or(side_->infos.size());
    plan.tokens_before = before_;
    plan.tokens_after = after_;
    plan.needs_model = needs_model;
    return !(*env_.before_commit)(plan);
}

CommitResult Draft::commit(const CommitOptions& options) {
    require_current("commit");
    mend_torn();
    CommitResult result{.tokens_before = before_, .tokens_after = after_, .first_changed = first_changed()};
    const auto finish = [&](Outcome outcome) {
        result.outcome = outcome;
        result.tokens_after = after_;
        result.first_changed = first_changed();
        result.dropped_units = refused_units_;
        result.store_error = store_error_;
        fill_report(result);
        return result;
    };
    const bool is_refused = refused_units_ > 0;
    if (edits_.empty()) return finish(is_refused ? Outcome::store_failed : Outcome::nothing);
    if (!is_worth_it(options)) return finish(is_refused ? Outcome::store_failed : Outcome::too_small);
    verify();
    if (env_.dry_run) {
        drop_void_thinking();
        return finish(Outcome::planned);
    }
    if (is_vetoed()) return finish(Outcome::vetoed);
    detail::require_budget(env_, by_, 0);
    if (store() > 0) {
        if (edits_.empty() || !is_worth_it(options)) {
            if (env_.report != nullptr) keep_every_candidate(env_.report->more());
            return finish(Outcome::store_failed);
        }
        verify();
    }
    drop_void_thinking();
    finish(Outcome::committed);  // what can fail comes before the commit point
    try {
        update_fingerprints();
        const std::vector<Stretch> stretches = changed_stretches();
        carry_out(stretches, to_record(stretches));
    } catch (...) {
        start_again();  // the copies may have been moved from
        throw;
    }
    side_->counters.next_serial = std::max(side_->counters.next_serial, next_serial_);
    if (env_.events != nullptr) tell_commit(*env_.events, by_, side_->id, result);
    start_again();
    return result;
}

/// After a commit the transaction is as good as new.
void Draft::start_again() noexcept {
    edits_.clear();
    texts_.clear();
    offloads_.clear();
    stored_.clear();
    bytes_stored_ = 0;
    refused_units_ = 0;
    store_error_ = nullptr;
    thinking_dropped_ = 0;
    is_torn_ = false;
    forget_overlay();
    forget_messages();
    protected_.reset();
    open_loop_.reset();
    version_ = side_->counters.version;
    epoch_ = side_->epoch;
    before_ = after_ = side_->columns[column_].messages;
    next_serial_ = side_->counters.next_serial;
}

}  // namespace whittle::inline v0
