#pragma once

#include "sqlite_contents.hpp"
#include "sqlite_database.hpp"
#include "sqlite_streams.hpp"
#include "whittle/storage/detail/fingerprint.hpp"

namespace whittle::inline v0 {

/// Puts `key` in the place that the promise of `put_if_absent` gives it: nothing happens if it has this content whole,
/// Error(already_exists) if it has another. The content is `tail` behind what `stream` has written; without a stream,
/// `tail` alone. A damaged object of the same length and hash is mended.
void publish_sqlite_object(const std::shared_ptr<SqliteDatabase>& database, std::string_view key,
                           const Fingerprint& fingerprint, SqliteContentStream* stream, std::string_view tail);

/// Whether there is such an object, whole, of this content and as durable as asked for. Throws Error(already_exists)
/// for another content.
[[nodiscard]] bool has_sqlite_object(SqliteDatabase& database, std::string_view key, const Fingerprint& fingerprint);

}  // namespace whittle::inline v0
