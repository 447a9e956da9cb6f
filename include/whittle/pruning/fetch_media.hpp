#pragma once

#include "whittle/base/language.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace whittle::inline v0 {

/// Settings of `fetch_media_tool`.
struct FetchMediaOptions {
    std::int64_t max_stored_bytes =
        20'000'000;                      ///< of the stored object (base64), 1 or more; a larger one is an error result
    std::optional<Language> language{};  ///< of the description; absent: `default_language()`
};

/// A tool named `fetch_media` that brings back media which were taken out of the conversation it is called in, and
/// nothing else. Its result is a line of text and then the media, bit for bit; where a provider takes no media in tool
/// results, `message_traits<M>::make_tool_results` puts them where it takes them (docs/compaction.md). What goes wrong
/// is an error result. Its outcome names the object in `read_back`, and it emits an event of kind "read_back".
/// `storage`: for objects whose store the conversation does not know (of a loaded one); null: the context's.
/// Throws Error(invalid_config) that lists every bad option.
[[nodiscard]] Tool fetch_media_tool(std::shared_ptr<Storage> storage = nullptr, const FetchMediaOptions& options = {});

namespace detail {
/// What a middleware offers that moves media into the chain's storage, if there is one.
[[nodiscard]] std::vector<Tool> media_tools(const ChainConfig& chain);
}  // namespace detail

}  // namespace whittle::inline v0
