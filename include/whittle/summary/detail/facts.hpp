#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/language.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/message/detail/visit_parts.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What a summary must not lose. The numbers are those of notes. In a list constraints come first, then written paths,
/// what results say, identifiers.
enum class FactKind {
    constraint,  ///< a user's sentence with must, never, always, do not, 必须, 不要, ..., or one that replaces such a
                 ///< one
    written_path,  ///< a path in the arguments of a tool that writes
    identifier,    ///< other paths, names, hashes; those used last come first. No bare numbers
    stated,        ///< a sentence with must, never, ... in the prose of a tool's result: at most a quarter of the list
};

struct RetainedFact {
    FactKind kind = FactKind::identifier;
    std::string text{};  ///< one line, without tags of ours

    friend bool operator==(const RetainedFact&, const RetainedFact&) = default;
};

/// Collects facts of messages in order. Linear in their size, bounded memory.
class FactCollector {
public:
    FactCollector();
    FactCollector(FactCollector&&) noexcept;
    FactCollector& operator=(FactCollector&&) noexcept;
    ~FactCollector();

    /// `is_user`: a user's own words (`is_original_user_message`). Placeholders and nudges are not for it.
    void add(const PartView& part, bool is_user);
    /// A user message that an earlier summary carries word for word.
    void add_user_text(std::string_view text);
    /// What the user said in a message that stays, behind all that is collected: what it replaces does not come back.
    void add_later_text(std::string_view text);
    /// What an earlier summary says: what it gives another value does not come back.
    void add_summary_text(std::string_view text);
    /// What an earlier summary's list held: constraints and paths come first in their kind, identifiers behind those
    /// that were used again since.
    void add_carried(std::span<const RetainedFact> facts);
    /// The next message begins.
    void next_message() noexcept;

    /// The facts that `summary` lacks, ranked, as many as fit `max_tokens` as `to_text` writes them. O(facts +
    /// summary).
    [[nodiscard]] std::vector<RetainedFact> missing_in(std::string_view summary, std::int64_t max_tokens,
                                                       const TokenCounter& counter, Language language) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The pinned list: a heading and one line for each fact. Empty if there is none.
[[nodiscard]] std::string to_text(std::span<const RetainedFact> facts, Language language);

/// `text` with such a list behind it, or with more lines where it ends in one.
[[nodiscard]] std::string with_facts(std::string text, std::span<const RetainedFact> facts, Language language);

/// One line of text for `Provenance::retained_facts`, so that a list outlives the next fold.
[[nodiscard]] std::string to_note(std::span<const RetainedFact> facts);
/// The inverse; empty for what cannot be read.
[[nodiscard]] std::vector<RetainedFact> facts_from_note(std::string_view note);

namespace detail {
/// `collect_facts` of messages that `visit_parts` reads.
void collect_facts(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                   FactCollector& facts);
/// Tokens of facts that a summary carries as a note where `shown` tokens of them may be shown: the next one may leave
/// out what this one says itself.
[[nodiscard]] std::int64_t carried_tokens(std::int64_t shown) noexcept;
}  // namespace detail

/// Collects from the messages at the indices `fold`. Of a summary among them its own list and the user messages that it
/// carries; its text, which holds words of ours, only if it has no list.
template <AgentMessage M>
void collect_facts(MessageView<M> messages, const Outline& outline, std::span<const std::size_t> fold,
                   FactCollector& facts) {
    detail::collect_facts(detail::part_visitor<M>(messages), outline, fold, facts);
}

}  // namespace whittle::inline v0
