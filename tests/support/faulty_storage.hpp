#pragma once

#include "whittle/base/error.hpp"
#include "whittle/storage/storage.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace whittle::testing {

/// Passes everything on to `inner`, but throws Error(storage_failed) at the `fail_at_call`-th call (from 1; 0 never).
/// Every function but `locate` and `can_stream` is one call; so are `write` and `commit` of a writer. A failed call
/// does not reach `inner`.
class FaultyStorage final : public Storage {
public:
    FaultyStorage(std::shared_ptr<Storage> inner, int fail_at_call)
        : state_(std::make_shared<State>(fail_at_call)), inner_(std::move(inner)) {}

    /// Calls so far, the failed one included.
    [[nodiscard]] int calls() const noexcept { return state_->calls; }

    void put_if_absent(std::string_view key, std::string_view content) override {
        state_->step("put");
        inner_->put_if_absent(key, content);
    }
    std::optional<std::string> get(std::string_view key, std::int64_t offset = 0,
                                   std::int64_t max_bytes = INT64_MAX) override {
        state_->step("get");
        return inner_->get(key, offset, max_bytes);
    }
    std::unique_ptr<StorageWriter> open_writer() override {
        state_->step("open_writer");
        auto writer = inner_->open_writer();
        if (!writer) return nullptr;
        return std::make_unique<Writer>(state_, std::move(writer));
    }
    bool can_stream() override { return inner_->can_stream(); }  // no call: it is a property
    std::optional<ObjectInfo> stat(std::string_view key) override {
        state_->step("stat");
        return inner_->stat(key);
    }
    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        state_->step("list");
        inner_->list(prefix, visit);
    }
    bool remove(std::string_view key) override {
        state_->step("remove");
        return inner_->remove(key);
    }
    std::string locate(std::string_view key) const override { return inner_->locate(key); }

private:
    struct State {
        explicit State(int call) : fail_at_call(call) {}
        void step(const std::string& what) {
            if (++calls == fail_at_call) throw Error(Errc::storage_failed, what + ": injected failure");
        }
        std::atomic<int> calls{0};
        int fail_at_call;
    };

    class Writer final : public StorageWriter {
    public:
        Writer(std::shared_ptr<State> state, std::unique_ptr<StorageWriter> inner)
            : state_(std::move(state)), inner_(std::move(inner)) {}
        void write(std::string_view chunk) override {
            state_->step("write");
            inner_->write(chunk);
        }
        void commit(std::string_view key) override {
            state_->step("commit");
            inner_->commit(key);
        }

    private:
        std::shared_ptr<State> state_;
        std::unique_ptr<StorageWriter> inner_;
    };

    std::shared_ptr<State> state_;
    std::shared_ptr<Storage> inner_;
};

}  // namespace whittle::testing
