// A store that breaks one promise.
#pragma once

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/storage/storage.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace whittle::testing {

enum class Fault {
    none,
    cuts_at_nul,
    empty_is_absent,
    absent_is_empty,
    overwrites,
    refuses_same,
    compares_length_only,
    range_fails_at_end,
    mends_utf8,
    takes_negative,
    stat_is_off,
    keeps_removed,
    locates_elsewhere,
    takes_any_key,
    ignores_case,
    shortens_keys,
    denies_stream,
    writer_shows_early,
    dropped_writer_commits,
    clash_ends_writer,
    empty_writer_is_lost,
    invalid_key_keeps_writer,
    writers_share,
    stream_adds_newline,
    lists_backwards,
    lists_everything,
    never_stops,
    skips_after_removal,
    swallows,
    lists_a_page,
    loses_last_byte_of_blocks,
    wraps_offsets,
    everyone_wins,
    fails_for_twins,
    shows_half,
    offers_least,
};

/// Passes on to a store that keeps all promises, but for `fault`.
class BrokenStorage final : public Storage, public std::enable_shared_from_this<BrokenStorage> {
public:
    BrokenStorage(std::shared_ptr<Storage> inner, Fault fault) : inner_(std::move(inner)), fault_(fault) {}

    void put_if_absent(std::string_view key, std::string_view content) override {
        if (has(Fault::takes_any_key) && !is_valid_key(key)) return;
        const std::string name = named(key);
        if (has(Fault::cuts_at_nul)) content = content.substr(0, content.find('\0'));
        if (has(Fault::loses_last_byte_of_blocks) && content.size() == 65'536) content.remove_suffix(1);
        if (has(Fault::overwrites) && is_valid_key(key)) inner_->remove(name);
        if (has(Fault::shows_half)) show_half(name, content);
        if (has(Fault::refuses_same) && inner_->stat(name)) throw Error(Errc::already_exists, "put: again");
        if (has(Fault::fails_for_twins) && inner_->stat(name)) throw Error(Errc::storage_failed, "put: a twin");
        if (has(Fault::compares_length_only) && is_as_long(name, content)) return;
        if (has(Fault::everyone_wins) && inner_->stat(name)) return;
        inner_->put_if_absent(name, content);
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        if (has(Fault::takes_negative)) offset = std::max<std::int64_t>(offset, 0);
        if (has(Fault::wraps_offsets)) offset %= 1'000'000;
        auto content = inner_->get(named(key), offset, max_bytes);
        ++reads_;
        if (has(Fault::empty_is_absent) && content && content->empty()) return std::nullopt;
        if (has(Fault::absent_is_empty) && !content) return std::string();
        if (has(Fault::range_fails_at_end) && content && content->empty() && offset > 0)
            throw Error(Errc::invalid_argument, "get: beyond the end");
        if (has(Fault::mends_utf8) && content) return to_valid_utf8(*content);
        return content;
    }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        if (has(Fault::offers_least)) return Storage::stat(key);
        auto info = inner_->stat(named(key));
        if (info) info->key = key;
        if (has(Fault::stat_is_off) && info) ++info->bytes;
        return info;
    }

    bool remove(std::string_view key) override {
        if (has(Fault::offers_least)) return Storage::remove(key);
        if (has(Fault::keeps_removed)) return inner_->stat(key).has_value();
        if (has(Fault::skips_after_removal)) removed_ = true;
        return inner_->remove(named(key));
    }

    std::string locate(std::string_view key) const override {
        return has(Fault::locates_elsewhere) ? "somewhere" : std::string(key);
    }

    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override;
    std::unique_ptr<StorageWriter> open_writer() override;
    bool can_stream() override { return !has(Fault::denies_stream) && !has(Fault::offers_least); }

    [[nodiscard]] bool has(Fault fault) const noexcept { return fault == fault_; }

private:
    class Writer;

    [[nodiscard]] std::string named(std::string_view key) const {
        std::string name(key);
        if (has(Fault::shortens_keys)) name.resize(std::min<std::size_t>(name.size(), 100));
        if (has(Fault::ignores_case)) {
            for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        return name;
    }

    [[nodiscard]] bool is_as_long(const std::string& name, std::string_view content) {
        const auto info = is_valid_key(name) ? inner_->stat(name) : std::nullopt;
        return info && info->bytes == static_cast<std::int64_t>(content.size());
    }

    /// Until somebody has read an object: a short sleep is over before a slow machine reads. Only keys that
    /// threads race for, since nobody reads the others meanwhile.
    void show_half(const std::string& name, std::string_view content) {
        if (!name.starts_with("raced/") || inner_->stat(name)) return;
        const int before = reads_;
        inner_->put_if_absent(name, content.substr(0, content.size() / 2));
        for (int i = 0; i < 500 && reads_ == before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        inner_->remove(name);
    }

    std::shared_ptr<Storage> inner_;
    Fault fault_;
    std::atomic<bool> removed_{false};
    std::atomic<int> reads_{0};
    std::mutex mutex_;
    std::string shared_;  // of writers that share
};

inline void BrokenStorage::list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) {
    if (has(Fault::offers_least)) return Storage::list(prefix, visit);
    std::vector<ObjectInfo> all;
    inner_->list(has(Fault::lists_everything) ? "" : prefix, [&](const ObjectInfo& info) {
        all.push_back(info);
        return true;
    });
    if (has(Fault::lists_backwards)) std::reverse(all.begin(), all.end());
    if (has(Fault::lists_a_page) && all.size() > 100) all.resize(100);
    removed_ = false;
    for (const ObjectInfo& info : all) {
        if (removed_.exchange(false)) continue;  // as a cursor that counts rows does
        try {
            if (!visit(info) && !has(Fault::never_stops)) return;
        } catch (...) {
            if (!has(Fault::swallows)) throw;
        }
    }
}

class BrokenStorage::Writer final : public StorageWriter {
public:
    explicit Writer(std::shared_ptr<BrokenStorage> storage) : storage_(std::move(storage)) {}
    ~Writer() override {
        if (!storage_->has(Fault::dropped_writer_commits) || !open_) return;
        try {
            storage_->put_if_absent("dropped", content_);
        } catch (const Error&) {
            return;  // one of them is enough
        }
    }

    void write(std::string_view chunk) override {
        if (!open_ || tried_) throw Error(Errc::invalid_argument, "write: after commit");
        const std::scoped_lock lock(storage_->mutex_);
        std::string& content = storage_->has(Fault::writers_share) ? storage_->shared_ : content_;
        content += chunk;
        if (storage_->has(Fault::writer_shows_early) && !chunk.empty()) storage_->put_if_absent("early", chunk);
    }

    void commit(std::string_view key) override {
        if (!open_) throw Error(Errc::invalid_argument, "commit: used up");
        tried_ = true;
        std::string content = all_of_it();
        if (storage_->has(Fault::stream_adds_newline)) content += '\n';
        if (storage_->has(Fault::empty_writer_is_lost) && content.empty()) return;
        open_ = false;
        try {
            storage_->put_if_absent(key, content);
        } catch (const Error& error) {
            open_ = error.errc() == Errc::already_exists && !storage_->has(Fault::clash_ends_writer);
            open_ |= error.errc() == Errc::invalid_key && storage_->has(Fault::invalid_key_keeps_writer);
            throw;
        }
    }

private:
    [[nodiscard]] std::string all_of_it() const {
        const std::scoped_lock lock(storage_->mutex_);
        return storage_->has(Fault::writers_share) ? storage_->shared_ : content_;
    }

    std::shared_ptr<BrokenStorage> storage_;
    std::string content_;
    bool open_ = true;
    bool tried_ = false;  // a commit
};

inline std::unique_ptr<StorageWriter> BrokenStorage::open_writer() {
    if (has(Fault::offers_least)) return nullptr;
    return std::make_unique<Writer>(shared_from_this());
}

}  // namespace whittle::testing
