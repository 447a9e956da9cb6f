#include "llama_model.hpp"

#include <sampling.h>

#include <whittle/chain/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llama_cpp {

namespace {

using whittle::ChatMessage;
using whittle::ModelError;
using whittle::ModelErrorClass;

struct FreeSampler {
    void operator()(common_sampler* sampler) const noexcept { common_sampler_free(sampler); }
};

std::unique_ptr<common_sampler, FreeSampler> greedy(const Weights& weights, const std::string& grammar) {
    common_params_sampling parameters;
    parameters.temp = 0.0F;
    parameters.grammar = grammar;
    return std::unique_ptr<common_sampler, FreeSampler>(common_sampler_init(weights.model(), parameters));
}

void require_running(const whittle::StopToken& stop) {
    if (stop.stop_requested()) throw ModelError(ModelErrorClass::cancelled, "call the model: stopped");
}

ChatMessage message_of(const std::string& text, const Prompt& prompt) {
    common_chat_syntax syntax;
    syntax.format = prompt.format;
    const common_chat_msg parsed = common_chat_parse(text, /*is_partial=*/false, syntax);
    ChatMessage message = ChatMessage::assistant(parsed.content);
    for (const common_chat_tool_call& call : parsed.tool_calls) message.call(call.id, call.name, call.arguments);
    return message;
}

}  // namespace

LlamaModel::LlamaModel(std::shared_ptr<const Weights> weights, const SlotOptions& options,
                       std::int64_t max_output_tokens)
    : weights_(std::move(weights)), slot_(weights_, options), max_output_tokens_(max_output_tokens) {}

// [generate]
whittle::Reply<ChatMessage> LlamaModel::generate(const whittle::ModelRequest<ChatMessage>& request) {
    const whittle::GenerateOptions options = request.options != nullptr ? *request.options : whittle::GenerateOptions{};
    const std::int64_t most = options.max_output_tokens > 0 ? options.max_output_tokens : max_output_tokens_;
    const Prompt prompt = weights_->prompt_of(
        request.messages, {.system = request.system, .tools = request.tools, .reply_schema = options.extra});
    const auto size = static_cast<std::int64_t>(prompt.tokens.size());
    const auto window = static_cast<std::int64_t>(slot_.window());
    if (size + most > window)
        throw ModelError(whittle::Overflow{.context_limit_tokens = window, .requested_tokens = size + most},
                         fmt::format("call the model: {} tokens and {} of output, of {}", size, most, window));
    require_running(request.stop);
    Call call{.prompt = prompt.tokens};
    call.prefill = slot_.read(prompt.tokens);
    bool is_cut = false;
    const std::string text = write(prompt, static_cast<std::size_t>(most), request.stop, call, is_cut);
    whittle::Reply<ChatMessage> reply{message_of(text, prompt)};
    const bool has_calls = std::ranges::find(reply.message.parts, whittle::PartKind::tool_call, &whittle::Part::kind) !=
                           reply.message.parts.end();
    reply.finish = is_cut      ? whittle::FinishReason::length
                   : has_calls ? whittle::FinishReason::tool_calls
                               : whittle::FinishReason::stop;
    const auto read = static_cast<std::int64_t>(call.prefill.read);
    const auto kept = static_cast<std::int64_t>(call.prefill.kept);
    reply.usage = {.uncached_input = read, .cache_read = kept, .output = call.output_tokens};
    reply.timing = {.prefill_tokens = read,
                    .prefill_ms = call.prefill.ms,
                    .cached_tokens = kept,
                    .output_tokens = call.output_tokens,
                    .output_ms = call.output_ms};
    // [/generate]
    if (request.on_delta != nullptr) (*request.on_delta)({.text = text});
    if (on_call) on_call(call);
    return reply;
}

whittle::ModelProfile LlamaModel::profile() const {
    return {.name = weights_->name(),
            .context_window = static_cast<std::int64_t>(slot_.window()),
            .output_reserve = max_output_tokens_,
            .cache = *whittle::find_cache_profile("local")};
}

std::string LlamaModel::write(const Prompt& prompt, std::size_t most, whittle::StopToken stop, Call& call,
                              bool& is_cut) {
    const auto sampler = greedy(*weights_, prompt.grammar);
    std::string text;
    llama_perf_context_reset(slot_.context());
    while (call.reply.size() < most) {
        require_running(stop);
        const llama_token token = common_sampler_sample(sampler.get(), slot_.context(), -1);
        common_sampler_accept(sampler.get(), token, /*accept_grammar=*/true);
        call.reply.push_back(token);
        if (llama_vocab_is_eog(weights_->vocabulary(), token)) break;
        text += common_token_to_piece(weights_->vocabulary(), token);
        is_cut = call.reply.size() == most;
        if (!is_cut) slot_.add(token);
    }
    call.output_tokens = static_cast<std::int64_t>(call.reply.size());
    call.output_ms = llama_perf_context(slot_.context()).t_eval_ms;
    return text;
}

}  // namespace llama_cpp
