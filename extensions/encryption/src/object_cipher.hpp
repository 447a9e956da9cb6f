#pragma once

#include "encrypted_format.hpp"
#include "whittle/encryption/encrypted_storage.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::encryption {

/// Encrypts and decrypts the pieces of one object, with a key that is made of the master key and the object's salt, so
/// that the number of a piece is enough of a nonce. Wipes that key at its end.
class ObjectCipher {
public:
    /// `stored_under`: the object's key in the store, if the header says that it is bound to it.
    ObjectCipher(const EncryptionKey& key, const EncryptedHeader& header, std::string_view stored_under);
    ~ObjectCipher();
    ObjectCipher(const ObjectCipher&) = delete;
    ObjectCipher& operator=(const ObjectCipher&) = delete;

    [[nodiscard]] std::string encrypt(std::string_view piece, std::int64_t number, bool is_last) const;
    /// Nullopt if it is not what `encrypt` made of these.
    [[nodiscard]] std::optional<std::string> decrypt(std::string_view encrypted, std::int64_t number,
                                                     bool is_last) const;

private:
    std::array<unsigned char, 32> own_key_{};
    std::string bound_to_{};  // header and key: what each piece is proved together with
};

/// The salt of an object that is in memory: the same for the same content under the same key.
[[nodiscard]] std::string salt_of(const EncryptionKey& key, std::string_view stored_under, std::string_view content);
[[nodiscard]] std::string random_salt();

/// Tells whether a stream and a stored object are the same, without either in memory.
class ContentFingerprint {
public:
    ContentFingerprint();
    ~ContentFingerprint();
    ContentFingerprint(const ContentFingerprint&) = delete;
    ContentFingerprint& operator=(const ContentFingerprint&) = delete;

    void add(std::string_view bytes);
    [[nodiscard]] std::string take();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Throws Error(storage_failed) if libsodium cannot start.
void require_sodium();

}  // namespace whittle::inline v0::encryption
