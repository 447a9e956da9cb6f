#include "encrypted_writer.hpp"

#include "encrypted_reader.hpp"
#include "object_cipher.hpp"
#include "whittle/base/error.hpp"
#include "whittle/storage/detail/holding_writer.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::encryption {
namespace {

constexpr std::size_t most_held = 1 << 20;

/// A stream that has grown too large to be held.
class LongStream {
public:
    LongStream(std::shared_ptr<StorageWriter> out, std::shared_ptr<Storage> inner,
               std::shared_ptr<const EncryptionKeys> keys)
        : LongStream(std::move(out), std::move(inner), keys, keys->to_write()) {}

    /// The last piece waits for more, since it is encrypted as the last one.
    void write(std::string_view chunk) {
        print_.add(chunk);
        held_ += chunk;
        std::size_t done = 0;
        for (; held_.size() - done > piece_bytes; done += piece_bytes)
            out_->write(cipher_.encrypt(std::string_view(held_).substr(done, piece_bytes), number_++, false));
        held_.erase(0, done);
    }

    void commit(std::string_view key) {
        if (total_.empty()) {
            out_->write(cipher_.encrypt(held_, number_, true));
            total_ = print_.take();
        }
        try {
            out_->commit(key);
        } catch (const Error& error) {
            if (error.errc() != Errc::already_exists || !is_stored(key)) throw;
        }
    }

private:
    LongStream(std::shared_ptr<StorageWriter> out, std::shared_ptr<Storage> inner,
               std::shared_ptr<const EncryptionKeys> keys, const EncryptionKey& key)
        : out_(std::move(out)),
          inner_(std::move(inner)),
          keys_(std::move(keys)),
          header_{key.id, random_salt(), false},
          cipher_(key, header_, {}) {
        out_->write(to_bytes(header_));
    }

    /// Two streams of the same content do not look the same once they are encrypted. What cannot be read is other
    /// content.
    [[nodiscard]] bool is_stored(std::string_view key) const {
        try {
            const auto reader = EncryptedReader::open(*inner_, *keys_, key);
            return reader && reader->print() == total_;
        } catch (const Error& error) {
            if (error.errc() != Errc::damaged && error.errc() != Errc::not_found) throw;
            return false;
        }
    }

    std::shared_ptr<StorageWriter> out_;
    std::shared_ptr<Storage> inner_;
    std::shared_ptr<const EncryptionKeys> keys_;
    EncryptedHeader header_;
    ObjectCipher cipher_;
    ContentFingerprint print_{};
    std::string held_{};
    std::string total_{};  // the print of all that was written, once a commit was tried
    std::int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<StorageWriter> encrypted_writer(std::shared_ptr<Storage> inner,
                                                std::shared_ptr<const EncryptionKeys> keys,
                                                std::shared_ptr<Storage> whole) {
    std::shared_ptr<StorageWriter> out = inner->open_writer();
    if (!out) return nullptr;
    return std::make_unique<HoldingWriter<LongStream>>(
        most_held, std::move(whole), [out = std::move(out), inner = std::move(inner), keys = std::move(keys)] {
            return std::make_unique<LongStream>(out, inner, keys);
        });
}

}  // namespace whittle::inline v0::encryption
