// Sources of the format of LangSmith and LangChain: `python/langsmith/schemas.py`
// (https://github.com/langchain-ai/langsmith-sdk/blob/main/python/langsmith/schemas.py) (`Run`), `wrappers/_openai.py`,
// `_anthropic.py` (`_message_to_outputs`, `_strip_not_given`) and `_gemini.py`, and `_internal/_usage.py`, at commit
// `bc8dd67` (2026-08-21) (https://github.com/langchain-ai/langsmith-sdk/tree/main/python/langsmith/wrappers),
// `langchain_core/messages` (https://github.com/langchain-ai/langchain/tree/master/libs/core/langchain_core/messages),
// LangSmith's page Log LLM calls (https://docs.langchain.com/langsmith/log-llm-trace) (2026-11-26).
#include "langchain_form.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "responses_form.hpp"
#include "traced_calls.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// A text of the first of several places that has one.
std::string_view first_text(const ordered_json* holder, std::initializer_list<const char*> keys) {
    if (holder == nullptr) return {};
    for (const char* key : keys) {
        if (const std::string_view text = text_at(*holder, key); !text.empty()) return text;
    }
    return {};
}

/// "llm_output" of a call or "response_metadata" of a message: the provider's usage, or that of LangChain.js.
std::optional<Usage> usage_of_facts(const ordered_json* facts) {
    if (facts == nullptr) return std::nullopt;
    for (const char* key : {"token_usage", "usage", "tokenUsage"}) {
        const ordered_json* usage = tree_at(*facts, key);
        if (usage == nullptr || usage->empty()) continue;
        if (find_member(*usage, "promptTokens") == nullptr) return provider_usage(*usage);
        return Usage{.uncached_input = count_at(*usage, "promptTokens"),
                     .output = count_at(*usage, "completionTokens")};
    }
    return std::nullopt;
}

/// Messages that LangChain wrote, with their ids; "" for those that have none.
struct MessageDump {
    Entries entries{};
    std::vector<std::string> ids{};

    /// Whether this begins with all messages of the other one, which their ids tell.
    [[nodiscard]] bool continues(const MessageDump& other) const {
        return !other.ids.empty() && other.ids.size() <= ids.size() && std::ranges::count(other.ids, "") == 0 &&
               std::equal(other.ids.begin(), other.ids.end(), ids.begin());
    }
};

/// Whether LangSmith's wrapper of Anthropic's client wrote the run: the output is the provider's message, in which that
/// wrapper turns blocks of calls into OpenAI's.
bool is_of_anthropic_client(const ordered_json& outputs) {
    return text_at(outputs, "role") == "assistant" && find_member(outputs, "stop_reason") != nullptr;
}

/// Runs of LangSmith, and lists of messages that LangChain wrote.
class LangSmithLog {
public:
    LangSmithLog(const LogOptions& options, LogNotes& notes, VisitSession visit)
        : options_(options), notes_(notes), visit_(visit) {}

    void add(const ordered_json& record, std::size_t line) {
        if (const ordered_json* runs = tree_at(record, "runs"); runs != nullptr && runs->is_array()) {
            for (const ordered_json& run : *runs) add_runs(run, line);
        } else if (!text_at(record, "run_type").empty()) {
            add_runs(record, line);
        } else if (const ordered_json* messages = tree_at(record, "messages"); messages != nullptr) {
            finish_dump();  // of what stood alone in front
            dump_messages(*messages, line);
            finish_dump();
        } else if (find_member(body_of_message(record), "content") != nullptr) {
            add_dumped(record, line);
        } else {
            note_damage(notes_, line, "neither a run nor a message");
        }
    }

