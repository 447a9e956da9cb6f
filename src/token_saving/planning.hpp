#pragma once

#include "whittle/message/outline.hpp"
#include "whittle/token_saving/config.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// A part that a lever looks at.
struct SavingCandidate {
    std::size_t message = 0;
    std::size_t part = 0;
    std::string_view rule{};  ///< id of the rule that decided; static text
    bool may_cut = false;
    double keep_ratio = 1.0;  ///< word level: of what the text has now
    bool is_old = false;      ///< word level: the old tier, else the mid one
    bool was_mid = false;     ///< word level: the mid tier has rewritten it
};

struct SavingPlanner {
    const Outline& outline;
    const TokenSavingConfig& config;
    std::span<const std::string> protected_tools;
    std::string_view self;
    const std::function<bool(std::size_t)>& is_pinned;
    int batch = 0;  ///< model calls there were at the newest batch; what came later is left alone

    /// Tool results that may be too long, oldest first. Lengths are judged by bytes: at most those have more code
    /// points than the threshold.
    [[nodiscard]] std::vector<SavingCandidate> head_and_tail() const;
    /// Texts of assistant messages and tool results that a tier wants shorter, oldest first.
    [[nodiscard]] std::vector<SavingCandidate> words() const;
};

/// The model calls at which the newest batch was due.
[[nodiscard]] int batch_at(const TokenSavingConfig& config, int model_calls) noexcept;

// What was done to a part, as the `reason` of its mark says it: facts joined by "+".
inline constexpr std::string_view fact_head_tail = "head_tail";
inline constexpr std::string_view fact_words_mid = "words_mid";
inline constexpr std::string_view fact_words_old = "words_old";
[[nodiscard]] bool has_fact(const Mark& mark, std::string_view self, std::string_view fact) noexcept;
/// The facts of `mark` and one more.
[[nodiscard]] std::string reason_with(const Mark& mark, std::string_view self, std::string_view fact);

/// Index of the first reply that is behind the newest message that starts a turn, and came when there were at least
/// `model_calls` replies; the size if there is none.
[[nodiscard]] std::size_t first_reply_since(const Outline& outline, int model_calls) noexcept;

}  // namespace whittle::inline v0::detail
