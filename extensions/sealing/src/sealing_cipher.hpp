#pragma once

#include "sealed_format.hpp"
#include "whittle/sealing/sealed_storage.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::sealing {

/// Seals and opens the pieces of one object, with a key that is made of the master key and the object's salt, so that
/// the number of a piece is enough of a nonce. Wipes that key at its end.
class SealingCipher {
public:
    /// `stored_under`: the object's key in the store, if the header says that it is bound to it.
    SealingCipher(const SealingKey& key, const SealedHeader& header, std::string_view stored_under);
    ~SealingCipher();
    SealingCipher(const SealingCipher&) = delete;
    SealingCipher& operator=(const SealingCipher&) = delete;

    [[nodiscard]] std::string seal(std::string_view piece, std::int64_t number, bool is_last) const;
    /// Nullopt if it is not what `seal` made of these.
    [[nodiscard]] std::optional<std::string> open(std::string_view sealed, std::int64_t number, bool is_last) const;

private:
    std::array<unsigned char, 32> own_key_{};
    std::string bound_to_{};  // header and key: what each piece is proved together with
};

/// The salt of an object that is in memory: the same for the same content under the same key.
[[nodiscard]] std::string salt_of(const SealingKey& key, std::string_view stored_under, std::string_view content);
[[nodiscard]] std::string random_salt();

/// Tells whether a stream and a stored object are the same, without either in memory..
class ContentPrint {
public:
    ContentPrint();
    ~ContentPrint();
    ContentPrint(const ContentPrint&) = delete;
    ContentPrint& operator=(const ContentPrint&) = delete;

    void add(std::string_view bytes);
    [[nodiscard]] std::string take();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Throws Error(storage_failed) if libsodium cannot start.
void require_sodium();

}  // namespace whittle::inline v0::sealing
