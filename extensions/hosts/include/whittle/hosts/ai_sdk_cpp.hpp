#pragma once

// ai-sdk-cpp (ClickHouse/ai-sdk-cpp): traits of ai::Message, and a chain around the calls of
// ai::MultiStepCoordinator. A file to include, or to copy and change, behind the SDK's own "ai/tools.h"; it includes
// nothing of the SDK's.

#include "whittle/base/text.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/conversation/tool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0::host::detail {

/// Whether the SDK's JSON, written, is this text again. Not looked at below a depth of 100: `dump` recurses.
inline std::optional<ai::JsonValue> json_written_as(std::string_view text) {
    if (text.empty() || std::string_view("{[\"-0123456789tfn").find(text[0]) == std::string_view::npos)
        return std::nullopt;
    const auto shallow = [](int depth, ai::JsonValue::parse_event_t, const ai::JsonValue&) {
        if (depth > 100) throw std::length_error("deep");
        return true;
    };
    try {
        ai::JsonValue value = ai::JsonValue::parse(text, shallow);
        if (value.dump() == text) return value;
    } catch (const std::exception&) {  // no JSON, or too deep
    }
    return std::nullopt;
}

/// A result is any JSON. Each text is shown by one value and each value as one text: a string as itself, unless that
/// could be meant for other JSON, everything else as it is written.
inline ai::JsonValue result_of(std::string_view text) {
    std::optional<ai::JsonValue> value = json_written_as(text);
    std::optional<ai::JsonValue> inner = value;
    while (inner && inner->is_string()) inner = json_written_as(inner->get_ref<const std::string&>());
    return inner ? *std::move(value) : ai::JsonValue(std::string(text));
}
inline std::string text_of_result(const ai::JsonValue& result) {
    constexpr auto replace = ai::JsonValue::error_handler_t::replace;
    if (!result.is_string()) return result.dump(-1, ' ', false, replace);
    const auto& text = result.get_ref<const std::string&>();
    return result_of(text) == result ? text : result.dump(-1, ' ', false, replace);
}

}  // namespace whittle::inline v0::host::detail

/// What whittle reads and writes in a message of ai-sdk-cpp.
template <>
struct whittle::message_traits<ai::Message> {
    using M = ai::Message;

    static Role role(const M& m) noexcept {
        if (m.role == ai::kMessageRoleSystem) return Role::system;
        return m.role == ai::kMessageRoleAssistant ? Role::assistant : Role::user;
    }
    static void for_each_part(const M& m, auto&& visit) {
        for (const ai::ContentPart& part : m.content) {
            if (const auto* text = std::get_if<ai::TextContentPart>(&part)) {
                visit(PartView{.kind = PartKind::text, .text = text->text});
            } else if (const auto* result = std::get_if<ai::ToolResultContentPart>(&part)) {
                const std::string shown = host::detail::text_of_result(result->result);
                visit(PartView{.kind = PartKind::tool_result,
                               .text = shown,
                               .call_id = result->tool_call_id,
                               .is_error = result->is_error,
                               .starts_new_result = true});
            } else if (const auto* call = std::get_if<ai::ToolCallContentPart>(&part)) {
                const std::string arguments =
                    call->arguments.dump(-1, ' ', false, ai::JsonValue::error_handler_t::replace);
                visit(PartView{
                    .kind = PartKind::tool_call, .text = arguments, .call_id = call->id, .tool = call->tool_name});
            }
        }
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        ai::ContentPart& set = m.content.at(part);
        if (auto* call = std::get_if<ai::ToolCallContentPart>(&set)) {
            if (!is_json_object(text)) throw Error(Errc::invalid_argument, "set arguments: expected a JSON object");
            call->arguments = ai::JsonValue::parse(text);
        } else if (auto* result = std::get_if<ai::ToolResultContentPart>(&set)) {
            result->result = host::detail::result_of(text);
        } else {
            std::get<ai::TextContentPart>(set).text = std::string(text);
        }
    }
    static void erase_part(M& m, std::size_t part) {
        if (part >= m.content.size()) throw Error(Errc::invalid_argument, "erase a part: there is none");
        m.content.erase(m.content.begin() + static_cast<std::ptrdiff_t>(part));
    }
    static M make(Role role, std::string_view text) {
        const auto speaker = role == Role::system      ? ai::kMessageRoleSystem
                             : role == Role::assistant ? ai::kMessageRoleAssistant
                                                       : ai::kMessageRoleUser;
        return M(speaker, {ai::TextContentPart(std::string(text))});
    }
    /// One message of the user holds all results of a reply. The SDK has no media: a line says what came.
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        M message(ai::kMessageRoleUser, {});
        for (const ToolResult& result : results) {
            std::string text;
            for (const Part& part : result.parts)
                text += part.kind == PartKind::media ? "\n[" + part.media.mime + " that cannot be shown]" : part.text;
            message.content.emplace_back(
                ai::ToolResultContentPart(result.call_id, host::detail::result_of(text), result.is_error));
        }
        return {std::move(message)};
    }
    static void rename_call(M& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        if (auto* result = std::get_if<ai::ToolResultContentPart>(&m.content.at(part))) {
            result->tool_call_id = std::string(call_id);
        } else if (auto* call = std::get_if<ai::ToolCallContentPart>(&m.content[part])) {
            call->id = std::string(call_id);
            if (!tool.empty()) call->tool_name = std::string(tool);
        }
    }
};
static_assert(whittle::ToolMessage<ai::Message> && whittle::HasRenameCall<ai::Message>);

