// A middleware that takes media out, and conversations with images in each form that a provider has.
#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/pruning/detail/media_stage.hpp"
#include "whittle/pruning/fetch_media.hpp"
#include "whittle/pruning/pruning.hpp"

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Takes the media out of everything before message `end`.
template <AgentMessage M>
class Strip final : public Middleware<M> {
public:
    explicit Strip(MediaMode mode, std::size_t end = static_cast<std::size_t>(-1)) : mode_(mode), end_(end) {}
    [[nodiscard]] std::string_view name() const noexcept override { return "strip"; }
    [[nodiscard]] std::vector<Tool> tools(const ChainConfig&) const override { return {fetch_media_tool()}; }
    void before_model(Turn<M>& turn) override {
        auto edit = turn.edit();
        gain = detail::stage_media(turn, edit, mode_, end_);
        edit.commit();
    }

    StageGain gain{};

private:
    MediaMode mode_;
    std::size_t end_;
};

/// One pixel, as a file.
inline const std::string pixel =
    std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89", 33) + "and more";

inline Part image(std::string bytes = pixel) {
    return {.kind = PartKind::media, .media = {.mime = "image/png", .bytes = std::move(bytes)}};
}

/// A user message with a text (if there is one) and an image, as the provider of M wants it.
template <AgentMessage M>
M user_with_image(const std::string& text);

template <>
inline ChatMessage user_with_image<ChatMessage>(const std::string& text) {
    ChatMessage m{.role = Role::user};
    if (!text.empty()) m = ChatMessage::user(text);
    m.parts.push_back(image());
    return m;
}

template <>
inline openai::Message user_with_image<openai::Message>(const std::string& text) {
    const std::string url = whittle::detail::to_data_url("image/png", pixel);
    nlohmann::ordered_json content = nlohmann::ordered_json::array();
    if (!text.empty()) content.push_back({{"type", "text"}, {"text", text}});
    content.push_back({{"type", "image_url"}, {"image_url", {{"url", url}, {"detail", "low"}}}});
    return openai::Message({{"role", "user"}, {"content", std::move(content)}});
}

template <>
inline anthropic::Message user_with_image<anthropic::Message>(const std::string& text) {
    const std::string url = whittle::detail::to_data_url("image/png", pixel);
    nlohmann::ordered_json content = nlohmann::ordered_json::array();
    if (!text.empty()) content.push_back({{"type", "text"}, {"text", text}});
    content.push_back(
        {{"type", "image"},
         {"source", {{"type", "base64"}, {"media_type", "image/png"}, {"data", url.substr(url.find(',') + 1)}}}});
    return anthropic::Message({{"role", "user"}, {"content", std::move(content)}});
}

/// A reply that calls one tool.
template <AgentMessage M>
M calling(const std::string& id, const std::string& tool, const std::string& arguments = "{}");

template <>
inline ChatMessage calling<ChatMessage>(const std::string& id, const std::string& tool, const std::string& arguments) {
    return ChatMessage::assistant().call(id, tool, arguments);
}

template <>
inline openai::Message calling<openai::Message>(const std::string& id, const std::string& tool,
                                                const std::string& arguments) {
    nlohmann::ordered_json call{
        {"id", id}, {"type", "function"}, {"function", {{"name", tool}, {"arguments", arguments}}}};
    return openai::Message({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {std::move(call)}}});
}

template <>
inline anthropic::Message calling<anthropic::Message>(const std::string& id, const std::string& tool,
                                                      const std::string& arguments) {
    nlohmann::ordered_json call{
        {"type", "tool_use"}, {"id", id}, {"name", tool}, {"input", nlohmann::ordered_json::parse(arguments)}};
    return anthropic::Message({{"role", "assistant"}, {"content", {std::move(call)}}});
}

/// The bytes of a part that holds an image, whether raw or in a data: URL.
template <AgentMessage M>
std::vector<std::string> images_in(const M& message) {
    std::vector<std::string> images;
    message_traits<M>::for_each_part(message, [&](const PartView& part) {
        if (part.kind != PartKind::media) return;
        const Media& media = to_part(part).media;
        images.push_back(media.url.empty() ? whittle::detail::to_data_url(media.mime, media.bytes) : media.url);
    });
    return images;
}

template <AgentMessage M>
std::size_t count_images(const Conversation<M>& c) {
    std::size_t count = 0;
    for (const M& m : c.messages()) count += images_in(m).size();
    return count;
}

/// For a conversation of that type, with the rules of its provider.
template <AgentMessage M>
ChainConfig chain_for(std::shared_ptr<Storage> storage) {
    ChainConfig config{.storage = std::move(storage)};
    if constexpr (std::same_as<M, anthropic::Message>) config.profile.validity = anthropic_messages();
    return config;
}

inline const std::string pixel_url = whittle::detail::to_data_url("image/png", pixel);

}  // namespace whittle::testing
