#include "any_host.hpp"

#include "../../examples/hosts/block_adapter.hpp"
#include "../../examples/hosts/flat_adapter.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/reduction/reduction.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace whittle::testing {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// How a type writes what the assistant says and calls.
template <AgentMessage M>
M assistant(const ChatMessage& m);

template <>
ChatMessage assistant(const ChatMessage& m) {
    return m;
}

template <>
openai::Message assistant(const ChatMessage& m) {
    ordered_json out{{"role", "assistant"}, {"content", nullptr}};
    for (const Part& part : m.parts) {
        if (part.kind == PartKind::text) out["content"] = part.text;
        if (part.kind != PartKind::tool_call) continue;
        out["tool_calls"].push_back({{"id", part.call_id},
                                     {"type", "function"},
                                     {"function", {{"name", part.tool}, {"arguments", part.text}}}});
    }
    return openai::Message(std::move(out));
}

template <>
anthropic::Message assistant(const ChatMessage& m) {
    ordered_json content = ordered_json::array();
    for (const Part& part : m.parts) {
        if (part.kind == PartKind::text) content.push_back({{"type", "text"}, {"text", part.text}});
        if (part.kind != PartKind::tool_call) continue;
        content.push_back({{"type", "tool_use"},
                           {"id", part.call_id},
                           {"name", part.tool},
                           {"input", ordered_json::parse(part.text, nullptr, false)}});
    }
    return anthropic::Message(ordered_json{{"role", "assistant"}, {"content", std::move(content)}});
}

template <>
flat::msg assistant(const ChatMessage& m) {
    flat::msg out{"assistant", text_of(m)};
    for (const Part& part : m.parts) {
        if (part.kind == PartKind::tool_call) out.tool_calls.push_back({part.tool, part.text, part.call_id});
    }
    return out;
}

template <>
blocks::message assistant(const ChatMessage& m) {
    blocks::message out{blocks::message::from::model};
    for (const Part& part : m.parts) {
        if (part.kind == PartKind::text) out.content.emplace_back(blocks::text{part.text});
        if (part.kind == PartKind::tool_call)
            out.content.emplace_back(blocks::tool_use{part.call_id, part.tool, json::parse(part.text)});
    }
    return out;
}

/// Results of a message, one after the other; parts with the same id in a row are one.
std::vector<ToolResult> results_of(const ChatMessage& m) {
    std::vector<ToolResult> results;
    for (const Part& part : m.parts) {
        if (results.empty() || results.back().call_id != part.call_id)
            results.push_back({part.call_id, part.tool, {}, part.is_error});
        Part& added = results.back().parts.emplace_back(part);
        if (added.kind == PartKind::tool_result) added.kind = PartKind::text;
    }
    return results;
}

template <AgentMessage M>
std::vector<M> from_neutral(const ChatMessage& m) {
    if constexpr (std::same_as<M, ChatMessage>) return {m};
    if (m.role == Role::assistant) return {assistant<M>(m)};
    if (m.role == Role::tool) return message_traits<M>::make_tool_results(results_of(m));
    return {message_traits<M>::make(m.role, text_of(m))};
}

template <AgentMessage M>
ChatMessage to_neutral(const M& m) {
    if constexpr (std::same_as<M, ChatMessage>) return m;
    ChatMessage neutral{message_traits<M>::role(m), parts_of(m), {}, {}};
    const bool has_result = std::ranges::count(neutral.parts, PartKind::tool_result, &Part::kind) > 0;
    if (has_result) neutral.role = Role::tool;
    return neutral;
}

template <AgentMessage M>
class ConversationOf final : public ConversationCore {
public:
    explicit ConversationOf(std::string id) : conversation(std::move(id)) {}

    void push_back(const ChatMessage& message) override {
        for (M& m : from_neutral<M>(message)) conversation.push_back(std::move(m));
    }
    void push_tool_results(std::span<const ToolReturn> returns) override { conversation.push_tool_results(returns); }
    ChatMessage message(std::size_t index) const override { return to_neutral(conversation.messages()[index]); }
    std::vector<std::string> bytes() const override {
        std::vector<std::string> all;
        for (const M& m : conversation.messages()) {
            if constexpr (HasCodec<M>) {
                all.push_back(message_traits<M>::to_bytes(m));
            } else {
                all.push_back(message_traits<ChatMessage>::to_bytes(to_neutral(m)));
            }
        }
        return all;
    }
    Outline outline() const override { return conversation.outline(); }
    void sync_newest(const ChatMessage& other) override {
        std::vector<M> host(conversation.messages().begin(), conversation.messages().end());
        host.back() = from_neutral<M>(other).front();
        conversation.sync(host);
    }
    void pin(Serial serial) override { conversation.pin(serial); }
    bool undo() override { return conversation.undo(); }
    void restore_and_pin(Serial serial) override { conversation.restore_and_pin(serial); }
    std::int64_t tokens(const std::shared_ptr<const TokenCounter>& counter) override {
        return conversation.tokens(counter);
    }
    std::uint64_t version() const override { return conversation.version(); }
    std::size_t journal_size() const override { return conversation.journal().size(); }
    std::int64_t read_backs() const override { return conversation.read_backs(); }
    Notes notes(std::string_view owner) override { return conversation.notes(owner); }
    const Report& report() const override { return conversation.report(); }

