// Everything that a request can hold: hand-made histories with every sort of content, generated ones, and what real
// chains ask for, each under several settings.
#include "broken.hpp"
#include "programs.hpp"
#include "shorten_texts.hpp"

#include "support/generators_messages.hpp"
#include "whittle/anthropic/detail/anthropic_request.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/openai/detail/openai_request.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::sdk_types {

namespace {

using nlohmann::ordered_json;
using testing::Type;
using OpenAI = std::vector<openai::Message>;
using Anthropic = std::vector<anthropic::Message>;

constexpr std::size_t longest_text = 60;

constexpr const char* head = R"(import type {
  ChatCompletionCreateParamsNonStreaming, ChatCompletionCreateParamsStreaming,
} from "openai/resources/chat/completions";
import type {
  MessageCountTokensParams, MessageCreateParamsNonStreaming, MessageCreateParamsStreaming,
} from "@anthropic-ai/sdk/resources/messages";
import type {
  MessageCountTokensParams as BetaCount, MessageCreateParamsNonStreaming as BetaWhole,
  MessageCreateParamsStreaming as BetaStream,
} from "@anthropic-ai/sdk/resources/beta/messages";
import type { AnthropicBeta } from "@anthropic-ai/sdk/resources/beta";
function openai_whole(_: ChatCompletionCreateParamsNonStreaming) {}
function openai_stream(_: ChatCompletionCreateParamsStreaming) {}
function anthropic_whole(_: MessageCreateParamsNonStreaming) {}
function anthropic_stream(_: MessageCreateParamsStreaming) {}
function anthropic_count(_: MessageCountTokensParams) {}
function beta_whole(_: BetaWhole) {}
function beta_stream(_: BetaStream) {}
function beta_count(_: BetaCount) {}
type Known<T> = T extends string ? (string extends T ? never : T) : never;
function beta_name(_: Known<AnthropicBeta>) {}
)";

std::string dump(const ordered_json& json) { return json.dump(-1, ' ', true, ordered_json::error_handler_t::replace); }

/// Collects calls of the functions above.
class Program {
public:
    void add(const std::string& function, const std::string& body) {
        ordered_json json = ordered_json::parse(body);
        shorten_texts(json, longest_text);
        text_ += function + "(" + dump(json) + ");\n";
        for (const Broken& broken : break_body(json, seen_[function.starts_with("openai")]))
            refuse(function, broken.what, broken.body);
    }
    void refuse(const std::string& function, const std::string& what, const ordered_json& body) {
        text_ += "// @ts-expect-error " + what + "\n" + function + "(" + dump(body) + ");\n";
    }
    void name_beta(const std::string& beta) {
        if (betas_.insert(beta).second) text_ += "beta_name(" + dump(beta) + ");\n";
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_ = head;
    std::set<std::string> seen_[2]{};
    std::set<std::string> betas_{};
};

struct Setting {
    OpenAIModelConfig openai{.model = "m"};
    AnthropicModelConfig anthropic{.model = "m"};
    GenerateOptions options{};
};

void add_bodies(Program& program, ModelRequest<openai::Message> request, const Setting& setting) {
    if (request.options == nullptr) request.options = &setting.options;
    program.add("openai_whole", openai::chat_body(request, setting.openai, false));
    program.add("openai_stream", openai::chat_body(request, setting.openai, true));
}

void add_bodies(Program& program, ModelRequest<anthropic::Message> request, const Setting& setting) {
    if (request.options == nullptr) request.options = &setting.options;
    using anthropic::RequestBodyKind;
    for (const auto& [kind, name] :
         {std::pair{RequestBodyKind::whole, "whole"}, std::pair{RequestBodyKind::stream, "stream"},
          std::pair{RequestBodyKind::count, "count"}}) {
        const anthropic::RequestText text = anthropic::messages_request(request, setting.anthropic, kind);
        program.add((text.betas.empty() ? "anthropic_" : "beta_") + std::string(name), text.body);
        for (const std::string& beta : text.betas) program.name_beta(beta);
    }
}

/// As servers send replies: members that requests must not have, among them.
OpenAI openai_kinds() {
    OpenAI messages;
    for (
        const char* text :
        {R"({"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})",
         R"({"role":"user","name":"ann","content":[{"type":"text","text":"see"},
                 {"type":"image_url","image_url":{"url":"https://example.org/a.png","detail":"low"}},
                 {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},
                 {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}}]})",
         R"({"role":"assistant","content":null,"refusal":null,"annotations":[],"audio":null,"function_call":null,
                 "reasoning_content":"hm","tool_calls":[
                 {"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"}},
                 {"index":1,"id":"c2","type":"function","function":{"name":"read","arguments":""}},
                 {"id":"c3","type":"custom","custom":{"name":"shell","input":"ls"}}]})",
         R"({"role":"tool","tool_call_id":"c1","name":"read","content":"one"})",
         R"({"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"two"}]})",
         R"({"role":"tool","tool_call_id":"c3","content":""})",
         R"({"role":"assistant","content":"done","tool_calls":[],"annotations":[{"type":"url_citation",
                 "url_citation":{"end_index":1,"start_index":0,"title":"t","url":"https://example.org"}}]})",
         R"({"role":"user","content":"sing"})",
         R"({"role":"assistant","content":null,"audio":{"id":"audio_1","data":"AAAA","expires_at":1,"transcript":"la"}})",
         R"({"role":"user","content":"rob a bank"})", R"({"role":"assistant","content":null,"refusal":"I will not"})",
         R"({"role":"user","content":"漢字"})"})
        messages.push_back(openai::Message::parse(text));
    return messages;
}

