#pragma once

#include "entries.hpp"

namespace whittle::inline v0::logs {

/// Whether an item of type "message" of the user or the developer is not of a person, but context that Codex put there
/// by itself: the environment, AGENTS.md, a skill, that a turn was broken off, and so on. One part of it is enough.
[[nodiscard]] bool is_codex_context(const ordered_json& item);

}  // namespace whittle::inline v0::logs
