#include "whittle/retention/retention.hpp"

#include "key_index.hpp"
#include "log_index.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace whittle::inline v0 {
namespace {

/// The conversation whose log or folder a key lies in.
std::string_view owner_of(const RetentionObject& object, const std::vector<std::string>& log_roots) {
    const auto key = retention::log_key_of(object.key, log_roots);
    if (key) return key->id;
    return object.conversation.empty() ? retention::folder_of(object.key) : std::string_view(object.conversation);
}

/// What became known since the plan was made: new objects of logs, read as they come.
class NewLogEntries {
public:
    NewLogEntries(Storage& storage, const RetentionPlan& plan, const RetentionOptions& options)
        : storage_(storage), plan_(plan), options_(options) {
        for (const RetentionObject& object : plan.to_remove) {
            keys_.add(object.key);
            keys_.add(owner_of(object, options.log_roots));
        }
        keys_.finish();
    }

    /// At all of them.
    void look() {
        for (const std::string& root : options_.log_roots) look_below(root + '/');
    }
    /// At those of one conversation, if it has written there: its next entry has the next number.
    void look_at(std::string_view conversation) {
        for (const std::string& root : options_.log_roots) {
            const auto newest = newest_.find(std::pair(root, std::string(conversation)));
            const std::uint64_t next = newest == newest_.end() ? 1 : newest->second + 1;
            if (storage_.stat(retention::entry_key(root, conversation, next)))
                look_below(root + '/' + std::string(conversation) + '/');
        }
    }

    /// Whether a new entry names the object, or its conversation, or is one of its conversation.
    [[nodiscard]] bool spares(const RetentionObject& object) const {
        return keys_.referrer(object.key) || keys_.referrer(owner_of(object, options_.log_roots));
    }

private:
    void look_below(const std::string& prefix) {
        storage_.list(prefix, [&](const ObjectInfo& object) {
            if (options_.check_cancelled) options_.check_cancelled();
            const auto key = retention::log_key_of(object.key, options_.log_roots);
            if (!key) return true;
            std::uint64_t& newest = newest_[{std::string(key->root), std::string(key->id)}];
            newest = std::max(newest, key->entry);
            if (!is_known(object.key)) read(object.key, key->id);
            return true;
        });
    }

    [[nodiscard]] bool is_known(const std::string& key) const {
        return std::ranges::binary_search(plan_.known_log_keys, hash128(key), retention::comes_before) ||
               seen_.contains(key);
    }

    void read(const std::string& key, std::string_view conversation) {
        keys_.mark(conversation, 0);
        const auto content = storage_.get(key);
        if (!content) return;
        keys_.mark_in(*content, 0, [&] {
            if (options_.check_cancelled) options_.check_cancelled();
        });
        seen_.insert(key);
    }

    Storage& storage_;
    const RetentionPlan& plan_;
    const RetentionOptions& options_;
    retention::KeyIndex keys_{};
    std::set<std::string> seen_{};
    std::map<std::pair<std::string, std::string>, std::uint64_t> newest_{};  // entry, by root and conversation
};

}  // namespace

RetentionResult execute_retention(Storage& storage, const RetentionPlan& plan, const RetentionOptions& options) {
    constexpr std::size_t objects_a_look = 256;
    RetentionResult result;
    NewLogEntries logs(storage, plan, options);
    for (std::size_t i = 0; i < plan.to_remove.size(); ++i) {
        if (i % objects_a_look == 0) logs.look();
        const RetentionObject& object = plan.to_remove[i];
        logs.look_at(owner_of(object, options.log_roots));
        const auto now = storage.stat(object.key);
        if (!now) continue;
        const bool is_same = now->bytes == object.bytes && now->stored_at_seconds == object.stored_at_seconds;
        if (!is_same || logs.spares(object)) {
            result.planned_but_kept.push_back(object.key);
            continue;
        }
        if (!storage.remove(object.key)) continue;
        ++result.removed.objects;
        result.removed.bytes += object.bytes;
    }
    return result;
}

}  // namespace whittle::inline v0
