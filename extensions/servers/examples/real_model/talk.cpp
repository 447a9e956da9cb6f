// Conversations past the window.
#include "notes.hpp"
#include "scenarios.hpp"

#include <whittle/openai/openai_chat_model.hpp>
#include <whittle/preset/presets.hpp>
#include <whittle/reduction/reduction.hpp>
#include <whittle/storage/storage.hpp>
#include <whittle/summarization/summarization.hpp>

#include <fmt/format.h>

#include <utility>

namespace real_model {

namespace {

using whittle::openai::Message;
using ChatModel = whittle::Model<Message>;

constexpr std::string_view system_text = "You help a gardener. Answer in one short sentence.";

/// Keeps what came of each call.
class Watched final : public ChatModel {
public:
    Watched(std::shared_ptr<ChatModel> model, std::vector<Call>& calls) : model_(std::move(model)), calls_(calls) {}

    whittle::Reply<Message> generate(const whittle::ModelRequest<Message>& request) override {
        Call call{.purpose = std::string(request.purpose)};
        try {
            whittle::Reply<Message> reply = model_->generate(request);
            call.text = whittle::text_of(reply.message);
            call.finish = reply.finish;
            call.timing = reply.timing;
            if (reply.usage) call.prompt_tokens = reply.usage->uncached_input + reply.usage->cache_read;
            calls_.push_back(std::move(call));
            return reply;
        } catch (const whittle::ModelError& error) {
            call.failure = error.error_class();
            call.overflow = error.overflow();
            call.text = error.what();
            calls_.push_back(std::move(call));
            throw;
        }
    }

private:
    std::shared_ptr<ChatModel> model_;
    std::vector<Call>& calls_;
};

/// A model of this size does not call tools by itself: a question of the user must be answered with a call, of which
/// the model writes the arguments, and the result of the call with words.
class CallsFirst final : public ChatModel {
public:
    CallsFirst(std::shared_ptr<ChatModel> model, bool takes_tool_choice)
        : model_(std::move(model)), takes_tool_choice_(takes_tool_choice) {}

    whittle::Reply<Message> generate(const whittle::ModelRequest<Message>& request) override {
        const bool is_question = whittle::message_traits<Message>::role(request.messages.back()) == whittle::Role::user;
        whittle::GenerateOptions options = request.options != nullptr ? *request.options : whittle::GenerateOptions{};
        if (is_question) options.extra = demand();
        whittle::ModelRequest<Message> asked = request;
        asked.options = &options;
        whittle::Reply<Message> reply = model_->generate(asked);
        if (is_question && !takes_tool_choice_) make_call(reply);
        return reply;
    }

private:
    [[nodiscard]] std::string demand() const {
        if (takes_tool_choice_) return R"({"tool_choice":{"type":"function","function":{"name":"read_note"}}})";
        return fmt::format(R"({{"response_format":{{"type":"json_schema","json_schema":{{"schema":{}}}}}}})",
                           read_note().parameters);
    }

    void make_call(whittle::Reply<Message>& reply) {
        const nlohmann::ordered_json function{{"name", "read_note"}, {"arguments", whittle::text_of(reply.message)}};
        const nlohmann::ordered_json call{
            {"id", fmt::format("call_{}", ++calls_)}, {"type", "function"}, {"function", function}};
        reply.message = Message({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {call}}});
        reply.finish = whittle::FinishReason::tool_calls;
    }

