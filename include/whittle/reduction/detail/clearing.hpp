#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/base/language.hpp"
#include "whittle/conversation/detail/stored_parts.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/reduction/config.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Whether the results of that tool stay.
[[nodiscard]] bool skips_clearing(const ReductionConfig& config, std::string_view tool);

/// Whether the arguments of that tool's calls are cleared with its results.
[[nodiscard]] bool clears_inputs(const ReductionConfig& config, std::string_view tool);

/// What stands in place of a cleared result that is stored nowhere. `last_lines`: as in `ClearedText`.
[[nodiscard]] std::string plain_placeholder(Language language, std::string_view last_lines = {});

/// What a failed call's placeholder keeps: the last lines that are not blank, at most 3 and 300 bytes.
[[nodiscard]] std::string last_error_lines(std::string_view text);

/// The results of one call that clearing may take: parts of one message.
struct ClearingCandidate {
    std::size_t message = 0;         ///< index of the message that holds the result
    std::span<std::size_t> parts{};  ///< its texts and media, in order; they belong to the plan
    /// For each part the keys of objects that have its original already; empty if there are none at all.
    std::vector<std::vector<std::string>> stored{};
    std::string_view rule{};   ///< empty: may be cut; else the id of the rule that keeps it
    bool is_retained = false;  ///< in one of the newest rounds
    std::size_t call = 0;      ///< index of the message with its call
    std::optional<std::size_t> call_part{};

    /// The keys for part `i` of `parts`.
    [[nodiscard]] std::span<const std::string> stored_of(std::size_t i) const noexcept {
        return i < stored.size() ? std::span<const std::string>(stored[i]) : std::span<const std::string>();
    }
};

/// Candidates with their parts: there are thousands, and nearly all have one.
struct ClearingPlan {
    std::vector<ClearingCandidate> candidates{};
    std::vector<std::size_t> parts{};

    ClearingPlan() = default;
    ClearingPlan(ClearingPlan&&) noexcept = default;
    ClearingPlan& operator=(ClearingPlan&&) noexcept = default;
};

/// What clearing may take, oldest first: results of tool rounds older than the newest `clear_retention_suffix_limit`
/// ones, that are not pinned, protected, excluded or cleared already. Kept ones are listed too, with the rule. `self`
/// is the middleware's name: what it cleared itself, it leaves alone.
[[nodiscard]] ClearingPlan plan_clearing(const Outline& outline, const ReductionConfig& config,
                                         std::span<const std::string> protected_tools, std::string_view self,
                                         const std::function<bool(std::size_t)>& is_pinned);

/// The serial of the newest message of a tool round; 0 if there is none. It changes with each result.
[[nodiscard]] std::int64_t newest_round(const Outline& outline) noexcept;

/// Where the original is and how to read it, as a placeholder says it.
struct ClearedText {
    std::string_view tool{};
    std::int64_t bytes = 0;
    std::int64_t lines = 0;       ///< 0: not known
    std::string_view location{};  ///< `Storage::locate` of its key
    std::string_view reader{};    ///< tool that reads it; empty: none is listed
    bool has_text = true;
    bool has_media = false;
    std::string_view media_reader{};  ///< tool that shows its media; empty: none is listed
    std::string_view last_lines{};    ///< of a call that failed (`last_error_lines`); empty: it did not
};

/// Whether the object is an array of parts (`offload_content`) with that one among them. What cannot be read has none.
[[nodiscard]] bool holds_part(Storage& storage, const std::string& key, const Part& part);

/// The text that stands in place of a stored result. Constant bytes for the same input.
[[nodiscard]] std::string clearing_placeholder(const ClearedText& text, Language language);
/// The same, behind what `out` has already.
void append_placeholder(std::string& out, const ClearedText& text, Language language);

/// The arguments that stand in place of stored ones: a JSON object. Empty `location`: they are stored nowhere.
[[nodiscard]] std::string cleared_arguments(std::string_view location, Language language);

/// A key made by a user's function: a leading "/" is dropped, and a component that a file could have but a key may not,
/// such as one with a colon or a letter beyond ASCII, becomes a safe name of its own (`to_safe_name`). Throws
/// Error(invalid_key), naming `from`, for what no file could be called: an empty, "." or ".." component, a NUL.
[[nodiscard]] std::string to_key(std::string_view path, std::string_view from);

}  // namespace whittle::inline v0
