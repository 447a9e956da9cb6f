#pragma once

#include "whittle/redaction/redaction.hpp"
#include "whittle/storage/storage.hpp"

#include <memory>

namespace whittle::inline v0::redaction {

/// A stream into `inner`. What stays below 8 MiB goes to `whole`, which masks it as one text; longer ones are masked
/// line by line as they come. Null if `inner` cannot stream.
[[nodiscard]] std::unique_ptr<StorageWriter> redacted_writer(Storage& inner, Redactor redactor,
                                                             std::shared_ptr<Storage> whole);

}  // namespace whittle::inline v0::redaction