    std::shared_ptr<ChatModel> model_;
    bool takes_tool_choice_;
    int calls_ = 0;
};

std::shared_ptr<ChatModel> make_model(const Server& server, std::vector<Call>& calls) {
    // [model]
    whittle::OpenAIModelConfig config{.model = server.model, .base_url = server.base_url};
    config.dialect = *whittle::openai::find_dialect(server.dialect);
    config.max_output_tokens = reply_tokens;
    config.extra = R"({"temperature":0,"seed":1})";
    const auto model = std::make_shared<whittle::OpenAIChatModel>(server.transport, config);
    // [/model]
    return std::make_shared<Watched>(model, calls);
}

/// Nothing but the texts decides what is sent: ids are counted, and the window is not told.
whittle::ChainConfig chain_config() {
    whittle::ValidityProfile rules = whittle::openai_chat();
    rules.max_call_id = 0;  // these servers make longer ids themselves
    return {.token_counter = whittle::estimate_counter(),
            .profile = {.output_reserve = reply_tokens, .validity = rules},
            .storage = whittle::memory_storage(),
            .ids = whittle::counting_ids()};
}

whittle::ChainCallbacks<Message> watch_chain(Talk& talk) {
    return {.on_event =
                [&talk](const whittle::Event& event) {
                    if (event.level < whittle::Event::Level::warning) return;
                    talk.events.push_back(fmt::format("{}: {}: {}", event.source, event.kind, event.text));
                },
            .on_report =
                [&talk](const whittle::Report& report) {
                    if (report.hook != whittle::Hook::on_overflow) return;
                    talk.recoveries.push_back({report.tokens_before, report.tokens_after, to_text(report)});
                }};
}

whittle::Reduction<Message> clearing() {
    return whittle::Reduction<Message>{{.skip_truncation = true, .max_tokens_for_clear = 100'000}};
}

void talk_about_notes(whittle::AgentLoop<Message>& loop, int questions, Talk& talk) {
    whittle::Conversation<Message> conversation("garden");
    for (int i = 1; i <= questions; ++i)
        talk.runs.push_back(loop.run(conversation, fmt::format("What does note {} say?", i)));
    talk.messages.assign(conversation.messages().begin(), conversation.messages().end());
    talk.window = loop.chain().context_window(conversation);
    for (const whittle::Violation& violation : validate(conversation.outline(), loop.chain().config().profile.validity))
        talk.violations.push_back(std::string(to_string(violation.rule)));
}

}  // namespace

Talk talk_past_window(const Server& server, int questions, bool is_stream) {
    Talk talk;
    // [overflow]
    const auto model = std::make_shared<CallsFirst>(make_model(server, talk.calls), server.takes_tool_choice);
    const whittle::Chain<Message> chain{chain_config(), watch_chain(talk), clearing()};
    whittle::LoopCallbacks watch;
    if (is_stream) watch.on_delta = [](const whittle::Delta&) {};
    whittle::AgentLoop<Message> loop{model, {read_note()}, chain, {.system = std::string(system_text)}, watch};
    // [/overflow]
    talk_about_notes(loop, questions, talk);
    return talk;
}

Talk talk_with_summaries(const Server& server, int questions, std::int64_t summary_tokens) {
    Talk talk;
    const std::shared_ptr<ChatModel> model = make_model(server, talk.calls);
    whittle::SummarizationConfig config{.trigger = {.context_tokens = 100'000},
                                        .keep_recent_tokens = 700,
                                        .retained_facts_tokens = 300,
                                        .emit_internal_events = true};
    config.model_options = {.max_output_tokens = summary_tokens};
    whittle::SummarizationCallbacks<Message> callbacks;
    callbacks.on_internal_event = [&talk](const auto&, const whittle::SummarizationEvent<Message>& event) {
        const auto* attempt = std::get_if<whittle::GenerateSummary<Message>>(&event);
        if (attempt == nullptr) return;
        talk.verdicts.push_back(attempt->error == nullptr ? "accepted" : attempt->error->message);
    };
    const whittle::Chain<Message> chain{chain_config(), watch_chain(talk),
                                        whittle::Summarization<Message>{model, config, callbacks}, clearing()};
    whittle::AgentLoop<Message> loop{std::make_shared<CallsFirst>(model, server.takes_tool_choice),
                                     {read_note()},
                                     chain,
                                     {.system = std::string(system_text)}};
    talk_about_notes(loop, questions, talk);
    return talk;
}

Talk talk_with_preset(const Server& server, int questions) {
    Talk talk;
    // [local]
    whittle::ModelProfile profile{.context_window = 2'048, .output_reserve = reply_tokens};
    whittle::PresetConfig config = preset_config(whittle::Preset::local, profile);
    config.chain.ids = whittle::counting_ids();
    const auto chain = whittle::make_chain<Message>(config, nullptr, watch_chain(talk));
    const auto model = std::make_shared<CallsFirst>(make_model(server, talk.calls), server.takes_tool_choice);
    whittle::AgentLoop<Message> loop{model, {read_note()}, chain, {.system = std::string(system_text)}};
    // [/local]
    talk_about_notes(loop, questions, talk);
    return talk;
}

}  // namespace real_model
