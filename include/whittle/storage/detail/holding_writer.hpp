#pragma once

#include "whittle/base/error.hpp"
#include "whittle/storage/detail/commit_once.hpp"
#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Holds what is written up to a size, and puts it as a whole; what grows beyond goes through a `Stream`, which has
/// `write(chunk)` and `commit(key)` as a StorageWriter.
template <typename Stream>
class HoldingWriter final : public StorageWriter {
public:
    /// `begin`: called once at most.
    HoldingWriter(std::size_t most_held, std::shared_ptr<Storage> whole, std::function<std::unique_ptr<Stream>()> begin)
        : most_held_(most_held), whole_(std::move(whole)), begin_(std::move(begin)) {}

    void write(std::string_view chunk) override {
        require_open("write");
        if (tried_) throw Error(Errc::invalid_argument, "write: after commit");
        if (!stream_ && held_.size() + chunk.size() > most_held_) {
            begin_stream();
        }
        if (stream_) {
            stream_->write(chunk);
        } else {
            held_ += chunk;
        }
    }

    void commit(std::string_view key) override {
        require_open("commit");
        tried_ = true;
        commit_once([&] { stream_ ? stream_->commit(key) : whole_->put_if_absent(key, held_); }, [&] { close(); });
    }

private:
    /// A stream that did not begin has written who knows what.
    void begin_stream() {
        try {
            stream_ = begin_();
            stream_->write(std::exchange(held_, {}));
        } catch (...) {
            close();
            throw;
        }
    }
    void require_open(std::string_view operation) const {
        if (is_closed_) throw Error(Errc::invalid_argument, std::string(operation) + ": the writer is used up");
    }
    void close() {
        is_closed_ = true;
        held_ = {};
        stream_.reset();
        begin_ = nullptr;
    }

    std::size_t most_held_;
    std::shared_ptr<Storage> whole_;
    std::function<std::unique_ptr<Stream>()> begin_;
    std::string held_{};
    std::unique_ptr<Stream> stream_{};
    bool tried_ = false;
    bool is_closed_ = false;
};

}  // namespace whittle::inline v0
