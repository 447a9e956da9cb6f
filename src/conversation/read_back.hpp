#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/conversation/tool.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

// What the tools share that show the model what was stored.

/// What `work` throws, as the model is told; nullopt if nothing. A stop goes on.
[[nodiscard]] std::optional<std::string> problem_of(FunctionRef<void()> work);

/// The object of this conversation that `reference` names: as it stands, or as a model may have copied it, with quotes,
/// brackets, punctuation, `ref://` or other words around.
[[nodiscard]] std::optional<StoredObject> find_copied(const ToolContext& context,
                                                      const std::shared_ptr<Storage>& otherwise,
                                                      std::string_view reference);

/// What is said of an object in which something was masked before it was stored: it is not the original. Else empty.
[[nodiscard]] std::string note_on_masks(const StoredObject& object, Language language);

/// The event that `tool` showed something: `text` says what.
void emit_read_back(const ToolContext& context, std::string_view tool, const std::string& text);

}  // namespace whittle::inline v0::detail
