#pragma once

#include "whittle/message/traits.hpp"
#include "whittle/openai/detail/openai_edit.hpp"
#include "whittle/provider/provider_message.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::openai {

/// A message of OpenAI's chat completions. extensions/openai/README.md has the table of parts.
class Message : public ProviderMessage<Message> {
public:
    /// Throws Error(invalid_argument) unless `json` is an object whose "role" is system, developer, user, assistant,
    /// tool or function, at most 200 levels deep, without binary values and numbers that are not finite.
    explicit Message(nlohmann::ordered_json json) : ProviderMessage(std::move(json)) {}
};

}  // namespace whittle::inline v0::openai

namespace whittle::inline v0 {

/// Content from which all parts are erased becomes null (absent in a tool message), "tool_calls" goes as a whole. In a
/// tool message all parts have one id.
template <>
struct message_traits<openai::Message> : ProviderMessageTraits<openai::Message> {
    using Json = nlohmann::ordered_json;

    /// Bytes that are not UTF-8 become U+FFFD.
    static openai::Message make(Role role, std::string_view text) {
        return openai::Message(Json{{"role", to_string(role)}, {"content", to_valid_utf8(text)}});
    }

    /// A tool message per result, in order, then one user message with the media of all of them, if there are any: the
    /// format has no media in tool messages. Text that is not UTF-8 is shown with U+FFFD; `is_error` has no field.
    static std::vector<openai::Message> make_tool_results(std::span<const ToolResult> results) {
        std::vector<openai::Message> messages;
        messages.reserve(results.size() + 1);
        for (const ToolResult& result : results) messages.emplace_back(openai::detail::make_tool_message(result));
        Json media = openai::detail::media_items(results);
        if (!media.empty()) messages.emplace_back(Json{{"role", "user"}, {"content", std::move(media)}});
        return messages;
    }

    static bool is_error(const openai::Message&, std::size_t) { return false; }
};

static_assert(ToolMessage<openai::Message> && HasCodec<openai::Message> && HasUsage<openai::Message> &&
              HasRenameCall<openai::Message> && HasPartIndex<openai::Message> && HasIndexedErase<openai::Message> &&
              HasMarkId<openai::Message>);

}  // namespace whittle::inline v0

#ifdef WHITTLE_MESSAGE_TYPE_1
#    error "WHITTLE_MESSAGE_TYPE_1 is taken: whittle/base/detail/compiled_types.hpp"
#endif
#define WHITTLE_MESSAGE_TYPE_1 openai::Message
#include "whittle/base/detail/compiled_types.hpp"
