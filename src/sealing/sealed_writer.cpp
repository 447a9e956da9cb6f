#include "sealed_writer.hpp"

#include "sealed_reader.hpp"
#include "sealing_cipher.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace whittle::inline v0::sealing {
namespace {

constexpr std::size_t most_held = 1 << 20;

/// A stream that has grown too large to be held.
class LongStream {
public:
    LongStream(std::unique_ptr<StorageWriter> out, const SealingKey& key)
        : out_(std::move(out)), header_{key.id, random_salt(), false}, cipher_(key, header_, {}) {
        out_->write(to_bytes(header_));
    }

    /// The last piece waits for more, since it is sealed as the last one.
    void write(std::string_view chunk) {
        print_.add(chunk);
        held_ += chunk;
        std::size_t done = 0;
        for (; held_.size() - done > piece_bytes; done += piece_bytes)
            out_->write(cipher_.seal(std::string_view(held_).substr(done, piece_bytes), number_++, false));
        held_.erase(0, done);
    }

    void commit(std::string_view key) {
        if (total_.empty()) {
            out_->write(cipher_.seal(held_, number_, true));
            total_ = print_.take();
        }
        out_->commit(key);
    }

    /// Of all that was written, once a commit was tried.
    [[nodiscard]] const std::string& print() const noexcept { return total_; }

private:
    std::unique_ptr<StorageWriter> out_;
    SealedHeader header_;
    SealingCipher cipher_;
    ContentPrint print_{};
    std::string held_{};
    std::string total_{};
    std::int64_t number_ = 0;
};

class SealedWriter final : public StorageWriter {
public:
    SealedWriter(std::unique_ptr<StorageWriter> out, std::shared_ptr<Storage> inner,
                 std::shared_ptr<const SealingKeys> keys, std::shared_ptr<Storage> whole)
        : out_(std::move(out)), inner_(std::move(inner)), keys_(std::move(keys)), whole_(std::move(whole)) {}

    void write(std::string_view chunk) override {
        require_open("write");
        if (tried_) throw Error(Errc::invalid_argument, "write: after commit");
        if (!stream_ && held_.size() + chunk.size() > most_held) {
            stream_.emplace(std::move(out_), keys_->to_write());
            stream_->write(std::exchange(held_, {}));
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
        bool is_used_up = true;
        try {
            commit_under(key);
        } catch (const Error& error) {
            is_used_up = error.errc() != Errc::already_exists;
            if (is_used_up) close();
            throw;
        } catch (...) {
            close();
            throw;
        }
        close();
    }

private:
    void require_open(std::string_view attempted) const {
        if (is_closed_) throw Error(Errc::invalid_argument, fmt::format("{}: the writer is used up", attempted));
    }
    void close() {
        is_closed_ = true;
        held_ = {};
        stream_.reset();
        out_.reset();
    }

    void commit_under(std::string_view key) {
        if (!stream_) return whole_->put_if_absent(key, held_);
        try {
            stream_->commit(key);
        } catch (const Error& error) {
            if (error.errc() != Errc::already_exists || !is_stored(key)) throw;
        }
    }

    /// Two streams of the same content do not look the same once they are sealed. What cannot be read is other content.
    [[nodiscard]] bool is_stored(std::string_view key) const {
        try {
            const auto reader = SealedReader::open(*inner_, *keys_, key);
            return reader && reader->print() == stream_->print();
        } catch (const Error& error) {
            if (error.errc() != Errc::damaged && error.errc() != Errc::not_found) throw;
            return false;
        }
    }

    std::unique_ptr<StorageWriter> out_;
    std::shared_ptr<Storage> inner_;
    std::shared_ptr<const SealingKeys> keys_;
    std::shared_ptr<Storage> whole_;
    std::string held_{};
    std::optional<LongStream> stream_{};
    bool tried_ = false;
    bool is_closed_ = false;
};

}  // namespace

std::unique_ptr<StorageWriter> sealed_writer(std::shared_ptr<Storage> inner, std::shared_ptr<const SealingKeys> keys,
                                             std::shared_ptr<Storage> whole) {
    auto out = inner->open_writer();
    if (!out) return nullptr;
    return std::make_unique<SealedWriter>(std::move(out), std::move(inner), std::move(keys), std::move(whole));
}

}  // namespace whittle::inline v0::sealing
