#pragma once

#include "whittle/redaction/redaction.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What an object says of its masks.
struct RedactionNote {
    std::int64_t places = 0;      ///< how many were masked
    std::string rules{};          ///< "key 2, named 1"
    std::int64_t note_bytes = 0;  ///< of the object, at its end: they are the note and no content
};

/// Masks everything that is written to `inner`, and says in each object that was masked in how many places, by which
/// rules. Content without a match is stored as it is. Keys of objects are not masked. What is compared, hashed and
/// read back is the masked content: the same content again is a no-op, other content that is masked to the same bytes
/// too. A stream is held up to 8 MiB, to be masked as a whole; a longer one is masked line by line. To encrypt too,
/// encrypt inside: redacted_storage(encrypted_storage(...)). Thread-safe if the store and the rules are. Throws
/// Error(invalid_config) if `inner` is null or a rule is bad; writing throws Error(invalid_argument) for what is
/// encrypted already, and what `RedactionRules::custom_rule` throws. extensions/redaction/README.md has what is masked
/// where.
[[nodiscard]] std::shared_ptr<Storage> redacted_storage(std::shared_ptr<Storage> inner, RedactionRules rules = {});

/// What stands at the end of an object as the inner store has it: of the whole object, or of its last 160 bytes or
/// more. Nullopt: nothing was masked in it.
[[nodiscard]] std::optional<RedactionNote> redaction_note(std::string_view object);

}  // namespace whittle::inline v0
