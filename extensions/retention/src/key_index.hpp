#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/hash.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::retention {

/// The part of a key in front of the first slash: a conversation's id, or its short root.
[[nodiscard]] std::string_view folder_of(std::string_view key) noexcept;

/// Keys by their fingerprints, and which of them somebody refers to. In doubt a key is referred to: fingerprints that
/// are equal stand for both keys.
class KeyIndex {
public:
    /// Before `finish`.
    void add(std::string_view key);
    void finish();

    /// Marks every key that stands in `text`, which may be JSON, also at the end of a path or in any of JSON's
    /// spellings, in JSON in JSON too. `by`: who refers to it. Calls `check_cancelled` for each 64 KiB.
    void mark_in(std::string_view text, std::uint32_t by, CancelCheck check_cancelled);
    void mark(std::string_view key, std::uint32_t by);

    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    /// Who referred to it first, by its key or the name of its marks; nullopt: nobody.
    [[nodiscard]] std::optional<std::uint32_t> referrer(std::string_view key) const;

private:
    static constexpr std::uint32_t nobody = UINT32_MAX;
    struct Slot {
        Hash128 fingerprint{};
        std::uint32_t by = nobody;
    };

    [[nodiscard]] const Slot* find(std::string_view key) const;
    [[nodiscard]] std::optional<std::uint32_t> referrer_of_print(std::string_view text) const;
    void mark_words_of(std::string_view text, std::uint32_t by, CancelCheck check_cancelled);
    void mark_word(std::string_view word, std::uint32_t by);

    std::vector<Slot> slots_{};  // in order of the fingerprints
};

[[nodiscard]] bool comes_before(const Hash128& a, const Hash128& b) noexcept;

}  // namespace whittle::inline v0::retention
