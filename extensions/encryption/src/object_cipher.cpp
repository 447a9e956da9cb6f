#include "object_cipher.hpp"

#include "whittle/base/error.hpp"

#include <sodium.h>

#include <memory>

namespace whittle::inline v0::encryption {
namespace {

static_assert(crypto_aead_xchacha20poly1305_ietf_ABYTES == proof_bytes);
static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == 32);
using Nonce = std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES>;

const unsigned char* bytes_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) noexcept { return reinterpret_cast<unsigned char*>(text.data()); }

/// The number of the piece, and whether it is the last one: a store that drops the last pieces is found out.
Nonce nonce_of(std::int64_t number, bool is_last) noexcept {
    Nonce nonce{};
    auto left = static_cast<std::uint64_t>(number);
    for (std::size_t i = 0; i < sizeof(left); ++i, left >>= 8U) nonce[i] = static_cast<unsigned char>(left & 0xffU);
    nonce[sizeof(left)] = is_last ? 1 : 0;
    return nonce;
}

/// BLAKE2b of parts whose lengths are told with them, so that no two lists of parts are one text.
class KeyedHash {
public:
    KeyedHash(std::string_view key, std::size_t size) : size_(size) {
        crypto_generichash_init(&state_, bytes_of(key), key.size(), size);
    }
    ~KeyedHash() { sodium_memzero(&state_, sizeof(state_)); }
    KeyedHash(const KeyedHash&) = delete;
    KeyedHash& operator=(const KeyedHash&) = delete;

    KeyedHash& part(std::string_view text) {
        std::array<unsigned char, 8> length{};
        std::uint64_t left = text.size();
        for (unsigned char& byte : length) {
            byte = static_cast<unsigned char>(left & 0xffU);
            left >>= 8U;
        }
        crypto_generichash_update(&state_, length.data(), length.size());
        crypto_generichash_update(&state_, bytes_of(text), text.size());
        return *this;
    }
    void finish(unsigned char* out) { crypto_generichash_final(&state_, out, size_); }

private:
    crypto_generichash_state state_{};
    std::size_t size_;
};

}  // namespace

void require_sodium() {
    static const bool is_ready = sodium_init() >= 0;
    if (!is_ready) throw Error(Errc::storage_failed, "encryption: libsodium finds no source of random bytes");
}

ObjectCipher::ObjectCipher(const EncryptionKey& key, const EncryptedHeader& header, std::string_view stored_under)
    : bound_to_(to_bytes(header)) {
    if (header.is_bound) bound_to_.append(stored_under);
    KeyedHash(key.bytes, own_key_.size()).part("whittle sealed object").part(header.salt).finish(own_key_.data());
}

ObjectCipher::~ObjectCipher() { sodium_memzero(own_key_.data(), own_key_.size()); }

std::string ObjectCipher::encrypt(std::string_view piece, std::int64_t number, bool is_last) const {
    std::string encrypted(piece.size() + proof_bytes, '\0');
    const Nonce nonce = nonce_of(number, is_last);
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes_of(encrypted), nullptr, bytes_of(piece), piece.size(),
                                               bytes_of(std::string_view(bound_to_)), bound_to_.size(), nullptr,
                                               nonce.data(), own_key_.data());
    return encrypted;
}

std::optional<std::string> ObjectCipher::decrypt(std::string_view encrypted, std::int64_t number, bool is_last) const {
    if (encrypted.size() < proof_bytes) return {};
    std::string piece(encrypted.size() - proof_bytes, '\0');
    const Nonce nonce = nonce_of(number, is_last);
    const int failed = crypto_aead_xchacha20poly1305_ietf_decrypt(
        bytes_of(piece), nullptr, nullptr, bytes_of(encrypted), encrypted.size(), bytes_of(std::string_view(bound_to_)),
        bound_to_.size(), nonce.data(), own_key_.data());
    if (failed != 0) return {};
    return piece;
}

std::string salt_of(const EncryptionKey& key, std::string_view stored_under, std::string_view content) {
    std::string salt(salt_bytes, '\0');
    KeyedHash(key.bytes, salt_bytes).part("whittle salt").part(stored_under).part(content).finish(bytes_of(salt));
    return salt;
}

std::string random_salt() {
    std::string salt(salt_bytes, '\0');
    randombytes_buf(salt.data(), salt.size());
    return salt;
}

struct ContentFingerprint::State {
    crypto_generichash_state hash{};
};

ContentFingerprint::ContentFingerprint() : state_(std::make_unique<State>()) {
    crypto_generichash_init(&state_->hash, nullptr, 0, crypto_generichash_BYTES);
}
ContentFingerprint::~ContentFingerprint() = default;

void ContentFingerprint::add(std::string_view bytes) {
    crypto_generichash_update(&state_->hash, bytes_of(bytes), bytes.size());
}

std::string ContentFingerprint::take() {
    std::string print(crypto_generichash_BYTES, '\0');
    crypto_generichash_final(&state_->hash, bytes_of(print), print.size());
    return print;
}

}  // namespace whittle::inline v0::encryption

namespace whittle::inline v0 {

std::string new_encryption_key() {
    encryption::require_sodium();
    std::string bytes(crypto_aead_xchacha20poly1305_ietf_KEYBYTES, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

}  // namespace whittle::inline v0
