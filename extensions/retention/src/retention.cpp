#include "whittle/retention/retention.hpp"

#include "key_index.hpp"
#include "log_index.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/conversation/detail/mark_keys.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0 {
namespace {

using retention::KeyIndex;
using retention::Log;
using retention::Logs;

constexpr std::array<std::string_view, 9> reason_words{
    "unreferenced", "over_size", "purged", "expired", "referenced", "log", "too_young", "recently_active", "unknown"};

bool is_going(RetentionReason reason) noexcept { return reason <= RetentionReason::expired; }

void require_retention(const RetentionOptions& options) {
    Problems problems;
    const auto not_negative = [&](std::string_view field, std::int64_t value) {
        if (value < 0) problems.error(std::string(field), std::to_string(value), "0 or more");
    };
    not_negative("unreferenced_max_age_seconds", options.unreferenced_max_age_seconds);
    not_negative("conversation_max_idle_seconds", options.conversation_max_idle_seconds);
    not_negative("max_bytes", options.max_bytes);
    not_negative("grace_seconds", options.grace_seconds);
    for (const std::string& root : options.log_roots) {
        if (!is_safe_name(root)) problems.error("log_roots", fmt::format("\"{}\"", root), "a safe name");
    }
    problems.throw_if_errors("plan retention");
}

/// One plan in the making.
class Planner {
public:
    Planner(Storage& storage, const RetentionOptions& options)
        : storage_(storage), options_(options), now_((options.clock ? options.clock : system_clock())->now() / 1'000) {}

    RetentionPlan run() {
        scan();
        decide_logs();
        retention::note_branches(storage_, logs_);
        note_folders();
        read_references();
        if (options_.max_bytes > 0) find_cut();
        storage_.list("", [&](const ObjectInfo& object) {
            check_cancelled();
            add(decide(object));
            return true;
        });
        finish();
        return std::move(plan_);
    }

private:
    /// Of what may go if the store is too large; also the order in which it goes.
    struct Candidate {
        std::int64_t stored_at_seconds = 0;
        Hash128 fingerprint{};
        std::int64_t bytes = 0;

        [[nodiscard]] bool comes_before(const Candidate& other) const noexcept {
            if (stored_at_seconds != other.stored_at_seconds) return stored_at_seconds < other.stored_at_seconds;
            return retention::comes_before(fingerprint, other.fingerprint);
        }
    };

    void check_cancelled() const {
        if (options_.check_cancelled) options_.check_cancelled();
    }

    void scan() {
        storage_.list("", [&](const ObjectInfo& object) {
            check_cancelled();
            keys_.add(object.key);
            keys_.add(retention::folder_of(object.key));
            if (const auto key = retention::log_key_of(object.key, options_.log_roots)) {
                retention::add_to(logs_, *key, object);
                plan_.known_log_keys.push_back(hash128(object.key));
            }
            return true;
        });
        std::ranges::sort(plan_.known_log_keys, retention::comes_before);
        keys_.finish();
        if (!logs_.empty() || options_.next_saved_conversation || options_.all_conversations_known) return;
        throw Error(Errc::invalid_argument,
                    "plan retention: the store has no log of a conversation, and none is given that is saved "
                    "elsewhere: nobody knows what is still wanted. Give the saved ones (`saved`, on the command line "
                    "--live), or say that all are known");
    }

    [[nodiscard]] bool is_within_grace(std::int64_t stored_at_seconds) const noexcept {
        return options_.grace_seconds > 0 &&
               (stored_at_seconds == 0 || stored_at_seconds > now_ - options_.grace_seconds);
    }

    void decide_logs() {
        for (const std::string& given : options_.purge_conversations) {
            const std::string id = to_safe_name(given);
            purged_.insert_or_assign(id, RetentionReason::purged);
            const auto log = logs_.find(id);
            if (log == logs_.end()) continue;
            if (is_within_grace(log->second.newest)) {
                throw Error(Errc::conflict,
                            fmt::format("purge conversation \"{}\": it was saved {} seconds ago; end its agent first",
                                        id, now_ - log->second.newest));
            }
            log->second.state = Log::State::purged;
        }
        const std::int64_t most = options_.conversation_max_idle_seconds;
        for (auto& [id, log] : logs_) {
            const bool is_old = most > 0 && log.is_time_known && log.newest <= now_ - most;
            if (is_old && log.state == Log::State::live && !is_within_grace(log.newest))
                log.state = Log::State::expired;
        }
    }

    void note_folders() {
        for (const auto& [id, log] : logs_) add_folder(id);
        for (const auto& [id, reason] : purged_) add_folder(id);
    }

    void add_folder(const std::string& id) {
        owners_.insert_or_assign(short_root(id), id);
        owners_.insert_or_assign(id, id);
    }

    [[nodiscard]] std::uint32_t reader_named(std::string name) {
        readers_.push_back(std::move(name));
        return static_cast<std::uint32_t>(readers_.size() - 1);
    }

    void read_references() {
        const auto at_times = [&] { check_cancelled(); };
        for (const auto& [id, log] : logs_) {
            if (!log.is_read()) continue;
            const std::uint32_t by = reader_named(id);
            keys_.mark(id, by);  // for the lists of what a fork may read
            storage_.list(log.prefix(id), [&](const ObjectInfo& object) {
                if (const auto content = storage_.get(object.key)) keys_.mark_in(*content, by, at_times);
                return true;
            });
        }
        if (!options_.next_saved_conversation) return;
        while (auto saved = options_.next_saved_conversation())
            keys_.mark_in(saved->text, reader_named(std::move(saved->name_in_reports)), at_times);
        read_marks();
    }

    /// What saved messages name by the ids that they carry may itself name originals.
    void read_marks() {
        storage_.list("", [&](const ObjectInfo& object) {
            check_cancelled();
            if (detail::marks_name_in_key(object.key).empty()) return true;
            const auto by = keys_.referrer(object.key);
            const auto content = by ? storage_.get(object.key) : std::nullopt;
            if (content) keys_.mark_in(*content, *by, [&] { check_cancelled(); });
            return true;
        });
    }

    [[nodiscard]] RetentionObject decide(const ObjectInfo& object) const {
        RetentionObject decided{object.key, object.bytes, object.stored_at_seconds};
        if (const auto key = retention::log_key_of(object.key, options_.log_roots)) {
            decide_log(decided, key->id);
        } else if (const auto by = referrer_of(object.key)) {
            decided.reason = RetentionReason::referenced;
            decided.conversation = readers_[*by];
        } else {
            decide_unreferenced(decided);
        }
        return decided;
    }

    void decide_log(RetentionObject& object, std::string_view id) const {
        const auto found = logs_.find(id);
        if (found == logs_.end() || !is_known_log(object.key)) {  // written since the store was looked at
            object.reason = RetentionReason::too_young;
            return;
        }
        const Log& log = found->second;
        object.reason = log.is_read()                     ? RetentionReason::log
                        : log.state == Log::State::purged ? RetentionReason::purged
                                                          : RetentionReason::expired;
        object.conversation = log.needed_by.empty() ? std::string(id) : log.needed_by;
    }

    [[nodiscard]] bool is_known_log(std::string_view key) const {
        return std::ranges::binary_search(plan_.known_log_keys, hash128(key), retention::comes_before);
    }

    /// What a fork may read is listed in an object that no message names: it lives if the fork does.
    [[nodiscard]] std::optional<std::uint32_t> referrer_of(std::string_view key) const {
        if (auto by = keys_.referrer(key)) return by;
        return detail::is_roots_key(key) ? keys_.referrer(retention::folder_of(key)) : std::nullopt;
    }

    void decide_unreferenced(RetentionObject& object) const {
        const auto owner = owners_.find(retention::folder_of(object.key));
        if (owner != owners_.end()) object.conversation = owner->second;
        if (is_within_grace(object.stored_at_seconds) || !keys_.has(object.key)) {
            object.reason = RetentionReason::too_young;
        } else if (owner == owners_.end()) {
            object.reason = options_.all_conversations_known ? by_age(object) : RetentionReason::unknown;
        } else if (const auto log = logs_.find(owner->second); log == logs_.end() || !log->second.is_read()) {
            const bool is_expired = log != logs_.end() && log->second.state == Log::State::expired;
            object.reason = is_expired ? RetentionReason::expired : RetentionReason::purged;
        } else {
            object.reason = is_within_grace(log->second.newest) ? RetentionReason::recently_active : by_age(object);
        }
    }

    [[nodiscard]] RetentionReason by_age(const RetentionObject& object) const {
        const bool is_old =
            options_.unreferenced_max_age_seconds == 0 ||
            (object.stored_at_seconds > 0 && object.stored_at_seconds <= now_ - options_.unreferenced_max_age_seconds);
        if (is_old) return RetentionReason::unreferenced;
        const Candidate candidate{object.stored_at_seconds, hash128(object.key), object.bytes};
        if (cut_ && !cut_->comes_before(candidate)) return RetentionReason::over_size;
        if (candidates_ != nullptr) candidates_->push_back(candidate);
        return RetentionReason::too_young;
    }

    /// The youngest that has to go for the store to be small enough.
    void find_cut() {
        std::vector<Candidate> candidates;
        candidates_ = &candidates;
        std::int64_t bytes = 0;
        storage_.list("", [&](const ObjectInfo& object) {
            check_cancelled();
            if (!is_going(decide(object).reason)) bytes += object.bytes;
            return true;
        });
        candidates_ = nullptr;
        std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) { return a.comes_before(b); });
        for (const Candidate& candidate : candidates) {
            if (bytes <= options_.max_bytes) return;
            bytes -= candidate.bytes;
            cut_ = candidate;
        }
    }

