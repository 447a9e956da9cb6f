#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/base/language.hpp"
#include "whittle/chain/stored_parts.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/reduction/config.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0 {

/// What stands in place of a cleared result that is stored nowhere, by language.
[[nodiscard]] std::string_view plain_placeholder(Language language) noexcept;

/// The results of one call that clearing may take: parts of one message.
struct ClearingCandidate {
    std::size_t message = 0;           ///< index of the message that holds the result
    std::vector<std::size_t> parts{};  ///< its texts and media, in order
    std::string tool{};
    std::string name{};       ///< last component of its key
    std::string stored{};     ///< key of an object that has the original already; empty: none
    std::string_view rule{};  ///< empty: may be cut; else the id of the rule that keeps it
};

/// What clearing may take, oldest first: results of tool rounds older than the newest `clear_retention_suffix_limit`
/// ones, that are not pinned, protected, excluded or cleared already. Kept ones are listed too, with the rule. `self`
/// is the middleware's name: what it cleared itself, it leaves alone.
[[nodiscard]] std::vector<ClearingCandidate> plan_clearing(const Outline& outline, const ReductionConfig& config,
                                                           std::span<const std::string> protected_tools,
                                                           std::string_view self,
                                                           const std::function<bool(std::size_t)>& is_pinned);

/// Where the original is and how to read it, as a placeholder says it.
struct ClearedText {
    std::string_view tool{};
    std::int64_t bytes = 0;
    std::int64_t lines = 0;
    std::string_view location{};  ///< `Storage::locate` of its key
    std::string_view reader{};    ///< tool that reads it; empty: none is listed
};

/// The text that stands in place of a stored result. Constant bytes for the same input.
[[nodiscard]] std::string clearing_placeholder(const ClearedText& text, Language language);

/// Keys that a plan will write, with a fingerprint of their content.
using PlannedKeys = std::unordered_map<std::string, Hash128>;

/// `key`, or with a number if the store has, or the plan will put, other content under it. What cannot be found out is
/// left to the write.
[[nodiscard]] std::string free_key(Storage& storage, std::string key, std::string_view content,
                                   const PlannedKeys& planned);

}  // namespace whittle::inline v0
