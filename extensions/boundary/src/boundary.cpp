#include "whittle/boundary/boundary.hpp"

#include "whittle/chain/chain.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/release_context/release_context.hpp"
#include "whittle/tiktoken/exact_counter_type.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::boundary {

namespace {

using BoundaryJson = nlohmann::ordered_json;

BoundaryJson parse_boundary_json(std::string_view operation, const std::string& text) {
    BoundaryJson json = BoundaryJson::parse(text, nullptr, false);
    if (json.is_discarded()) throw Error(Errc::parse_failed, std::string(operation) + ": no JSON");
    return json;
}

std::vector<ToolSpec> specs_of(const std::string& tools) {
    const BoundaryJson json = parse_boundary_json("tools", tools);
    if (!json.is_array()) throw Error(Errc::parse_failed, "tools: expected an array");
    std::vector<ToolSpec> specs;
    for (const BoundaryJson& tool : json) {
        const auto function = tool.is_object() ? tool.find("function") : tool.end();
        if (!tool.is_object() || function == tool.end() || !function->is_object())
            throw Error(Errc::parse_failed, "tools: expected {\"type\": \"function\", \"function\": {...}}");
        ToolSpec& spec = specs.emplace_back();
        spec.name = function->value("name", "");
        spec.description = function->value("description", "");
        if (const auto parameters = function->find("parameters"); parameters != function->end())
            spec.parameters = parameters->dump();
    }
    return specs;
}

ConfigTypes boundary_types() {
    ConfigTypes types;
    types.register_middleware<openai::Message>(condensing_type(), make_condensing);
    types.register_middleware<openai::Message>(release_context_type(), make_release_context);
    for (CounterType<ExactCounterConfig>& counter : exact_counter_types()) types.register_counter(std::move(counter));
    return types;
}

ChainSettings settings_of(const Options& options) {
    ChainSettings settings =
        read_chain_settings(options.config, {.base_dir = options.base_dir, .types = boundary_types()});
    if (settings.storage_settings.type.empty() && !settings.config.storage) settings.config.storage = memory_storage();
    return settings;
}

}  // namespace

class Context::State {
public:
    explicit State(const Options& options)
        : chain_(make_chain<openai::Message>(settings_of(options))),
          conversation_(options.id),
          system_(options.system_outside_messages),
          specs_(specs_of(options.tools)) {
        for (const Tool& tool : chain_.tools()) specs_.push_back(tool.spec());
    }

    void push(const std::string& message) {
        const openai::Message parsed(parse_boundary_json("push", message));
        const std::span<const openai::Message> one(&parsed, 1);
        conversation_.push_tool_results(one, chain_.wrap_results(conversation_, one, request_of()));
    }

    std::string reduce_and_push_result(const std::string& call_id, const std::string& text, bool is_error) {
        const auto calls = chain_.pending_tool_calls(conversation_, request_of());
        const auto call = std::ranges::find(calls, call_id, &ToolContext::call_id);
        ToolReturn shown{.result = {.call_id = call_id, .parts = {Part{.text = text}}, .is_error = is_error}};
        if (call != calls.end()) {
            CollectingSink sink;
            ToolOutcome outcome = chain_.wrap_tool(*call, sink, [&](const ToolContext&, PartSink& out) {
                out.write(text);
                return ToolOutcome{.is_error = is_error};
            });
            shown = collect_tool_return(*call, sink, std::move(outcome));
        }
        conversation_.push_tool_results(std::span(&shown, 1));
        return text_of(shown);
    }

    std::string request() {
        chain_.before_model(conversation_, request_of());
        return messages();
    }

    bool on_overflow(std::int64_t limit, std::int64_t used) {
        return chain_.on_overflow(conversation_, {.context_limit_tokens = limit, .requested_tokens = used},
                                  request_of());
    }

    [[nodiscard]] std::string messages() const {
        BoundaryJson list = BoundaryJson::array();
        for (const openai::Message& message : conversation_.messages()) list.push_back(message.json());
        return list.dump(-1, ' ', false, BoundaryJson::error_handler_t::replace);
    }

    void for_each_part(const std::function<void(const VisitedPart&)>& see) const {
        using Traits = message_traits<openai::Message>;
        for (std::size_t i = 0; i < conversation_.size(); ++i) {
            const openai::Message& message = conversation_.messages()[i];
            Traits::for_each_part(message, [&](const PartView& part) {
                see({.message = i,
                     .role = to_string(Traits::role(message)),
                     .kind = to_string(part.kind),
                     .text = part.text,
                     .call_id = part.call_id,
                     .tool = part.tool});
            });
        }
    }

    [[nodiscard]] std::string tools() const {
        BoundaryJson list = BoundaryJson::array();
        for (const Tool& tool : chain_.tools()) {
            list.push_back({{"type", "function"},
                            {"function",
                             {{"name", tool.name},
                              {"description", tool.description},
                              {"parameters", BoundaryJson::parse(tool.parameters)}}}});
        }
        return list.dump();
    }

    std::string call_chain_tool(const std::string& name, const std::string& arguments) {
        const std::vector<Tool> tools = chain_.tools();
        const auto tool = std::ranges::find(tools, name, &Tool::name);
        if (tool == tools.end()) throw Error(Errc::not_found, "call tool \"" + name + "\": the chain has no such tool");
        ToolContext context{.tool = name, .arguments = arguments, .tools = specs_};
        context.conversation_id = conversation_.id();
        context.storage = chain_.config().storage;
        context.objects = conversation_.objects();
        CollectingSink sink;
        ToolOutcome outcome = tool->invoke(context, sink);
        return text_of(collect_tool_return(context, sink, std::move(outcome)));
    }

    bool undo() { return conversation_.undo(); }

    [[nodiscard]] std::string report() const {
        const Report& last = conversation_.report();
        return BoundaryJson{
            {"tokens_before", last.tokens_before}, {"tokens_after", last.tokens_after}, {"changed", last.changed()}}
            .dump();
    }

private:
    [[nodiscard]] HookRequest<openai::Message> request_of() const { return {.tools = specs_, .system = system_}; }

    Chain<openai::Message> chain_;
    Conversation<openai::Message> conversation_;
    std::string system_;
    std::vector<ToolSpec> specs_;  // of the host and of the chain
};

Context::Context(const Options& options) : state_(std::make_unique<State>(options)) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

void Context::push(const std::string& message) { state_->push(message); }
std::string Context::reduce_and_push_result(const std::string& call_id, const std::string& text, bool is_error) {
    return state_->reduce_and_push_result(call_id, text, is_error);
}
std::string Context::prepare_messages() { return state_->request(); }
bool Context::on_overflow(std::int64_t limit, std::int64_t used) { return state_->on_overflow(limit, used); }
std::string Context::messages() const { return state_->messages(); }
void Context::for_each_part(const std::function<void(const VisitedPart&)>& see) const { state_->for_each_part(see); }
std::string Context::chain_tools() const { return state_->tools(); }
std::string Context::call_chain_tool(const std::string& name, const std::string& arguments) {
    return state_->call_chain_tool(name, arguments);
}
bool Context::undo_chain_edit() { return state_->undo(); }
std::string Context::last_hook_report() const { return state_->report(); }

}  // namespace whittle::inline v0::boundary