    void add(RetentionObject object) {
        if (options_.visit) options_.visit(object);
        RetentionSum& sum = plan_.sums[object.reason];
        ++sum.objects;
        sum.bytes += object.bytes;
        plan_.bytes_before += object.bytes;
        if (!is_going(object.reason)) {
            plan_.bytes_after += object.bytes;
        } else if (retention::log_key_of(object.key, options_.log_roots)) {
            logs_going_.push_back(std::move(object));
        } else {
            plan_.to_remove.push_back(std::move(object));
        }
    }

    void finish() {
        plan_.to_remove.insert(plan_.to_remove.end(), std::move_iterator(logs_going_.begin()),
                               std::move_iterator(logs_going_.end()));
    }

    Storage& storage_;
    const RetentionOptions& options_;
    std::int64_t now_;  // seconds
    RetentionPlan plan_{};
    KeyIndex keys_{};
    Logs logs_{};
    std::map<std::string, RetentionReason, std::less<>> purged_{};
    std::map<std::string, std::string, std::less<>> owners_{};  // folder -> conversation
    std::vector<std::string> readers_{};
    std::vector<RetentionObject> logs_going_{};
    std::optional<Candidate> cut_{};
    std::vector<Candidate>* candidates_ = nullptr;
};

}  // namespace

std::string_view to_string(RetentionReason reason) noexcept {
    const auto at = static_cast<std::size_t>(reason);
    return at < reason_words.size() ? reason_words[at] : "";
}

RetentionSum RetentionPlan::removal_sum() const {
    RetentionSum all;
    for (const auto& [reason, sum] : sums) {
        if (!is_going(reason)) continue;
        all.objects += sum.objects;
        all.bytes += sum.bytes;
    }
    return all;
}

RetentionPlan plan_retention(Storage& storage, const RetentionOptions& options) {
    require_retention(options);
    return Planner(storage, options).run();
}

}  // namespace whittle::inline v0
