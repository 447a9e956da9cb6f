#include "weights.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace llama_cpp {

namespace {

using whittle::ChatMessage;
using whittle::PartKind;

/// Results in one message become one each, as templates want them.
void add_messages(const ChatMessage& from, std::vector<common_chat_msg>& to) {
    common_chat_msg message;
    message.role = std::string(to_string(from.role));
    for (const whittle::Part& part : from.parts) {
        if (part.kind == PartKind::tool_call) {
            message.tool_calls.push_back({part.tool, part.text, part.call_id});
        } else if (part.kind == PartKind::tool_result) {
            common_chat_msg result;
            result.role = "tool";
            result.content = part.text;
            result.tool_name = part.tool;
            result.tool_call_id = part.call_id;
            to.push_back(std::move(result));
        } else if (part.kind == PartKind::text) {
            message.content += part.text;
        }
    }
    if (from.role != whittle::Role::tool) to.push_back(std::move(message));
}

class VocabularyCounter final : public whittle::TokenCounter {
public:
    explicit VocabularyCounter(std::shared_ptr<const Weights> weights)
        : weights_(std::move(weights)), id_("llama.cpp/" + weights_->name()) {
        const std::array<ChatMessage, 3> talk{ChatMessage::user("a"), ChatMessage::assistant("a"),
                                              ChatMessage::user("a")};
        const auto size = [&](std::size_t messages) {
            return static_cast<std::int64_t>(weights_->prompt_of(std::span(talk).first(messages)).tokens.size());
        };
        around_ = (size(3) - size(1) + 1) / 2 - measure_units("a");  // a role may be two tokens
    }

    [[nodiscard]] std::string_view id() const noexcept override { return id_; }
    [[nodiscard]] std::int64_t measure_units(std::string_view text) const override {
        return static_cast<std::int64_t>(weights_->tokens_of(text).size());
    }
    [[nodiscard]] std::int64_t to_tokens(std::int64_t units) const noexcept override { return units + around_; }

private:
    std::shared_ptr<const Weights> weights_;
    std::string id_;
    std::int64_t around_ = 0;  // what the template writes around a message
};

}  // namespace

Weights::Weights(const std::string& file) {
    llama_model_params parameters = llama_model_default_params();
    model_.reset(llama_model_load_from_file(file.c_str(), parameters));
    if (!model_) throw std::runtime_error(fmt::format("read {}: no model that llama.cpp can load", file));
    templates_ = common_chat_templates_init(model_.get(), "");
    renders_tools_ =
        std::string_view(common_chat_templates_source(templates_.get())).find("tools") != std::string_view::npos;
}

std::string Weights::name() const {
    std::array<char, 256> text{};
    const int size = llama_model_meta_val_str(model_.get(), "general.name", text.data(), text.size());
    return size > 0 ? std::string(text.data()) : "unnamed";
}

Tokens Weights::tokens_of(std::string_view text) const {
    return common_tokenize(vocabulary(), std::string(text), /*add_special=*/false, /*parse_special=*/false);
}

Prompt Weights::prompt_of(std::span<const ChatMessage> messages, const PromptOptions& options) const {
    common_chat_templates_inputs inputs;
    if (!options.system.empty()) add_messages(ChatMessage::system(std::string(options.system)), inputs.messages);
    for (const ChatMessage& message : messages) add_messages(message, inputs.messages);
    if (renders_tools_) {
        for (const whittle::ToolSpec& tool : options.tools)
            inputs.tools.push_back({tool.name, tool.description, tool.parameters});
    }
    inputs.json_schema = std::string(options.reply_schema);
    common_chat_params made = common_chat_templates_apply(templates_.get(), inputs);
    Tokens tokens = common_tokenize(vocabulary(), made.prompt, /*add_special=*/true, /*parse_special=*/true);
    return {std::move(made.prompt), std::move(tokens), std::move(made.grammar), made.format};
}

std::shared_ptr<const whittle::TokenCounter> exact_counter(std::shared_ptr<const Weights> weights) {
    return std::make_shared<VocabularyCounter>(std::move(weights));
}

}  // namespace llama_cpp