Anthropic anthropic_kinds() {
    Anthropic messages;
    for (const char* text : {
             R"({"role":"user","content":[{"type":"text","text":"see"},
                 {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
                 {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQK"},
                  "title":"t","context":"c","citations":{"enabled":true}},
                 {"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}},
                 {"type":"document","source":{"type":"url","url":"https://example.org/a.pdf"},
                  "cache_control":{"type":"ephemeral","ttl":"1h"}}]})",
             R"({"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[
                 {"type":"thinking","thinking":"hm","signature":"S"},{"type":"redacted_thinking","data":"D"},
                 {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"},
                  "caller":{"type":"direct"}},
                 {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","caller":{"type":"direct"},"content":[
                  {"type":"web_search_result","title":"t","url":"https://example.org","encrypted_content":"E",
                   "page_age":null}]},
                 {"type":"text","text":"I look","citations":[{"type":"web_search_result_location","cited_text":"c",
                  "encrypted_index":"i","title":"t","url":"https://example.org"}]},
                 {"type":"tool_use","id":"toolu_1","name":"look","input":{"at":1},"caller":{"type":"direct"}},
                 {"type":"tool_use","id":"toolu_2","name":"look","input":{}}]})",
             R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[
                     {"type":"text","text":"a"},
                     {"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}]},
                 {"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"failed"},
                 {"type":"text","text":"go on"}]})",
             R"({"role":"assistant","content":[{"type":"text","text":"done","citations":null}]})",
             R"({"role":"user","content":"and now?"})", R"({"role":"system","content":"be brief"})"})
        messages.push_back(anthropic::Message::parse(text));
    return messages;
}

const std::vector<ToolSpec>& tools() {
    static const std::vector<ToolSpec> both{
        {"read", "Reads a file.", R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]})"},
        {"plain", "", R"({"type":"object"})"}};
    return both;
}

