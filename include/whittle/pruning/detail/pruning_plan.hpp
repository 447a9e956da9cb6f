#pragma once

#include "whittle/base/language.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/part.hpp"
#include "whittle/pruning/config.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// The `Provenance::reason` of what pruning put in place of a result.
inline constexpr std::string_view pruned_reason = "prune";

/// Index of the first message that the boundary protects: of the n-th last user turn, or, for n = 0, of the open round.
[[nodiscard]] std::size_t pruning_boundary(const Outline& outline, const PruningConfig& config) noexcept;

/// The result of one call: parts of one message.
struct PruningCandidate {
    std::size_t message = 0;
    std::size_t part = 0;              ///< its first
    std::vector<std::size_t> texts{};  ///< those that pruning replaces, in order
    std::vector<std::size_t> media{};
    std::string tool{};
    std::string name{};            ///< its call's, safe in a storage key
    Serial group = 0;              ///< its round
    bool is_beside_round = false;  ///< no result, but media that an adapter put beside its round
    std::size_t call = 0;          ///< index of the message with its call
    std::optional<std::size_t> call_part{};
    bool is_error = false;
    std::int64_t bytes = 0;             ///< of its texts, and of its media as base64
    std::vector<std::string> stored{};  ///< keys of objects that have the original of a text already
    std::vector<std::size_t> fresh{};   ///< texts that no object has
    std::string_view rule{};            ///< empty: may be pruned; else the id of the rule that keeps it
};

/// Where a plan looks. Views, but for the function.
struct PruningScope {
    const Outline& outline;
    const PruningConfig& config;
    std::span<const std::string> protected_tools;  ///< the chain's
    const std::function<bool(std::size_t)>& is_pinned;
    std::size_t end;  ///< messages from here on stay, whatever the boundary says
};

/// Every tool result, and the media beside a round, newest first, with the rule that keeps it, as far as the outline
/// tells.
[[nodiscard]] std::vector<PruningCandidate> plan_pruning(const PruningScope& scope);

/// Keeps media beside a round as long as one of its results is kept. For rules that came after the plan.
void settle_media_beside_rounds(std::vector<PruningCandidate>& candidates);

/// The results that a media part belongs to: that of its call; of media beside a round all of the round's; else none.
[[nodiscard]] std::vector<PruningCandidate> results_of_media(const Outline& outline, std::size_t message,
                                                             std::size_t part);

/// What an informative placeholder says.
struct PrunedText {
    std::string_view tool{};
    std::string_view arguments{};
    std::string_view text{};              ///< what stands there; its first line is shown
    std::optional<std::int64_t> bytes{};  ///< of the original; absent: neither that nor its lines are known
    std::string_view location{};          ///< of the original; empty: it is stored nowhere
    std::string_view reader{};            ///< tool that reads it; empty: none is listed
};

/// The text in place of a pruned one: `config.placeholder` or the informative one, with head and tail around it if
/// `config.partial`. A text that is no longer than head and tail stays. Constant bytes for the same input.
[[nodiscard]] std::string text_in_place(const PrunedText& pruned, const PruningConfig& config, Language language,
                                        bool names_object);

/// In place of a further text of a pruned result.
[[nodiscard]] std::string_view further_text_in_place(Language language) noexcept;

/// `{conversation}/pruned/{name}-{16 hex digits of the content's SHA-256}`: the same content never has two keys.
[[nodiscard]] std::string pruned_key(std::string_view conversation, std::string_view name, std::string_view content);

namespace detail {

/// Whether a run put that in place of a text or of media, of whatever middleware; its reference must stay readable.
[[nodiscard]] bool is_taken_out(const Mark& mark) noexcept;

/// A hash of which messages are pinned; 0: none is.
[[nodiscard]] std::int64_t pins_of(const Outline& outline) noexcept;

}  // namespace detail

}  // namespace whittle::inline v0
