#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What stands in place of a pruned result in the plain form, for `PruningConfig::placeholder`.
inline constexpr std::string_view tool_output_compacted = "<tool-output-compacted />";

/// What `PruningConfig::protect` sees of a tool result. Views, valid during the call.
struct PruningDetail : CallbackContext {
    std::string_view tool{};                 ///< empty if its call does not say
    std::string_view arguments{};            ///< of its call, raw JSON
    std::int64_t result_bytes = 0;           ///< of its texts, and of its media as base64
    bool is_error = false;                   ///< the call failed
    const Provenance* provenance = nullptr;  ///< of its first part; null: original
};

/// Which old tool results are replaced by placeholders, and what stays; docs/compaction.md explains the options.
struct PruningConfig {
    std::vector<std::string> protected_tools{};  ///< tools whose results are never pruned, beside those of the chain
    /// True: that result stays. Called once for each result of a plan, and by `Compaction` for results whose media are
    /// to go; in the thread of the hook.
    std::function<bool(const PruningDetail&)> protect{};
    int skip_boundary_turns = 2;             ///< user turns at the end that stay; 0: the open round only
    bool protect_current_turn_only = false;  ///< with fewer turns than that: the newest one stays, instead of all
    bool prune_failed_results = false;       ///< prune results of failed calls too. They are evidence
    std::int64_t protect_newest_tokens = 0;  ///< tokens of the newest prunable results before the boundary that stay
    std::int64_t minimum_gain_tokens = 0;    ///< prune nothing unless this much gets free
    std::string placeholder{};               ///< stands where a result was; empty: says what was pruned and where it is
    bool partial = false;                    ///< keep head and tail of a text around the placeholder
    std::int64_t head_bytes = 1'000;         ///< bytes kept of the start, with `partial`
    std::int64_t tail_bytes = 500;           ///< bytes kept of the end, with `partial`
    /// Keep requests within a provider's limits of images and bytes. That is `ValidityProfile::limits`, whatever the
    /// boundary: too large images go, then media, oldest first, then for bytes results.
    bool fit_image_and_byte_limits = true;
    std::int64_t head_lines = 0;         ///< first lines kept, of at most `head_bytes`; 0: all of these
    std::int64_t tail_lines = 0;         ///< last lines kept, of at most `tail_bytes`; 0: all of these
    std::shared_ptr<Storage> storage{};  ///< own storage. Null: the chain's
};

/// The form that works to a budget: the newest 40'000 tokens of results stay, and nothing is done for less than 20'000.
[[nodiscard]] PruningConfig budget_pruning();

/// Reports every value that is out of range or contradicts another, as "{name}.{field}".
void check_pruning(const PruningConfig& config, std::string_view name, Problems& problems);

/// What becomes of images, sounds and documents in old messages.
enum class MediaMode {
    automatic,    ///< `reference` if there is a store, else `placeholder`
    keep,         ///< they stay
    placeholder,  ///< "[image removed]"; the journal keeps them
    reference,    ///< "[image: ref://...]"; the store keeps them, `fetch_media` brings one back
};

/// "automatic", "keep", ...
[[nodiscard]] std::string_view to_string(MediaMode mode) noexcept;

/// As configurations write it; `make_pruning` makes it.
[[nodiscard]] MiddlewareType<PruningConfig> pruning_type();

}  // namespace whittle::inline v0
