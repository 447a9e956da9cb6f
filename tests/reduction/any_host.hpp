// Conversations and chains of every message type behind types that name none: a test is compiled once and runs for
// each. A conversation is filled and looked at in neutral messages; its own are made by the traits of its type.
#pragma once

#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/config.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

class AnyConversation;

/// A reduction of a chain. Of the callbacks that name a message type only the rewriter is used.
struct AnyStage {
    ReductionConfig config{};
    ReductionCallbacks<> callbacks{};
    std::string name = "reduction";
    std::function<void(std::size_t journal_size, const StageReport&)> after_commit{};  ///< `clear_post_process`
};

/// What is asked of a conversation, whatever its messages are.
class ConversationCore {
public:
    virtual ~ConversationCore() = default;
    virtual void push_back(const ChatMessage& message) = 0;
    virtual void push_tool_results(std::span<const ToolReturn> returns) = 0;
    [[nodiscard]] virtual ChatMessage message(std::size_t index) const = 0;
    [[nodiscard]] virtual std::vector<std::string> bytes() const = 0;
    [[nodiscard]] virtual Outline outline() const = 0;
    virtual void sync_newest(const ChatMessage& other) = 0;
    virtual void pin(Serial serial) = 0;
    virtual bool undo() = 0;
    virtual void restore_and_pin(Serial serial) = 0;
    [[nodiscard]] virtual std::int64_t tokens(const std::shared_ptr<const TokenCounter>& counter) = 0;
    [[nodiscard]] virtual std::uint64_t version() const = 0;
    [[nodiscard]] virtual std::size_t journal_size() const = 0;
    [[nodiscard]] virtual std::int64_t read_backs() const = 0;
    [[nodiscard]] virtual Notes notes(std::string_view owner) = 0;
    [[nodiscard]] virtual const Report& report() const = 0;
};

/// What is asked of a chain of reductions, whatever its messages are.
class ChainCore {
public:
    virtual ~ChainCore() = default;
    virtual const Report& before_model(ConversationCore& conversation, std::span<const ToolSpec> tools) = 0;
    virtual bool on_overflow(ConversationCore& conversation, const Overflow& overflow) = 0;
    [[nodiscard]] virtual std::vector<ToolContext> pending_tool_calls(const ConversationCore& conversation) const = 0;
    virtual ToolOutcome wrap_tool(const ToolContext& call, PartSink& sink, const ToolNext& tool) const = 0;
    [[nodiscard]] virtual std::size_t count_stable_messages(const ConversationCore& conversation) const = 0;
    [[nodiscard]] virtual std::int64_t context_window(ConversationCore& conversation) const = 0;
    [[nodiscard]] virtual const ChainConfig& config() const = 0;
    [[nodiscard]] virtual const std::vector<Problem>& warnings() const = 0;
    [[nodiscard]] virtual Language language() const = 0;
};

struct MessageType {
    std::string_view name{};
    bool keeps_texts = true;       ///< a result holds several texts, one by one
    bool keeps_media = true;       ///< and media
    bool keeps_bytes = true;       ///< a text need not be UTF-8
    bool keeps_arguments = true;   ///< arguments need not be JSON
    bool has_message_each = true;  ///< each result of a round is a message
    std::unique_ptr<ConversationCore> (*make_conversation)(std::string id) = nullptr;
    std::unique_ptr<ChainCore> (*make_chain)(ChainConfig, std::vector<AnyStage>, EventSink) = nullptr;
};

/// ChatMessage first, then the JSON types, then those of examples/hosts.
[[nodiscard]] const std::vector<const MessageType*>& message_types();
[[nodiscard]] std::vector<const MessageType*> message_types_where(bool MessageType::*holds);

class AnyConversation {
public:
    explicit AnyConversation(const MessageType& type, std::string id = "conv")
        : type_(&type), core_(type.make_conversation(std::move(id))) {}

    [[nodiscard]] const MessageType& type() const { return *type_; }
    [[nodiscard]] ConversationCore& core() const { return *core_; }