    void finish() {
        finish_dump();
        hand_over_dumps();
        if (const std::int64_t inner = calls_.leave_out_inner(); inner > 0)
            notes_.left_out["run of a model within one of the same call"] += inner;
        calls_.finish(ExchangeList(stem_of(options_), Format::langsmith, notes_), "run of a model without messages",
                      notes_, visit_);
    }

private:
    /// A run and, where they were loaded with it, those within.
    void add_runs(const ordered_json& root, std::size_t line) {
        std::vector<const ordered_json*> todo{&root};
        while (!todo.empty()) {
            const ordered_json& run = *todo.back();
            todo.pop_back();
            add_run(run, line);
            const ordered_json* inner = tree_at(run, "child_runs");
            if (inner == nullptr || !inner->is_array()) continue;
            for (std::size_t i = inner->size(); i-- > 0;) todo.push_back(&(*inner)[i]);
        }
    }

    void add_run(const ordered_json& run, std::size_t line) {
        const std::string_view type = text_at(run, "run_type");
        const std::string id(first_text(&run, {"id", "run_id"}));
        if (!run.is_object() || type.empty()) return note_damage(notes_, line, "a run without a run_type");
        if (!id.empty() && !ids_.insert(id).second) {
            ++notes_.left_out["repeated run"];
            return;
        }
        if (type != "llm") {
            ++notes_.left_out["run/" + std::string(type.substr(0, 64))];
            return;
        }
        const ordered_json inputs = tree_of(run, "inputs", line);
        const ordered_json outputs = tree_of(run, "outputs", line);
        const bool is_of_responses = is_responses_request(inputs, outputs);
        TracedCall call{.time = to_seconds(text_at(run, "start_time")),
                        .line = line,
                        .has_failed = !text_at(run, "error").empty(),
                        .id = id,
                        .parent = std::string(text_at(run, "parent_run_id")),
                        .group = std::string(text_at(run, "trace_id"))};
        call.request = is_of_responses ? to_chat_request(inputs, notes_) : request_of_inputs(inputs);
        call.usage = usage_of_run(run, outputs);
        if (outputs.is_object()) {
            call.response = is_of_responses ? to_chat_response(outputs, notes_) : response_of_outputs(outputs);
            complete_response(call.response, run, outputs, id);
        } else {  // hidden, or cut
            call.response = {{"id", id}, {"model", model_of_run(run)}};
        }
        if (call.request.is_null()) return calls_.add(std::move(call));
        if (!is_of_responses && is_of_anthropic_client(outputs)) to_blocks(call);
        take_facts(run, inputs, call.request);
        calls_.add(std::move(call));
    }

    /// A member that is an object, or the JSON of one, as tables hold it. Else null.
    ordered_json tree_of(const ordered_json& run, const char* key, std::size_t line) {
        const ordered_json* value = find_member(run, key);
        auto tree = value == nullptr ? std::nullopt : json_in(*value, line, options_, notes_, values_);
        return tree && tree->is_object() ? *std::move(tree) : ordered_json(nullptr);
    }

    ordered_json request_of_inputs(const ordered_json& inputs) {
        ordered_json messages = messages_of_input(inputs, notes_);
        if (messages.is_null()) return nullptr;
        ordered_json request{{"messages", std::move(messages)}};
        if (const ordered_json* system = find_member(inputs, "system")) request["system"] = *system;
        return request;
    }

    ordered_json response_of_outputs(const ordered_json& outputs) {
        ordered_json response = ordered_json::object();
        const ordered_json* recorded = reply_of_output(outputs);
        ordered_json reply = recorded == nullptr ? ordered_json(nullptr) : to_chat_message(*recorded, notes_);
        if (!reply.is_null()) response["choices"] = ordered_json::array({{{"message", std::move(reply)}}});
        return response;
    }

