#pragma once

#include "support/tuned_trimming.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

inline std::string file_of(std::string_view name, int lines) {
    std::string text;
    for (int i = 1; i <= lines; ++i)
        text += std::to_string(i) + "\tthis is line " + std::to_string(i) + " of the file " + std::string(name) + "\n";
    return text;
}

inline CacheProfile cached() {
    return {.name = "test",
            .read = 0.1,
            .write = 1.25,
            .ttl_seconds = 300,
            .min_prefix_tokens = 0,
            .prefix_step_tokens = 1};
}

/// An agent that reads, edits and runs, one call after the other.
class TrimmingSession {
public:
    explicit TrimmingSession(TrimmingConfig config = {}, CacheProfile cache = cached())
        : TrimmingSession(TrimmingSettings{std::move(config)}, std::move(cache)) {}
    explicit TrimmingSession(TrimmingSettings settings, CacheProfile cache = cached(),
                             std::string id = "a-long-name-of-a-session", Language language = Language::english,
                             bool with_storage = true)
        : storage(with_storage ? memory_storage() : nullptr),
          chain_(make_config(cache, language), TunedTrimming<>{std::move(settings)}),
          conversation(std::move(id)) {
        conversation.push_back(ChatMessage::user("please mend it"));
    }

    void ask() { chain_.before_model(conversation); }

    /// The model asks for a tool, and gets the result through the chain.
    std::string call(std::string_view tool, std::string_view arguments, std::string_view result,
                     bool is_error = false) {
        ask();
        const std::string id = "call" + std::to_string(++calls_);
        conversation.push_back(ChatMessage::assistant("").call(id, std::string(tool), std::string(arguments)));
        chain_.after_model(conversation);
        std::vector<ToolReturn> returns;
        for (const ToolContext& context : chain_.pending_tool_calls(conversation)) {
            CollectingSink sink;
            ToolOutcome outcome = chain_.wrap_tool(context, sink, [&](const ToolContext&, PartSink& out) {
                out.push({.text = std::string(result)});
                return ToolOutcome{.is_error = is_error};
            });
            returns.push_back(collect_tool_return(context, sink, std::move(outcome)));
        }
        conversation.push_tool_results(returns);
        clock->advance(std::chrono::seconds(5));
        return text_at(conversation.size() - 1);
    }
    void idle_calls(int number) {
        for (int i = 0; i < number; ++i) call("wait", "{}", "nothing new");
    }

    [[nodiscard]] std::string text_at(std::size_t message) const {
        return text_of(conversation.messages()[message], 0);
    }
    [[nodiscard]] const Chain<>& chain() const { return chain_; }

    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1'000'000);
    std::shared_ptr<Storage> storage;

private:
    [[nodiscard]] ChainConfig make_config(const CacheProfile& cache, Language language) const {
        ChainConfig config;
        config.profile.cache = cache;
        config.storage = storage;
        config.clock = clock;
        config.language = language;
        config.explain = true;
        return config;
    }

    Chain<> chain_;
    int calls_ = 0;

public:
    Conversation<> conversation;
};

inline const CacheProfile no_cache{.name = "none", .read = 1.0, .write = 1.0};

}  // namespace whittle::testing