    Conversation<M> conversation;
};

template <AgentMessage M>
ReductionCallbacks<M> callbacks_for(AnyStage& stage) {
    ReductionCallbacks<>& from = stage.callbacks;
    if (from.token_counter || from.clear_post_process)
        throw std::logic_error("callbacks that name a conversation are not for every message type");
    ReductionCallbacks<M> to;
    if (stage.after_commit) {
        to.clear_post_process = [tell = stage.after_commit](const CallbackContext&, const Conversation<M>& c,
                                                            const StageReport& report) {
            tell(c.journal().size(), report);
        };
    }
    to.gen_trunc_offload_file_path = std::move(from.gen_trunc_offload_file_path);
    to.gen_clear_offload_file_path = std::move(from.gen_clear_offload_file_path);
    to.tool_config = std::move(from.tool_config);
    if (!from.clear_message_rewriter) return to;
    to.clear_message_rewriter = [rewrite = std::move(from.clear_message_rewriter)](
                                    const CallbackContext& context, const M& call, std::span<const M> results) {
        std::vector<ChatMessage> neutral;
        for (const M& m : results) neutral.push_back(to_neutral(m));
        std::vector<M> rewritten;
        for (const ChatMessage& m : rewrite(context, to_neutral(call), neutral)) {
            for (M& made : from_neutral<M>(m)) rewritten.push_back(std::move(made));
        }
        return rewritten;
    };
    return to;
}

template <AgentMessage M>
class ChainOf final : public ChainCore {
public:
    ChainOf(ChainConfig config, std::vector<AnyStage> stages, EventSink on_event)
        : chain(with_rules(std::move(config)), {.on_event = std::move(on_event)}, make(std::move(stages))) {}

    const Report& before_model(ConversationCore& c, std::span<const ToolSpec> tools) override {
        return chain.before_model(own(c), {.tools = tools});
    }
    bool on_overflow(ConversationCore& c, const Overflow& overflow) override {
        return chain.on_overflow(own(c), overflow);
    }
    std::vector<ToolContext> pending_tool_calls(const ConversationCore& c) const override {
        return chain.pending_tool_calls(own(c));
    }
    ToolOutcome wrap_tool(const ToolContext& call, PartSink& sink, const ToolNext& tool) const override {
        return chain.wrap_tool(call, sink, tool);
    }
    std::size_t count_stable_messages(const ConversationCore& c) const override {
        return chain.count_stable_messages(own(c));
    }
    std::int64_t context_window(ConversationCore& c) const override { return chain.context_window(own(c)); }
    const ChainConfig& config() const override { return chain.config(); }
    const std::vector<Problem>& warnings() const override { return chain.config_warnings(); }
    Language language() const override { return chain.language(); }

private:
    static Conversation<M>& own(ConversationCore& c) { return dynamic_cast<ConversationOf<M>&>(c).conversation; }
    static const Conversation<M>& own(const ConversationCore& c) {
        return dynamic_cast<const ConversationOf<M>&>(c).conversation;
    }
    static ChainConfig with_rules(ChainConfig config) {
        if constexpr (std::same_as<M, anthropic::Message>) config.profile.validity = anthropic_messages();
        return config;
    }
    static typename Chain<M>::Stages make(std::vector<AnyStage> stages) {
        typename Chain<M>::Stages all;
        for (AnyStage& stage : stages)
            all.push_back(std::make_shared<Reduction<M>>(std::move(stage.config), callbacks_for<M>(stage),
                                                         std::move(stage.name)));
        return all;
    }

    Chain<M> chain;
};

template <AgentMessage M>
MessageType with_functions(MessageType type) {
    type.make_conversation = [](std::string id) -> std::unique_ptr<ConversationCore> {
        return std::make_unique<ConversationOf<M>>(std::move(id));
    };
    type.make_chain = [](ChainConfig config, std::vector<AnyStage> stages,
                         EventSink on_event) -> std::unique_ptr<ChainCore> {
        return std::make_unique<ChainOf<M>>(std::move(config), std::move(stages), std::move(on_event));
    };
    return type;
}

}  // namespace

const std::vector<const MessageType*>& message_types() {
    static const std::vector<MessageType> types{
        with_functions<ChatMessage>({.name = "ChatMessage"}),
        with_functions<openai::Message>({.name = "openai::Message", .keeps_media = false, .keeps_bytes = false}),
        with_functions<anthropic::Message>(
            {.name = "anthropic::Message", .keeps_bytes = false, .keeps_arguments = false, .has_message_each = false}),
        with_functions<flat::msg>({.name = "flat::msg", .keeps_texts = false, .keeps_media = false}),
        with_functions<blocks::message>({.name = "blocks::message, of two fields",
                                         .keeps_texts = false,
                                         .keeps_media = false,
                                         .keeps_arguments = false,
                                         .has_message_each = false}),
    };
    static const std::vector<const MessageType*> all = [] {
        std::vector<const MessageType*> pointers;
        for (const MessageType& type : types) pointers.push_back(&type);
        return pointers;
    }();
    return all;
}

std::vector<const MessageType*> message_types_where(bool MessageType::*holds) {
    std::vector<const MessageType*> some;
    std::ranges::copy_if(message_types(), std::back_inserter(some), [&](const MessageType* t) { return t->*holds; });
    return some;
}

}  // namespace whittle::testing