    void push_back(const ChatMessage& message) { core_->push_back(message); }
    void push_tool_results(std::span<const ToolReturn> returns) { core_->push_tool_results(returns); }
    void push_tool_results(const ToolReturn& one) { core_->push_tool_results(std::span(&one, 1)); }
    [[nodiscard]] std::size_t size() const { return outline().size(); }
    [[nodiscard]] ChatMessage message(std::size_t index) const { return core_->message(index); }
    [[nodiscard]] std::string text(std::size_t message, std::size_t part = 0) const {
        return core_->message(message).parts.at(part).text;
    }
    /// The first text of the newest result for `call_id`.
    [[nodiscard]] std::string result(std::string_view call_id) const {
        std::string text = "no such result";
        for (std::size_t i = 0; i < size(); ++i) {
            const std::vector<Part> parts = message(i).parts;
            const auto part = std::ranges::find_if(
                parts, [&](const Part& p) { return p.kind == PartKind::tool_result && p.call_id == call_id; });
            if (part != parts.end()) text = part->text;
        }
        return text;
    }
    [[nodiscard]] std::vector<std::string> bytes() const { return core_->bytes(); }
    [[nodiscard]] Outline outline() const { return core_->outline(); }
    void sync_newest(const ChatMessage& other) { core_->sync_newest(other); }
    void pin(Serial serial) { core_->pin(serial); }
    bool undo() { return core_->undo(); }
    void restore_and_pin(Serial serial) { core_->restore_and_pin(serial); }
    [[nodiscard]] std::int64_t tokens(const std::shared_ptr<const TokenCounter>& counter) const {
        return core_->tokens(counter);
    }
    [[nodiscard]] std::uint64_t version() const { return core_->version(); }
    [[nodiscard]] std::size_t journal_size() const { return core_->journal_size(); }
    [[nodiscard]] std::int64_t read_backs() const { return core_->read_backs(); }
    [[nodiscard]] Notes notes(std::string_view owner) const { return core_->notes(owner); }
    [[nodiscard]] const Report& report() const { return core_->report(); }

private:
    const MessageType* type_;
    std::unique_ptr<ConversationCore> core_;
};

struct AnyRequest {
    std::span<const ToolSpec> tools{};
};

class AnyChain {
public:
    AnyChain(const MessageType& type, ChainConfig config, ReductionConfig reduction,
             ReductionCallbacks<> callbacks = {}, EventSink on_event = {})
        : AnyChain(type, std::move(config), {AnyStage{std::move(reduction), std::move(callbacks)}},
                   std::move(on_event)) {}
    AnyChain(const MessageType& type, ChainConfig config, std::vector<AnyStage> stages, EventSink on_event = {})
        : core_(type.make_chain(std::move(config), std::move(stages), std::move(on_event))) {}

    const Report& before_model(const AnyConversation& c, const AnyRequest& request = {}) const {
        return core_->before_model(c.core(), request.tools);
    }
    bool on_overflow(const AnyConversation& c, const Overflow& overflow) const {
        return core_->on_overflow(c.core(), overflow);
    }
    [[nodiscard]] std::vector<ToolContext> pending_tool_calls(const AnyConversation& c) const {
        return core_->pending_tool_calls(c.core());
    }
    ToolOutcome wrap_tool(const ToolContext& call, PartSink& sink, const ToolNext& tool) const {
        return core_->wrap_tool(call, sink, tool);
    }
    [[nodiscard]] std::size_t count_stable_messages(const AnyConversation& c) const {
        return core_->count_stable_messages(c.core());
    }
    [[nodiscard]] std::int64_t context_window(const AnyConversation& c) const {
        return core_->context_window(c.core());
    }
    [[nodiscard]] const ChainConfig& config() const { return core_->config(); }
    [[nodiscard]] const std::vector<Problem>& warnings() const { return core_->warnings(); }
    [[nodiscard]] Language language() const { return core_->language(); }

private:
    std::unique_ptr<ChainCore> core_;
};

}  // namespace whittle::testing

/// The rest of the test runs once for each message type.
#define WITH_EACH_MESSAGE_TYPE(type)                                                                      \
    const whittle::testing::MessageType& type = *GENERATE(from_range(whittle::testing::message_types())); \
    INFO(type.name)

/// The rest of the test runs once for each message type with that property.
#define WITH_EACH_MESSAGE_TYPE_THAT(type, property)                                                             \
    const whittle::testing::MessageType& type =                                                                 \
        *GENERATE(from_range(whittle::testing::message_types_where(&whittle::testing::MessageType::property))); \
    INFO(type.name)