std::vector<Setting> openai_settings() {
    std::vector<Setting> settings{{}, {}, {}, {}};
    settings[1].openai.max_output_tokens = 500;
    settings[1].openai.dialect.system_role = "developer";
    settings[1].options = {.max_output_tokens = 9, .temperature = 0.5};
    settings[2].openai.extra = R"({"top_p":0.9,"seed":1,"stop":["END"],"parallel_tool_calls":false,"tool_choice":"auto",
        "frequency_penalty":0.1,"presence_penalty":0.1,"logit_bias":{"50256":-100},"n":1,"store":false,
        "metadata":{"run":"1"},"reasoning_effort":"low","verbosity":"low","user":"u","service_tier":"auto",
        "response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object"},"strict":true}},
        "tools":[{"type":"custom","custom":{"name":"shell","description":"Runs it."}}]})";
    settings[3].options.extra = R"({"logprobs":true,"top_logprobs":2,"stop":"END",
        "tool_choice":{"type":"function","function":{"name":"read"}},"response_format":{"type":"json_object"}})";
    for (const char* name : {"azure", "compatible"})
        settings.emplace_back().openai.dialect = *openai::find_dialect(name);
    return settings;
}

std::vector<Setting> anthropic_settings() {
    std::vector<Setting> settings{{}, {}, {}, {}};
    settings[1].anthropic.cache_lifetime = "1h";
    settings[1].anthropic.extra = R"({"thinking":{"type":"adaptive"},"tool_choice":{"type":"auto"},
        "stop_sequences":["END"],"metadata":{"user_id":"u"},"service_tier":"auto",
        "tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}]})";
    settings[1].options.max_output_tokens = 9'000;
    settings[2].anthropic.cache_breakpoints = 0;
    settings[2].anthropic.extra = R"({"thinking":{"type":"enabled","budget_tokens":1024},
        "tool_choice":{"type":"any","disable_parallel_tool_use":true}})";
    settings[3].anthropic.betas = {"context-management-2025-06-27"};
    settings[3].anthropic.extra =
        R"({"context_management":{"edits":[{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":3}}]}})";
    return settings;
}

/// Where the types and we differ on purpose: extensions/http/README.md.
void add_exceptions(Program& program) {
    const OpenAI history{openai::Message::parse(R"({"role":"assistant","content":"a","reasoning_content":"hm"})")};
    Setting setting;
    setting.openai.dialect = *openai::find_dialect("deepseek");
    program.refuse("openai_whole", "reasoning_content, for servers that want it back",
                   ordered_json::parse(openai::chat_body({.messages = history}, setting.openai, false)));
    const Anthropic talk{anthropic::Message::parse(R"({"role":"user","content":"a"})")};
    const GenerateOptions warm{.temperature = 0.5};
    const anthropic::RequestText text = anthropic::messages_request(
        {.messages = talk, .options = &warm}, setting.anthropic, anthropic::RequestBodyKind::whole);
    program.refuse("anthropic_whole", "temperature, for models that still take it", ordered_json::parse(text.body));
}

void add_hand_made(Program& program) {
    const OpenAI spoken = openai_kinds();
    for (const Setting& setting : openai_settings()) {
        add_bodies(program, {.messages = spoken, .system = "Be brief.", .tools = tools()}, setting);
        add_bodies(program, {.messages = {spoken.data(), 2}}, setting);
    }
    const Anthropic blocks = anthropic_kinds();
    const std::function<std::size_t()> count_stable_messages = [] { return std::size_t{3}; };
    for (const Setting& setting : anthropic_settings()) {
        for (const bool is_edited : {false, true}) {
            add_bodies(program,
                       {.messages = blocks,
                        .system = "Be brief.",
                        .tools = tools(),
                        .thinking_prefix_edited = is_edited,
                        .count_stable_messages = &count_stable_messages},
                       setting);
        }
        add_bodies(program, {.messages = {blocks.data(), 1}, .tools = tools()}, setting);
        add_bodies(
            program,
            {.messages = {blocks.data(), 1}, .purpose = "summary", .count_stable_messages = &count_stable_messages},
            setting);
    }
}

template <typename M>
void add_generated(Program& program) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        const std::vector<M> history = testing::build_all<M>(testing::generate_history(seed, {.turns = 2}));
        add_bodies(
            program,
            {.messages = history, .system = "Be brief.", .tools = tools(), .thinking_prefix_edited = seed % 2 == 0},
            {});
    }
}