    /// Undoes what the wrapper of Anthropic's client did: the system text stands in front, and calls are OpenAI's.
    void to_blocks(TracedCall& call) {
        ordered_json& messages = call.request["messages"];
        if (text_at(messages.front(), "role") == "system" && !call.request.contains("system")) {
            const ordered_json front = messages.front();
            messages.erase(messages.begin());
            if (const ordered_json* system = find_member(front, "content")) call.request["system"] = *system;
        }
        if (!call.response.contains("choices")) return;
        ordered_json& reply = call.response["choices"][0]["message"];
        const ordered_json* calls = tree_at(reply, "tool_calls");
        if (calls == nullptr || !calls->is_array() || tree_at(reply, "content") != nullptr) return;
        ordered_json blocks = ordered_json::array();
        if (const std::string_view text = text_at(reply, "content"); !text.empty())
            blocks.push_back({{"type", "text"}, {"text", text}});
        for (const ordered_json& one : *calls) blocks.push_back(block_of_call(one, call.line));
        reply = {{"role", "assistant"}, {"content", std::move(blocks)}};
    }

    ordered_json block_of_call(const ordered_json& call, std::size_t line) {
        const ordered_json* function = tree_at(call, "function");
        ordered_json block{{"type", "tool_use"}, {"id", text_at(call, "id")}, {"name", ""}};
        if (function != nullptr) block["name"] = text_at(*function, "name");
        ordered_json arguments = function == nullptr ? ordered_json(nullptr) : tree_of(*function, "arguments", line);
        if (arguments.is_null()) ++notes_.unknown["arguments that are no JSON object"];
        block["input"] = arguments.is_null() ? ordered_json::object() : std::move(arguments);
        return block;
    }

    /// The provider's id, else that of the run; and the model.
    static void complete_response(ordered_json& response, const ordered_json& run, const ordered_json& outputs,
                                  const std::string& run_id) {
        const ordered_json* reply = reply_of_output(outputs);
        const ordered_json* of_reply =
            reply == nullptr ? nullptr : tree_at(body_of_message(*reply), "response_metadata");
        const ordered_json* of_call = tree_at(outputs, "llm_output");
        if (of_call == nullptr) of_call = tree_at(outputs, "llmOutput");
        std::string_view id = first_text(of_reply, {"id"});
        if (id.empty()) id = first_text(of_call, {"id"});
        const bool is_of_provider = reply != &outputs || !text_at(outputs, "role").empty();
        if (id.empty() && is_of_provider) id = text_at(outputs, "id");
        response["id"] = id.empty() ? std::string_view(run_id) : id;
        std::string_view model = first_text(of_reply, {"model_name", "model"});
        if (model.empty()) model = first_text(of_call, {"model_name", "model"});
        if (model.empty()) model = text_at(outputs, "model");
        if (model.empty()) model = model_of_run(run);
        response["model"] = model;
    }

    static std::string_view model_of_run(const ordered_json& run) {
        const ordered_json* extra = tree_at(run, "extra");
        if (extra == nullptr) return {};
        const std::string_view model = first_text(tree_at(*extra, "metadata"), {"ls_model_name"});
        return model.empty() ? first_text(tree_at(*extra, "invocation_params"), {"model", "model_name"}) : model;
    }

    /// What stands beside the messages: the model and the tools.
    static void take_facts(const ordered_json& run, const ordered_json& inputs, ordered_json& request) {
        if (!request.contains("model")) request["model"] = model_of_run(run);
        const ordered_json* extra = tree_at(run, "extra");
        const ordered_json* parameters = extra == nullptr ? nullptr : tree_at(*extra, "invocation_params");
        const ordered_json* tools = tree_at(inputs, "tools");
        if (tools == nullptr && parameters != nullptr) tools = tree_at(*parameters, "tools");
        if (tools != nullptr && !request.contains("tools")) request["tools"] = *tools;
    }

