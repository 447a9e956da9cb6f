#pragma once

#include "whittle/summary/detail/attempt.hpp"
#include "whittle/summary/detail/shown_names.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What is known of a reply before it is accepted. A view.
struct ReplyView {
    std::string_view text{};  ///< its text parts, joined
    FinishReason finish = FinishReason::stop;
    bool has_tool_call = false;
    Role role = Role::assistant;  ///< of the reply's message
};

/// The rules for a reply.
struct Acceptance {
    const TokenCounter& counter;
    std::int64_t max_summary_tokens = 0;               ///< 0: no bound of its own
    std::int64_t below_tokens = 0;                     ///< the summary must have fewer; 0: not asked, for parts
    std::span<const std::string_view> instructions{};  ///< a reply that is mostly these is no summary
    std::span<const std::string_view> frames{};        ///< our words around the data: no summary repeats them
    ShownNames* shown = nullptr;  ///< in what the model was shown; null: names and words are not looked at
    /// The reply answers a question about what was shown: it need not share words with it.
    bool is_answer = false;
};

/// The cleaned summary, or in `error` why the reply is none. O(reply + instructions), and what sorting `shown` takes.
[[nodiscard]] std::optional<std::string> accept_reply(const ReplyView& reply, const Acceptance& rules,
                                                      SummaryError& error);

template <AgentMessage M>
[[nodiscard]] bool has_tool_call(const M& m) {
    bool found = false;
    message_traits<M>::for_each_part(m, [&](const PartView& part) { found |= part.kind == PartKind::tool_call; });
    return found;
}

}  // namespace whittle::inline v0
