#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/conversation/detail/side_table.hpp"
#include "whittle/conversation/draft.hpp"
#include "whittle/conversation/journal.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

namespace detail {
/// The reserved owner of the chain's own notes.
inline constexpr std::string_view chain_notes = "chain";
}  // namespace detail

/// What a middleware's hook works with, whatever the type of the messages. Valid during the hook only. `Turn<M>` adds
/// the conversation and the model; `tools`, `system`, `stop` and `on_event` are those of its `request` and `callbacks`.
class HookTurn {
public:
    HookTurn(const HookTurn&) = delete;
    HookTurn& operator=(const HookTurn&) = delete;

    const ChainConfig& config;        ///< settings of the chain
    const EventSink& on_event;        ///< where events go; may be empty
    std::span<const ToolSpec> tools;  ///< that the request offers to the model
    std::string_view system;          ///< system text that stands beside the messages
    const StopToken& stop;            ///< asked for by the host: what takes long looks at it
    /// What this hook may still spend on model calls, stored bytes and time.
    HookBudget& budget;
    StageReport& report;                    ///< of this middleware and hook
    Language language = Language::english;  ///< of notices and placeholders

    /// The chain's token counter.
    [[nodiscard]] const TokenCounter& counter() const noexcept { return *config.token_counter; }
    /// The size of the request as every trigger judges it: the chain's conversation counter if there is one, else the
    /// anchored total.
    [[nodiscard]] virtual std::int64_t context_tokens() const = 0;
    /// The request by the chain's counter, whatever judges the triggers.
    [[nodiscard]] virtual ContextCount counted() const = 0;

    /// What a user's function is told of this hook.
    [[nodiscard]] CallbackContext callback_context() const;
    /// What a transaction of this hook works with.
    [[nodiscard]] EditEnvironment environment() const;
    /// This middleware's notes in the conversation: saved with it.
    [[nodiscard]] Notes notes() noexcept { return {side_.notes, report.middleware}; }
    /// What stages share: what is kept for all of them, under a name that no middleware has.
    [[nodiscard]] Notes shared_notes(std::string_view owner) noexcept { return {side_.notes, owner}; }
    /// Whether the request offers a tool of that name.
    [[nodiscard]] bool has_tool(std::string_view name) const noexcept {
        return std::ranges::any_of(tools, [&](const ToolSpec& tool) { return tool.name == name; });
    }

    /// Of the conversation, as it was before this hook's edits that are not committed.
    [[nodiscard]] const std::string& conversation_id() const noexcept { return side_.id; }
    /// The messages without their texts, under the same condition.
    [[nodiscard]] Outline outline() const noexcept { return side_.outline(); }
    /// How many runs were begun (`Conversation::begin_run`).
    [[nodiscard]] int run_number() const noexcept { return side_.counters.run; }
    /// Model replies in the conversation so far.
    [[nodiscard]] int conversation_model_calls() const noexcept { return side_.counters.model_calls; }
    /// Messages that the last model request had; 0 before the first.
    [[nodiscard]] std::size_t last_request_messages() const noexcept { return side_.counters.sent; }
    /// Grows with everything but appends, never goes back: with the same number, what was there is there.
    [[nodiscard]] std::uint64_t edit_version() const noexcept { return side_.edits; }
    /// What middlewares keep beside the conversation since making it again would take long. Never saved.
    [[nodiscard]] ConversationCaches& caches() const noexcept { return *side_.caches.get(); }
    /// Tokens of a message by the chain's counter.
    [[nodiscard]] std::int64_t tokens_of(std::size_t message) const;
    /// Calls `visit` for each part of a message, in order.
    virtual void visit_parts(std::size_t message, FunctionRef<void(const PartView&)> visit) const = 0;
    /// The same as a function. Borrows this.
    [[nodiscard]] auto part_visitor() const noexcept {
        return [this](std::size_t message, FunctionRef<void(const PartView&)> visit) { visit_parts(message, visit); };
    }
    /// Calls `visit` for each message that a commit of the journal replaced, the oldest commit first.
    virtual void visit_replaced(FunctionRef<void(const ReplacedMessage&)> visit) const = 0;
    /// A text of such a message, from the store where it has left memory. Throws what the store throws.
    [[nodiscard]] virtual std::string text_of(const ReplacedMessage& replaced, std::size_t part) const = 0;
    /// Of the newest entry of its journal; 0: none.
    [[nodiscard]] virtual std::uint64_t last_journal_entry_id() const noexcept = 0;
    /// The model's window: that of the profile, or a smaller one that an overflow taught; 0: unknown.
    [[nodiscard]] std::int64_t known_window() const;
    /// What was stored of it.
    [[nodiscard]] std::shared_ptr<const StoredObjects> objects() const noexcept { return side_.objects; }

    /// Says that what this stage did leaves the request above what starts it: too much has to stay, and it may be due
    /// at every call. In the report each time, as an event `still_above_trigger` once for a conversation. `text`: one
    /// sentence with the numbers; tokens before and after what it did.
    void warn_above_trigger(std::string text, std::int64_t before, std::int64_t after);

    /// In `compact_now`: how many tokens have to go, by the chain's counter.
    [[nodiscard]] std::int64_t tokens_above_target() const;

protected:
    /// What of a request is no message.
    struct Surroundings {
        std::span<const ToolSpec> tools{};  ///< that the request offers
        std::string_view system{};          ///< system text that stands beside the messages
        const StopToken& stop;              ///< must outlive the hook
    };
    HookTurn(detail::SideTable& side, const ChainConfig& chain, const EventSink& events, const Surroundings& request,
             HookBudget& left, StageReport& stage, Language of_notices) noexcept
        : config(chain),
          on_event(events),
          tools(request.tools),
          system(request.system),
          stop(request.stop),
          budget(left),
          report(stage),
          language(of_notices),
          side_(side) {}
    ~HookTurn() = default;

private:
    detail::SideTable& side_;
};

}  // namespace whittle::inline v0
