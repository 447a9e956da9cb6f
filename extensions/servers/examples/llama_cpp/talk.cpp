#include "talk.hpp"

#include "../real_model/notes.hpp"

#include <whittle/preset/presets.hpp>
#include <whittle/servers/local_server.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llama_cpp {

namespace {

using whittle::ChatMessage;
using whittle::Role;
using ChatModel = whittle::Model<ChatMessage>;
using Request = whittle::ModelRequest<ChatMessage>;

constexpr std::int64_t reply_tokens = 64;
constexpr std::string_view system_text = "You help a gardener. Answer in one short sentence.";

/// A model of this size does not call tools by itself: a question must be answered with a call, whose arguments the
/// model writes, and its result with words.
class CallsFirst final : public ChatModel {
public:
    explicit CallsFirst(std::shared_ptr<ChatModel> model) : model_(std::move(model)) {}

    whittle::Reply<ChatMessage> generate(const Request& request) override {
        if (request.messages.back().role != Role::user) return model_->generate(request);
        const whittle::Tool tool = real_model::read_note();
        const whittle::GenerateOptions options{.extra = tool.parameters};
        Request asked = request;
        asked.options = &options;
        whittle::Reply<ChatMessage> reply = model_->generate(asked);
        const std::string arguments = text_of(reply.message);
        reply.message = ChatMessage::assistant().call(fmt::format("call_{}", ++calls_), tool.name, arguments);
        reply.finish = whittle::FinishReason::tool_calls;
        return reply;
    }

private:
    std::shared_ptr<ChatModel> model_;
    int calls_ = 0;
};

/// Leaves out the oldest rounds of a request that is too large, and says nothing.
class Cutter final : public ChatModel {
public:
    explicit Cutter(std::shared_ptr<ChatModel> model) : model_(std::move(model)) {}

    whittle::Reply<ChatMessage> generate(const Request& request) override {
        Request asked = request;
        for (;;) {
            try {
                return model_->generate(asked);
            } catch (const whittle::ModelError& error) {
                if (error.error_class() != whittle::ModelErrorClass::overflow) throw;
                const auto next = std::ranges::find(asked.messages.subspan(1), Role::user, &ChatMessage::role);
                const auto left = static_cast<std::size_t>(next - asked.messages.subspan(1).begin()) + 1;
                if (left >= asked.messages.size()) throw;
                asked.messages = asked.messages.subspan(left);
            }
        }
    }

private:
    std::shared_ptr<ChatModel> model_;
};

class CountsRefusals final : public ChatModel {
public:
    CountsRefusals(std::shared_ptr<ChatModel> model, int& refused) : model_(std::move(model)), refused_(refused) {}

    whittle::Reply<ChatMessage> generate(const Request& request) override {
        try {
            return model_->generate(request);
        } catch (const whittle::ModelError& error) {
            refused_ += error.error_class() == whittle::ModelErrorClass::overflow ? 1 : 0;
            throw;
        }
    }

private:
    std::shared_ptr<ChatModel> model_;
    int& refused_;
};

std::vector<std::uint32_t> ids(const Tokens& tokens) { return {tokens.begin(), tokens.end()}; }

/// Window, reserve and cache come from the model, tokens from its vocabulary.
whittle::Chain<> chain_of(const LlamaModel& model, const std::shared_ptr<const Weights>& weights, Keeper keeper) {
    whittle::PresetConfig config = preset_config(whittle::Preset::local, model.profile());
    config.chain.token_counter = exact_counter(weights);
    config.chain.ids = whittle::counting_ids();
    if (keeper == Keeper::whittle) return whittle::make_chain(config);
    return whittle::Chain<>(config.chain);
}

/// Whether undoing everything gives `results` results, each with the text of a note.
bool restores(whittle::Conversation<>& conversation, int results) {
    while (conversation.undo()) continue;
    std::vector<std::string> notes;
    for (int note = 1; note <= 9; ++note) notes.push_back(real_model::note_text(note));
    return results == std::ranges::count_if(conversation.messages(), [&](const ChatMessage& message) {
               return message.role == Role::tool && std::ranges::find(notes, text_of(message, 0)) != notes.end();
           });
}

}  // namespace

Talk talk_about_notes(const std::shared_ptr<const Weights>& weights, const SlotOptions& options, int questions,
                      Keeper keeper) {
    Talk talk;
    whittle::ServerSlot slot;
    whittle::CacheProfileEstimator speed;
    whittle::Conversation<> conversation("garden");
    int question = 0;
    const auto llama = std::make_shared<LlamaModel>(weights, options, reply_tokens);
    llama->on_call = [&](const Call& call) {
        talk.steps.push_back({question, call, slot.prefill_tokens(ids(call.prompt))});
        slot.answered(ids(call.prompt), ids(call.reply));
        speed.observe({.prefill_tokens = static_cast<std::int64_t>(call.prefill.read),
                       .prefill_ms = call.prefill.ms,
                       .cached_tokens = static_cast<std::int64_t>(call.prefill.kept),
                       .output_tokens = call.output_tokens,
                       .output_ms = call.output_ms});
    };
    std::shared_ptr<ChatModel> model = std::make_shared<CountsRefusals>(llama, talk.refused);
    if (keeper == Keeper::cutter) model = std::make_shared<Cutter>(model);
    whittle::AgentLoop<> loop{std::make_shared<CallsFirst>(model),
                              {real_model::read_note()},
                              chain_of(*llama, weights, keeper),
                              {.system = std::string(system_text)}};
    while (question < questions && talk.failure.empty()) {
        ++question;
        const std::string text = fmt::format("What does note {} say?", (question - 1) % 9 + 1);
        const whittle::RunResult run = loop.run(conversation, text);
        if (run.outcome == whittle::RunOutcome::answered) {
            ++talk.answered;
        } else {
            talk.failure = run.error;
        }
    }
    talk.violations = validate(conversation.outline(), loop.chain().config().profile.validity).size();
    talk.learnt = speed.profile();
    talk.is_restored = restores(conversation, question);
    return talk;
}

}  // namespace llama_cpp