    /// Of the message, else of the output, else what LangSmith counts for the run.
    static std::optional<Usage> usage_of_run(const ordered_json& run, const ordered_json& outputs) {
        const ordered_json* reply = reply_of_output(outputs);
        const ordered_json nothing = ordered_json::object();
        const ordered_json& body = reply == nullptr ? nothing : body_of_message(*reply);
        if (const auto usage = usage_of_metadata(body)) return usage;
        if (const auto usage = usage_of_metadata(outputs)) return usage;
        for (const ordered_json* holder :
             {tree_at(outputs, "llm_output"), tree_at(outputs, "llmOutput"), tree_at(body, "response_metadata")}) {
            if (const auto usage = usage_of_facts(holder)) return usage;
        }
        if (const ordered_json* usage = tree_at(outputs, "usage"); usage != nullptr && !usage->empty())
            return provider_usage(*usage);
        if (count_at(run, "prompt_tokens") == 0 && count_at(run, "completion_tokens") == 0) return std::nullopt;
        const ordered_json* details = tree_at(run, "prompt_token_details");
        const Usage counts{.uncached_input = count_at(run, "prompt_tokens"),
                           .cache_read = details == nullptr ? 0 : count_at(*details, "cache_read"),
                           .cache_write = details == nullptr ? 0 : count_at(*details, "cache_creation"),
                           .output = count_at(run, "completion_tokens")};
        return usage_by_total(counts, count_at(run, "total_tokens"), CachePlace::in_input);
    }

    void dump_messages(const ordered_json& messages, std::size_t line) {
        for (const ordered_json& message : messages) add_dumped(message, line);
    }

    /// A message that stands alone: those of a file, or of one list, are a session.
    void add_dumped(const ordered_json& recorded, std::size_t line) {
        ordered_json message = to_chat_message(recorded, notes_);
        if (message.is_null()) return;
        Entry entry{.message = std::move(message), .time = std::nullopt, .line = line, .call = std::nullopt};
        const ordered_json& body = body_of_message(recorded);
        if (text_at(entry.message, "role") == "assistant") {
            const ordered_json* facts = tree_at(body, "response_metadata");
            entry.call = Call{.id = std::string(first_text(facts, {"id"})),
                              .model = std::string(first_text(facts, {"model_name", "model"})),
                              .usage = usage_of_metadata(body)};
            if (entry.call->id.empty()) entry.call->id = text_at(body, "id");
            if (!entry.call->usage) entry.call->usage = usage_of_facts(facts);
        }
        dumped_.ids.emplace_back(text_at(body, "id"));
        dumped_.entries.add(std::move(entry));
    }

    /// What a graph wrote after each of its steps is one session, of which the longest is kept.
    void finish_dump() {
        MessageDump dump = std::exchange(dumped_, {});
        if (dump.entries.empty()) return;
        constexpr std::size_t newest = 64;
        for (std::size_t i = dumps_.size(); i-- > dumps_.size() - std::min(dumps_.size(), newest);) {
            const bool is_later = dump.continues(dumps_[i]);
            if (!is_later && !dumps_[i].continues(dump)) continue;
            ++notes_.left_out["messages that another state holds too"];
            if (is_later) dumps_[i] = std::move(dump);
            return;
        }
        dumps_.push_back(std::move(dump));
    }

    void hand_over_dumps() {
        int number = 0;
        for (MessageDump& dump : dumps_) {
            Session session{.format = Format::langsmith};
            session.recording.id = stem_of(options_) + (++number > 1 ? "#" + std::to_string(number) : "");
            dump.entries.finish(session, false, notes_);
            hand_over(std::move(session), notes_, visit_);
        }
    }

    const LogOptions& options_;
    LogNotes& notes_;
    VisitSession visit_;
    std::unordered_set<std::string> ids_{};  // of all runs
    TracedCalls calls_{};
    ValueBudget values_{};  // in texts
    MessageDump dumped_{};
    std::vector<MessageDump> dumps_{};
};

}  // namespace

void read_langsmith(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    LangSmithLog log(options, notes, visit);
    each_record(in, options, notes, [&](const ordered_json& record, std::size_t line) { log.add(record, line); });
    log.finish();
}

}  // namespace whittle::inline v0::logs
