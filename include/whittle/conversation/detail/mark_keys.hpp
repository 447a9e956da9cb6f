#pragma once

#include "whittle/base/version.hpp"

#include <string>
#include <string_view>

// Objects that say what is known of saved messages: below a conversation's id, named by the hash of their content. A
// message carries an id, "{name}-{place in the object}".

namespace whittle::inline v0::detail {

/// "{conversation}/marks/{name}".
[[nodiscard]] std::string key_of_marks(std::string_view conversation, std::string_view name);
/// The name in such a key; empty: it is another one.
[[nodiscard]] std::string_view marks_name_in_key(std::string_view key) noexcept;
/// The name in a message's id, whatever stands behind the dash; empty: it is none.
[[nodiscard]] std::string_view marks_name_in_id(std::string_view mark_id) noexcept;

}  // namespace whittle::inline v0::detail
