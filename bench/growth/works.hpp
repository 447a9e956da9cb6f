// What is done to a hostile history, to see how its cost grows.
#pragma once

#include "support/generators_messages.hpp"

#include <tool/replay/replay.hpp>
#include <whittle/compaction/compaction.hpp>
#include <whittle/convert/convert.hpp>
#include <whittle/pruning/pruning.hpp>
#include <whittle/saved/side_table.hpp>
#include <whittle/summarization/summarization.hpp>
#include <whittle/token_saving/token_saving.hpp>
#include <whittle/whittle.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::bench {

/// Everything that is counted runs in a call of this function; bench/check_growth knows its name.
extern "C" void whittle_grow(const std::function<void()>& work);

template <AgentMessage M>
Reply<M> fixed_summary(const ModelRequest<M>&) {
    return {message_traits<M>::make(Role::assistant, "<summary>call_1 was read, and the next was asked.</summary>")};
}

template <AgentMessage M>
std::shared_ptr<Model<M>> fixed_summarizer() {
    return std::make_shared<ScriptedModel<M>>(&fixed_summary<M>);
}

/// Each due at once, and with as much to do as can be.
template <AgentMessage M>
std::shared_ptr<Middleware<M>> stage_of(std::string_view name) {
    if (name == "clear" || name == "truncate") {
        ReductionConfig config{.max_length_for_trunc = 20, .max_tokens_for_clear = 10};
        config.skip_clear = name == "truncate";
        config.clear_tool_inputs = true;
        return std::make_shared<Reduction<M>>(config);
    }
    if (name == "prune") return std::make_shared<Pruning<M>>(PruningConfig{.skip_boundary_turns = 0});
    if (name == "compact") {
        CompactionConfig config;
        config.threshold_tokens = 400;
        config.target_tokens = 250;
        config.summary_size_tokens = 60;
        config.current_turn_keep_rounds = 1;
        config.pruning->skip_boundary_turns = 1;
        return std::make_shared<Compaction<M>>(fixed_summarizer<M>(), config);
    }
    if (name == "summarize") {
        SummarizationConfig config{.trigger = {.context_tokens = 400}, .keep_recent_tokens = 0};
        return std::make_shared<Summarization<M>>(fixed_summarizer<M>(), config);
    }
    TokenSavingConfig config{.compress_threshold_chars = 30,
                             .head_keep_chars = 10,
                             .tail_keep_chars = 10,
                             .keep_recent_tool_messages = 1,
                             .batch_calls = 1};
    config.signals_fn = trajectory_signals;
    config.early_exit_min_call_index = 0;
    config.enable_perplexity_compression = true;
    config.perplexity_classifier = WordScorer(heuristic_scores);
    config.perplexity_recent_cutoff = 1;
    config.perplexity_mid_cutoff = 1;
    config.perplexity_min_content_words = 3;
    config.minimum_gain_tokens = 0;
    return std::make_shared<TokenSaving<M>>(config);
}

template <AgentMessage M>
Chain<M> chain_of(std::string_view stage) {
    ChainConfig config;
    config.storage = memory_storage();
    config.profile.validity = *testing::law_profiles<M>().front();
    config.repair = stage == "repair";
    typename Chain<M>::Stages stages;
    if (stage != "repair") stages.push_back(stage_of<M>(stage));
    return Chain<M>(std::move(config), {}, std::move(stages));
}

template <AgentMessage M>
Conversation<M> conversation_of(const std::vector<M>& messages) {
    Conversation<M> conversation("growth");
    for (const M& m : messages) conversation.push_back(m, Usage{});
    return conversation;
}

template <AgentMessage M>
void validate_all(const std::vector<M>& messages) {
    for (const ValidityProfile* profile : validity_profiles())
        static_cast<void>(validate(std::span<const M>(messages), *profile));
}

/// Through the stage, out to a table and back, then everything undone.
template <AgentMessage M>
void apply_and_undo(const std::vector<M>& messages, std::string_view stage) {
    Conversation<M> conversation = conversation_of(messages);
    const Chain<M> chain = chain_of<M>(stage);
    chain.before_model(conversation);
    chain.on_overflow(conversation, {.context_limit_tokens = 100, .requested_tokens = 1'000});
    while (conversation.undo()) {
    }
}

template <AgentMessage M>
void save_and_load(const std::vector<M>& messages) {
    Conversation<M> conversation = conversation_of(messages);
    const Chain<M> chain = chain_of<M>("clear");
    chain.before_model(conversation);
    const auto storage = memory_storage();
    const std::string table = to_side_table(conversation, chain.config().storage.get());
    const std::vector<M> now(conversation.messages().begin(), conversation.messages().end());
    static_cast<void>(from_side_table<M>(table, now, storage).size());
}

/// A host takes a message of the front away.
template <AgentMessage M>
void sync_again(std::vector<M> messages) {
    Conversation<M> conversation = conversation_of(messages);
    messages.erase(messages.begin());
    static_cast<void>(conversation.sync(std::span<const M>(messages)));
    static_cast<void>(conversation.outline().rounds());
}

template <AgentMessage M>
void replay_once(const std::vector<M>& messages, std::string_view stage) {
    const Recording<M> recording{.id = "growth", .messages = messages};
    static_cast<void>(replay(recording, chain_of<M>(stage)));
}

inline void convert(const std::vector<openai::Message>& messages) {
    static_cast<void>(to_anthropic(std::span<const openai::Message>(messages)));
}
inline void convert(const std::vector<anthropic::Message>& messages) {
    static_cast<void>(to_openai(nullptr, std::span<const anthropic::Message>(messages)));
}
inline void convert(const std::vector<ChatMessage>&) {}

/// "validate", "save", "sync", "convert", a stage such as "clear", or "replay_" and a stage. False if there is none
/// of that name.
template <AgentMessage M>
bool run_work(std::string_view name, const std::vector<M>& messages) {
    static constexpr std::array stages{"clear", "truncate", "prune", "compact", "summarize", "save_tokens", "repair"};
    if (name == "validate") return whittle_grow([&] { validate_all(messages); }), true;
    if (name == "save") return whittle_grow([&] { save_and_load(messages); }), true;
    if (name == "sync") return whittle_grow([&] { sync_again(messages); }), true;
    if (name == "convert") return whittle_grow([&] { convert(messages); }), true;
    for (const std::string_view stage : stages) {
        if (name == stage) return whittle_grow([&] { apply_and_undo(messages, stage); }), true;
        if (name == "replay_" + std::string(stage)) return whittle_grow([&] { replay_once(messages, stage); }), true;
    }
    return false;
}

}  // namespace whittle::bench
