// A model's file: its vocabulary, its chat template, and what it says of itself.
#pragma once

#include <whittle/message/chat_message.hpp>
#include <whittle/tokens/counter.hpp>

#include <chat.h>
#include <llama.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llama_cpp {

using Tokens = std::vector<llama_token>;

/// A request as the model's template writes it.
struct Prompt {
    std::string text{};
    Tokens tokens{};
    std::string grammar{};  ///< what the reply must fit; empty: anything
    common_chat_format format = COMMON_CHAT_FORMAT_CONTENT_ONLY;
};

/// What is asked for beside the messages.
struct PromptOptions {
    std::string_view system{};
    std::span<const whittle::ToolSpec> tools{};  ///< left out where the template renders none
    std::string_view reply_schema{};             ///< a JSON schema that the reply must fit; empty: none
};

/// Weights in memory. Immutable; any number of threads may use one.
class Weights {
public:
    /// Reads a GGUF file. Throws std::runtime_error if it is none.
    explicit Weights(const std::string& file);

    [[nodiscard]] llama_model* model() const noexcept { return model_.get(); }
    [[nodiscard]] const llama_vocab* vocabulary() const noexcept { return llama_model_get_vocab(model_.get()); }
    /// "general.name" of the file.
    [[nodiscard]] std::string name() const;
    /// Tokens of a text that stands for itself: marks of the template in it are plain text.
    [[nodiscard]] Tokens tokens_of(std::string_view text) const;
    /// Whether the template shows tools to the model.
    [[nodiscard]] bool renders_tools() const noexcept { return renders_tools_; }
    /// By the template of the file, with the mark that begins a reply. Throws std::runtime_error where the template
    /// refuses the messages.
    [[nodiscard]] Prompt prompt_of(std::span<const whittle::ChatMessage> messages,
                                   const PromptOptions& options = {}) const;

private:
    struct Free {
        void operator()(llama_model* model) const noexcept { llama_model_free(model); }
    };

    std::unique_ptr<llama_model, Free> model_;
    common_chat_templates_ptr templates_{};
    bool renders_tools_ = false;
};

/// Counts with the model's own vocabulary: a text has the tokens that the model reads for it, and a message those that
/// the template writes around it beside. What a template adds to calls and results is not known to it: the usage that
/// each reply reports is exact and tells (docs/tokens.md). Keeps `weights`.
[[nodiscard]] std::shared_ptr<const whittle::TokenCounter> exact_counter(std::shared_ptr<const Weights> weights);

}  // namespace llama_cpp
