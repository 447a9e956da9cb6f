#include "encrypted_reader.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::encryption {

std::optional<EncryptedReader> EncryptedReader::open(Storage& inner, const EncryptionKeys& keys, std::string_view key) {
    auto start = inner.get(key, 0, header_bytes + encrypted_piece_bytes);
    if (!start) return {};
    auto length = static_cast<std::int64_t>(start->size());
    if (length == header_bytes + encrypted_piece_bytes) {
        const auto info = inner.stat(key);
        if (!info) return {};
        length = info->bytes;
    }
    const auto header = header_of(*start);
    const auto content = content_in(length);
    if (!header || !content)
        throw Error(Errc::damaged,
                    fmt::format("get \"{}\": expected an encrypted object, found {} bytes that are none", key, length));
    EncryptedReader reader(inner, key);
    reader.start_ = *std::move(start);
    reader.content_ = *content;
    reader.cipher_ = std::make_unique<ObjectCipher>(keys.to_read(*header, "get", key), *header, key);
    return reader;
}

std::optional<std::string> EncryptedReader::piece(std::int64_t number) const {
    std::optional<std::string> fetched;
    std::string_view encrypted = std::string_view(start_).substr(header_bytes);
    if (number > 0) {
        fetched = inner_->get(key_, header_bytes + number * encrypted_piece_bytes, encrypted_piece_bytes);
        if (!fetched) return {};
        encrypted = *fetched;
    }
    auto opened = cipher_->decrypt(encrypted, number, number + 1 == pieces_of(content_));
    if (!opened)
        throw Error(Errc::damaged, fmt::format("get \"{}\": piece {} of {} is not what was encrypted under this key: "
                                               "altered, cut, or moved",
                                               key_, number + 1, pieces_of(content_)));
    return opened;
}

std::optional<std::string> EncryptedReader::read(std::int64_t offset, std::int64_t max_bytes) const {
    const std::int64_t first = std::min(offset, content_);
    const std::int64_t end = first + std::min(max_bytes, content_ - first);
    std::string text;
    if (first == end && content_ > 0) return text;
    text.reserve(static_cast<std::size_t>(end - first));
    for (std::int64_t number = first / piece_bytes; number == 0 || number * piece_bytes < end; ++number) {
        const auto opened = piece(number);
        if (!opened) return {};
        const std::int64_t start = number * piece_bytes;
        const std::int64_t from = std::max(first, start) - start;
        const auto size = static_cast<std::size_t>(std::min(end - start, piece_bytes) - from);
        text += std::string_view(*opened).substr(static_cast<std::size_t>(from), size);
        if (start + piece_bytes >= end) break;
    }
    return text;
}

std::optional<std::string> EncryptedReader::print() const {
    ContentFingerprint print;
    for (std::int64_t number = 0; number < pieces_of(content_); ++number) {
        const auto opened = piece(number);
        if (!opened) return {};
        print.add(*opened);
    }
    return print.take();
}

}  // namespace whittle::inline v0::encryption