openai::Message calls_of(Type<openai::Message>, int step) {
    const std::string n = std::to_string(step);
    return openai::Message(ordered_json{
        {"role", "assistant"},
        {"content", nullptr},
        {"refusal", nullptr},
        {"annotations", ordered_json::array()},
        {"tool_calls",
         {{{"id", "a" + n}, {"type", "function"}, {"function", {{"name", "page"}, {"arguments", "{}"}}}},
          {{"id", "b" + n}, {"type", "function"}, {"function", {{"name", "fail"}, {"arguments", "{}"}}}}}}});
}

anthropic::Message calls_of(Type<anthropic::Message>, int step) {
    const std::string n = std::to_string(step);
    const ordered_json none = ordered_json::object();
    return anthropic::Message(ordered_json{
        {"role", "assistant"},
        {"content",
         {{{"type", "thinking"}, {"thinking", "hm"}, {"signature", "S"}},
          {{"type", "tool_use"}, {"id", "a" + n}, {"name", "page"}, {"input", none}, {"caller", {{"type", "direct"}}}},
          {{"type", "tool_use"}, {"id", "b" + n}, {"name", "fail"}, {"input", none}}}}});
}

std::vector<Tool> loop_tools() {
    Tool page{.name = "page", .description = "Reads a page."};
    page.invoke = [](const ToolContext&, PartSink& out) {
        out.write(std::string(2'000, 'p'));
        Part image{.kind = PartKind::media};
        image.media = {.mime = "image/png", .bytes = "\x89PNG\r\n"};
        out.push(image);
        return ToolOutcome{};
    };
    Tool fail{.name = "fail", .description = "Fails."};
    fail.invoke = [](const ToolContext&, PartSink&) -> ToolOutcome { throw std::runtime_error("broken"); };
    return {page, fail};
}

/// A loop with clearing and summaries that share the prompt: their requests and the agent's, after edits too.
template <typename M>
void add_asked(Program& program, const ValidityProfile& validity, bool reuse_prompt_cache) {
    int step = 0;
    const auto model = std::make_shared<ScriptedModel<M>>([&](const ModelRequest<M>& request) -> Reply<M> {
        add_bodies(program, request, {});
        const auto text = [](const char* words) { return message_traits<M>::make(Role::assistant, words); };
        if (!request.purpose.empty()) return {text("<summary>Pages were read, nothing was found yet.</summary>")};
        if (++step > 8) return {text("done")};
        return {calls_of(Type<M>{}, step), std::nullopt, FinishReason::tool_calls};
    });
    const SummarizationConfig config{.trigger = {.context_tokens = 3'000},
                                     .keep_recent_tokens = 500,
                                     .reuse_prompt_cache = reuse_prompt_cache,
                                     .model_options = {.max_output_tokens = 700}};
    ChainConfig chain_config{.storage = memory_storage()};
    chain_config.profile.validity = validity;
    chain_config.profile.thinking_bound_to_prefix = true;
    const ReductionConfig clearing{.skip_truncation = true, .max_tokens_for_clear = 2'000};
    const Chain<M> chain{chain_config, Reduction<M>{clearing}, Summarization<M>{model, config}};
    const LoopConfig loop_config{.system = "Read."};
    AgentLoop<M> loop{model, loop_tools(), chain, loop_config};
    Conversation<M> conversation("asked");
    const RunResult result = loop.run(conversation, "read them all");
    if (result.outcome != RunOutcome::answered) throw std::runtime_error("the loop ended with: " + result.error);
    if (conversation.journal().empty()) throw std::runtime_error("the chain edited nothing");
}

}  // namespace

void print_bodies(std::ostream& out) {
    Program program;
    add_hand_made(program);
    add_exceptions(program);
    add_generated<openai::Message>(program);
    add_generated<anthropic::Message>(program);
    for (const bool reuse : {false, true}) {
        add_asked<openai::Message>(program, openai_chat(), reuse);
        add_asked<anthropic::Message>(program, anthropic_thinking(), reuse);
    }
    out << program.text();
}

}  // namespace whittle::sdk_types
