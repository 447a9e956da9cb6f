#include "whittle/encryption/encrypted_storage.hpp"

#include "encrypted_reader.hpp"
#include "encrypted_writer.hpp"
#include "encryption_keys.hpp"
#include "whittle/base/error.hpp"
#include "whittle/storage/detail/range.hpp"

#include <fmt/format.h>

#include <utility>

namespace whittle::inline v0 {
namespace {

using namespace encryption;

class CipherStorage final : public EncryptedStorage, public std::enable_shared_from_this<CipherStorage> {
public:
    CipherStorage(std::shared_ptr<Storage> inner, EncryptionOptions options)
        : inner_(std::move(inner)), keys_(std::make_shared<const EncryptionKeys>(std::move(options))) {
        if (!inner_) throw Error(Errc::invalid_config, "encrypted_storage: inner is null");
        require_sodium();
    }

    void put_if_absent(std::string_view key, std::string_view content) override {
        require_valid_key("put", key);
        try {
            put(key, content);
        } catch (const Error& error) {
            if (error.errc() != Errc::already_exists || !holds(key, content)) throw;
        }
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        require_range(key, offset, max_bytes);
        if (is_read_as_it_is(key)) return inner_->get(key, offset, max_bytes);
        const auto reader = EncryptedReader::open(*inner_, *keys_, key);
        return reader ? reader->read(offset, max_bytes) : std::nullopt;
    }

    std::unique_ptr<StorageWriter> open_writer() override {
        return encrypted_writer(inner_, keys_, shared_from_this());
    }
    bool can_stream() override { return inner_->can_stream(); }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        auto info = inner_->stat(key);
        if (!info || is_read_as_it_is(key)) return info;
        const auto content = content_in(info->bytes);
        if (!content)
            throw Error(Errc::damaged, fmt::format("stat \"{}\": no encrypted object has {} bytes", key, info->bytes));
        info->bytes = *content;
        return info;
    }

    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        inner_->list(prefix, [&](const ObjectInfo& info) {
            const bool is_plain = is_listed_as_it_is(info.key);
            return visit(
                {info.key, is_plain ? info.bytes : content_in(info.bytes).value_or(0), info.stored_at_seconds});
        });
    }

    bool remove(std::string_view key) override { return inner_->remove(key); }

    std::string locate(std::string_view key) const override { return std::string(key); }

    std::map<std::string, std::int64_t> keys_in_use(std::string_view prefix) override {
        std::map<std::string, std::int64_t> found;
        inner_->list(prefix, [&](const ObjectInfo& info) {
            if (const auto start = inner_->get(info.key, 0, header_bytes))
                ++found[encryption_key_id(*start).value_or("")];
            return true;
        });
        return found;
    }

private:
    void put(std::string_view key, std::string_view content) {
        const EncryptionKey encryption_key = keys_->to_write();
        const EncryptedHeader header{encryption_key.id, salt_of(encryption_key, key, content), true};
        const ObjectCipher cipher(encryption_key, header, key);
        std::string encrypted = to_bytes(header);
        const std::int64_t pieces = pieces_of(static_cast<std::int64_t>(content.size()));
        encrypted.reserve(encrypted.size() + content.size() + static_cast<std::size_t>(pieces * proof_bytes));
        for (std::int64_t number = 0; number < pieces; ++number) {
            const auto first = static_cast<std::size_t>(number * piece_bytes);
            encrypted += cipher.encrypt(content.substr(first, piece_bytes), number, number + 1 == pieces);
        }
        inner_->put_if_absent(key, encrypted);
    }

    /// What cannot be read, since it is damaged or its key is gone, is other content.
    [[nodiscard]] bool holds(std::string_view key, std::string_view content) {
        try {
            return get(key, 0, INT64_MAX) == content;
        } catch (const Error& error) {
            if (error.errc() != Errc::damaged && error.errc() != Errc::not_found) throw;
            return false;
        }
    }

    /// What is not there is not encrypted: the store says the rest.
    [[nodiscard]] bool is_read_as_it_is(std::string_view key) const {
        if (!keys_->read_unencrypted()) return false;
        const auto start = inner_->get(key, 0, header_bytes);
        return !start || !header_of(*start);
    }

    /// What is damaged is listed, too: who reads it is told.
    [[nodiscard]] bool is_listed_as_it_is(std::string_view key) const {
        try {
            return is_read_as_it_is(key);
        } catch (const Error& error) {
            if (error.errc() != Errc::damaged) throw;
            return false;
        }
    }

    std::shared_ptr<Storage> inner_;
    std::shared_ptr<const EncryptionKeys> keys_;
};

}  // namespace

std::shared_ptr<EncryptedStorage> encrypted_storage(std::shared_ptr<Storage> inner, EncryptionOptions options) {
    return std::make_shared<CipherStorage>(std::move(inner), std::move(options));
}

std::optional<std::string> encryption_key_id(std::string_view object) {
    auto header = header_of(object);
    if (!header) return {};
    return std::move(header->key_id);
}

}  // namespace whittle::inline v0