namespace whittle::inline v0::host {

/// A chain around the model calls of one run of ai::MultiStepCoordinator, or of several with one list. The coordinator
/// builds its list anew for each step and drops what a step made of it, so the hooks keep the small list: what is new
/// in the coordinator's is taken over, and the model sees the conversation's. Used by one thread at a time.
class AiSdkHooks {
public:
    /// What asks the model, as ai-sdk-cpp's `generate` does.
    using Generate = std::function<ai::GenerateResult(const ai::GenerateOptions&)>;

    /// `chain` must outlive it. `id` names the conversation in keys of the store.
    AiSdkHooks(const Chain<ai::Message>& chain, std::string id) : chain_(&chain), conversation_(std::move(id)) {}
    AiSdkHooks(const AiSdkHooks&) = delete;
    AiSdkHooks& operator=(const AiSdkHooks&) = delete;

    /// What `execute_multi_step` calls in place of `generate`; refers to these hooks. A call that is refused as too
    /// large is made once more, smaller.
    [[nodiscard]] Generate wrap(Generate generate) {
        return [this, generate = std::move(generate)](const ai::GenerateOptions& options) {
            return call(options, generate);
        };
    }

    /// Adds the chain's own tools (`read_offloaded`) to those of the host. They refer to these hooks.
    void add_chain_tools(ai::ToolSet& tools) {
        for (Tool& tool : chain_->tools()) {
            const ai::JsonValue schema = ai::JsonValue::parse(tool.parameters);
            ai::Tool added(tool.description, schema, ai::ToolExecuteFunction{});
            const std::string name = tool.name;
            added.execute = [this, tool = std::move(tool)](const ai::JsonValue& arguments,
                                                           const ai::ToolExecutionContext& context) {
                return run(tool, arguments, context.tool_call_id);
            };
            tools.emplace(name, std::move(added));
        }
    }

    /// What the model sees, with its journal.
    [[nodiscard]] Conversation<ai::Message>& conversation() noexcept { return conversation_; }

private:
    ai::GenerateResult call(const ai::GenerateOptions& options, const Generate& generate) {
        std::vector<ToolSpec> specs;
        for (const auto& [name, tool] : options.tools)
            specs.push_back({name, tool.description, tool.parameters_schema.dump()});
        const HookRequest<ai::Message> request{.tools = specs, .system = options.system};
        sync_from(options.messages, request);
        chain_->before_model(conversation_, request);
        ai::GenerateOptions small = options;
        const auto show = [&] {
            small.messages.assign(conversation_.messages().begin(), conversation_.messages().end());
        };
        show();
        ai::GenerateResult result = generate(small);
        if (!is_overflow(result) || !chain_->on_overflow(conversation_, {}, request)) return result;
        show();
        return generate(small);
    }

    /// What stands behind the messages that were taken in before. Another list than before is taken in as a whole.
    void sync_from(const ai::Messages& list, const HookRequest<ai::Message>& request) {
        const bool goes_on = taken_ <= list.size() && (taken_ == 0 || fingerprint(list[taken_ - 1]) == last_);
        if (!goes_on) {
            conversation_.sync(list);
        } else {
            for (std::size_t i = taken_; i < list.size(); ++i) {
                const std::span<const ai::Message> one(&list[i], 1);
                conversation_.push_tool_results(one, chain_->wrap_results(conversation_, one, request));
            }
        }
        taken_ = list.size();
        if (taken_ > 0) last_ = fingerprint(list.back());
    }

    ai::JsonValue run(const Tool& tool, const ai::JsonValue& arguments, const std::string& call_id) {
        ToolContext context{.call_id = call_id, .tool = tool.name, .arguments = arguments.dump()};
        context.conversation_id = conversation_.id();
        context.storage = chain_->config().storage;
        context.objects = conversation_.objects();
        CollectingSink sink;
        ToolOutcome outcome = tool.invoke(context, sink);
        return text_of(collect_tool_return(context, sink, std::move(outcome)));
    }

    /// The SDK hands on the server's words alone.
    [[nodiscard]] static bool is_overflow(const ai::GenerateResult& result) {
        if (result.is_success()) return false;
        const std::string words = ascii_lower(result.error_message());
        return std::ranges::any_of(
            std::initializer_list<std::string_view>{"context length", "context_length", "context size",
                                                    "context window", "prompt is too long", "maximum context"},
            [&](std::string_view phrase) { return words.find(phrase) != std::string::npos; });
    }

    const Chain<ai::Message>* chain_;
    Conversation<ai::Message> conversation_;
    std::size_t taken_ = 0;  // messages of the host's list
    Hash128 last_{};         // of the last of them
};

}  // namespace whittle::inline v0::host
