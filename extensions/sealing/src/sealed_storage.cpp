#include "whittle/sealing/sealed_storage.hpp"

#include "sealed_reader.hpp"
#include "sealed_writer.hpp"
#include "sealing_keys.hpp"
#include "whittle/base/error.hpp"
#include "whittle/storage/detail/range.hpp"

#include <fmt/format.h>

#include <utility>

namespace whittle::inline v0 {
namespace {

using namespace sealing;

class SealedStorageOver final : public SealedStorage, public std::enable_shared_from_this<SealedStorageOver> {
public:
    SealedStorageOver(std::shared_ptr<Storage> inner, SealingOptions options)
        : inner_(std::move(inner)), keys_(std::make_shared<const SealingKeys>(std::move(options))) {
        if (!inner_) throw Error(Errc::invalid_config, "sealed_storage: inner is null");
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
        const auto reader = SealedReader::open(*inner_, *keys_, key);
        return reader ? reader->read(offset, max_bytes) : std::nullopt;
    }

    std::unique_ptr<StorageWriter> open_writer() override { return sealed_writer(inner_, keys_, shared_from_this()); }
    bool can_stream() override { return inner_->can_stream(); }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        auto info = inner_->stat(key);
        if (!info || is_read_as_it_is(key)) return info;
        const auto content = content_in(info->bytes);
        if (!content)
            throw Error(Errc::damaged, fmt::format("stat \"{}\": no sealed object has {} bytes", key, info->bytes));
        info->bytes = *content;
        return info;
    }

    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        inner_->list(prefix, [&](const ObjectInfo& info) {
            const bool is_plain = is_listed_as_it_is(info.key);
            return visit({info.key, is_plain ? info.bytes : content_in(info.bytes).value_or(0), info.stored_at});
        });
    }

    bool remove(std::string_view key) override { return inner_->remove(key); }

    std::string locate(std::string_view key) const override { return std::string(key); }

    std::map<std::string, std::int64_t> keys_in_use(std::string_view prefix) override {
        std::map<std::string, std::int64_t> found;
        inner_->list(prefix, [&](const ObjectInfo& info) {
            if (const auto start = inner_->get(info.key, 0, header_bytes)) ++found[sealing_key_id(*start).value_or("")];
            return true;
        });
        return found;
    }

private:
    void put(std::string_view key, std::string_view content) {
        const SealingKey sealing_key = keys_->to_write();
        const SealedHeader header{sealing_key.id, salt_of(sealing_key, key, content), true};
        const SealingCipher cipher(sealing_key, header, key);
        std::string sealed = to_bytes(header);
        const std::int64_t pieces = pieces_of(static_cast<std::int64_t>(content.size()));
        sealed.reserve(sealed.size() + content.size() + static_cast<std::size_t>(pieces * proof_bytes));
        for (std::int64_t number = 0; number < pieces; ++number) {
            const auto first = static_cast<std::size_t>(number * piece_bytes);
            sealed += cipher.seal(content.substr(first, piece_bytes), number, number + 1 == pieces);
        }
        inner_->put_if_absent(key, sealed);
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

    /// What is not there is not sealed: the store says the rest.
    [[nodiscard]] bool is_read_as_it_is(std::string_view key) const {
        if (!keys_->read_unsealed()) return false;
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
    std::shared_ptr<const SealingKeys> keys_;
};

}  // namespace

std::shared_ptr<SealedStorage> sealed_storage(std::shared_ptr<Storage> inner, SealingOptions options) {
    return std::make_shared<SealedStorageOver>(std::move(inner), std::move(options));
}

std::optional<std::string> sealing_key_id(std::string_view object) {
    auto header = header_of(object);
    if (!header) return {};
    return std::move(header->key_id);
}

}  // namespace whittle::inline v0
