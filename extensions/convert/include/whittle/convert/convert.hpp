#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/convert/detail/convert_losses.hpp"
#include "whittle/convert/detail/convert_to_anthropic.hpp"
#include "whittle/convert/detail/convert_to_openai.hpp"
#include "whittle/openai/openai.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A history for Anthropic's Messages API.
struct AnthropicConversion {
    nlohmann::ordered_json system = nullptr;  ///< the request's "system": null, a string or an array of blocks
    /// All behind the system texts in front. A later one is the user's here, which `losses` says.
    std::vector<anthropic::Message> messages{};
    std::vector<ConversionLoss> losses{};  ///< in the order of the input
};

/// A history for OpenAI's chat completions.
struct OpenAIConversion {
    std::vector<openai::Message> messages{};  ///< system texts among them
    std::vector<ConversionLoss> losses{};     ///< in the order of the input
};

namespace detail {

/// What a message comes back as, without reporting what that would lose.
[[nodiscard]] inline std::vector<openai::Message> back_to_openai(const anthropic::Message& m, const CallNames& names) {
    Losses ignored;
    ToOpenAIConverter back(ignored, {.media_in_tool_messages = true});
    back.know(&names);
    back.convert(std::span(&m, 1));
    return std::move(back.take().front().messages);
}

/// Whether `m` is `original`; a tool's name may have been absent there.
[[nodiscard]] inline bool comes_back(openai::Message m, const openai::Message& original) {
    nlohmann::ordered_json json = m.json();
    if (!original.json().contains("name")) json.erase("name");
    return openai::Message(std::move(json)) == original;
}

inline void report_other_form(const FromOpenAI& converted, std::span<const openai::Message> input,
                              const CallNames& names, Losses& losses) {
    const std::vector<openai::Message> back = back_to_openai(converted.message, names);
    const bool is_split = back.size() != converted.last - converted.first;
    for (std::size_t i = converted.first; i < converted.last; ++i) {
        if (losses.any_at(i) || (!is_split && comes_back(back[i - converted.first], input[i]))) continue;
        losses.at(i);
        losses.add("form", "says the same, but would come back as other JSON");
    }
}

inline void report_other_form(const FromAnthropic& converted, const anthropic::Message& input, Losses& losses) {
    if (losses.any_at(converted.message)) return;
    Losses ignored;
    ToAnthropicConverter back(ignored);
    back.convert(converted.messages);
    const std::vector<FromOpenAI> all = back.take();
    if (all.size() == 1 && all.front().message == input) return;
    losses.at(converted.message);
    losses.add("form", "says the same, but would come back as other JSON");
}

}  // namespace detail

/// Converts a history with its system messages. What is not in `losses` comes back from `to_openai` as the same JSON,
/// names of tools in tool messages aside. Linear in the size of the history.
[[nodiscard]] inline AnthropicConversion to_anthropic(std::span<const openai::Message> messages) {
    detail::Losses losses;
    detail::ToAnthropicConverter converter(losses);
    converter.convert(messages);
    converter.let_user_begin();
    AnthropicConversion result;
    result.system = converter.take_system_text();
    for (detail::FromOpenAI& converted : converter.take()) {
        detail::report_other_form(converted, messages, converter.names(), losses);
        result.messages.push_back(std::move(converted.message));
    }
    result.losses = losses.take();
    return result;
}

/// Converts a history; `system` is that of the request: null, a string or an array of text blocks; its losses have the
/// index behind the last message. What is not in `losses` comes back from `to_anthropic` as the same JSON. Linear in
/// the size of the history.
[[nodiscard]] inline OpenAIConversion to_openai(const nlohmann::ordered_json& system,
                                                std::span<const anthropic::Message> messages,
                                                const ConversionOptions& options = {}) {
    detail::Losses losses;
    detail::ToOpenAIConverter converter(losses, options);
    losses.at(messages.size());
    OpenAIConversion result{converter.system_message(system), {}};
    converter.convert(messages);
    for (detail::FromAnthropic& converted : converter.take()) {
        detail::report_other_form(converted, messages[converted.message], losses);
        for (openai::Message& m : converted.messages) result.messages.push_back(std::move(m));
    }
    result.losses = losses.take();
    return result;
}

}  // namespace whittle::inline v0
