#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/summary/detail/chunks.hpp"
#include "whittle/summary/detail/render.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A place in a fold: in front of a message, of one of its entries, or inside an entry.
struct FoldPosition {
    std::size_t message = 0;
    std::size_t entry = 0;
    std::size_t byte = 0;

    friend bool operator==(const FoldPosition&, const FoldPosition&) = default;
};

/// What of the fold goes into one request.
struct ChunkPlan {
    std::string text{};  ///< begins with the frame's `before`; nothing else if nothing that is shown fits
    std::vector<ChunkPiece> pieces{};
    FoldPosition next{};  ///< where the following chunk begins
};

/// The longest prefix of `text` for which `fits` holds: between characters, at a line border if one is near. Empty if
/// not even one character fits. Asks O(log) times, about texts at most twice as long as the result; `first_guess` is a
/// length to begin with.
[[nodiscard]] std::string_view longest_prefix(std::string_view text, std::size_t first_guess,
                                              FunctionRef<bool(std::string_view)> fits);

/// `text`, or its head and tail with a note between, so that it has at most `max_tokens`.
[[nodiscard]] std::string head_and_tail(std::string_view text, std::int64_t max_tokens, const TokenCounter& counter,
                                        Language language);

/// Cuts a fold into chunks, at the borders of tool rounds; a round that is too large at those of messages; a message
/// that is too large inside of its texts, at line borders where there are some. Nothing is left out.
class ChunkPlanner {
public:
    struct Member {
        Serial serial = 0;
        Serial group = 0;       ///< 0: in no tool round
        std::size_t bytes = 0;  ///< that it takes in a request, about: a guess saves copies of a growing text
    };
    using Render = std::function<std::vector<SummaryEntry>(std::size_t)>;  ///< message of the fold by position

    ChunkPlanner(std::vector<Member> members, Render render, const TokenCounter& counter)
        : members_(std::move(members)), render_(std::move(render)), counter_(counter) {}

    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

    /// As much from `from` on, behind the frame's `before`, as fits `max_tokens` together with the whole frame.
    [[nodiscard]] ChunkPlan plan(FoldPosition from, const DataFrame& frame, std::int64_t max_tokens);

private:
    struct Draft;
    struct Mark {
        std::size_t pieces = 0;
        std::size_t text = 0;
        std::int64_t units = 0;
        FoldPosition next{};
    };

    [[nodiscard]] const std::vector<SummaryEntry>& entries_of(std::size_t message);
    [[nodiscard]] std::size_t end_of_group(std::size_t message) const noexcept;
    [[nodiscard]] Draft begin_draft(FoldPosition from, const DataFrame& frame, std::int64_t max_tokens) const;
    [[nodiscard]] bool fits(const Draft& draft, std::string_view text) const;
    [[nodiscard]] static Mark mark(const Draft& draft) noexcept;
    static void cut_back(Draft& draft, const Mark& to);
    [[nodiscard]] bool append_if_fits(Draft& draft, const SummaryEntry& entry, std::string_view body) const;
    [[nodiscard]] std::optional<std::string_view> take_stretch(Draft& draft, const SummaryEntry& entry,
                                                               std::string_view rest) const;
    [[nodiscard]] bool take_entry(Draft& draft, bool is_last);
    [[nodiscard]] bool take_message(Draft& draft);
    [[nodiscard]] bool take_group(Draft& draft);

    std::vector<Member> members_;
    Render render_;
    const TokenCounter& counter_;
    std::size_t rendered_ = static_cast<std::size_t>(-1);  // the message that `entries_` are of
    std::vector<SummaryEntry> entries_{};
};

}  // namespace whittle::inline v0
