#pragma once

#include "whittle/anthropic/detail/anthropic_edit.hpp"
#include "whittle/anthropic/detail/anthropic_results.hpp"
#include "whittle/anthropic/detail/anthropic_usage.hpp"
#include "whittle/message/traits.hpp"
#include "whittle/provider/provider_message.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::anthropic {

/// The "usage" object of a response: the context as the provider counted it, and the output. Where the server called
/// the model several times for one response ("iterations"), its newest call, since the sums over all of them are no
/// context. nullopt if `usage` is no object.
[[nodiscard]] inline std::optional<Usage> usage_of(const nlohmann::ordered_json& usage) {
    if (!usage.is_object()) return std::nullopt;
    const nlohmann::ordered_json* step = detail::newest_step(usage);
    return detail::counts_of(step != nullptr ? *step : usage);
}

/// A message of Anthropic's Messages API. The system text of a request stands outside the list.
/// extensions/anthropic/README.md has the table of blocks.
class Message : public ProviderMessage<Message> {
public:
    /// Throws Error(invalid_argument) unless `json` is an object whose "role" is user, assistant or system, at most 200
    /// levels deep, without binary values and numbers that are not finite.
    explicit Message(nlohmann::ordered_json json) : ProviderMessage(std::move(json)) {}

    /// The reply in a response of the API: its role and content, which is all that may be sent back, and its usage.
    /// Throws Error(invalid_argument) if `response` is no message.
    [[nodiscard]] static Message from_response(const nlohmann::ordered_json& response);
};

inline Message Message::from_response(const nlohmann::ordered_json& response) {
    require_message(response);
    nlohmann::ordered_json json{{"role", response["role"]}};
    json["content"] = response.contains("content") ? response["content"] : nlohmann::ordered_json::array();
    Message message(std::move(json));
    if (response.contains("usage")) {
        if (const auto usage = usage_of(response["usage"])) message.with_usage(*usage);
    }
    return message;
}

}  // namespace whittle::inline v0::anthropic

namespace whittle::inline v0 {

/// The role is user also for a message that holds tool results: the format has none of its own for them. The text of
/// thinking that is signed or redacted cannot be set. The last part of a tool result that is erased takes its block
/// with it; an emptied message has content [].
template <>
struct message_traits<anthropic::Message> : ProviderMessageTraits<anthropic::Message> {
    using Json = nlohmann::ordered_json;

    /// A message of role tool becomes one of the user. Bytes that are not UTF-8 become U+FFFD.
    static anthropic::Message make(Role role, std::string_view text) {
        const std::string_view name = role == Role::tool ? to_string(Role::user) : to_string(role);
        return anthropic::Message(Json{{"role", name}, {"content", to_valid_utf8(text)}});
    }

    /// One user message with all results in order, media inside them; none for no results. A failed tool's result may
    /// hold only text: its media follow all results in the same message. Text that is not UTF-8 is shown with U+FFFD.
    static std::vector<anthropic::Message> make_tool_results(std::span<const ToolResult> results) {
        std::vector<anthropic::Message> messages;
        if (!results.empty())
            messages.emplace_back(Json{{"role", "user"}, {"content", anthropic::detail::results_content(results)}});
        return messages;
    }

    /// Signatures and redacted data, block by block.
    static std::string thinking_signature(const anthropic::Message& m) {
        return anthropic::detail::thinking_signature(m.json());
    }

    static bool is_error(const anthropic::Message& m, std::size_t part) {
        bool is_error = false;
        std::size_t at = 0;
        anthropic::detail::visit_slots(m.json(), [&](const anthropic::detail::Slot& slot) {
            if (at++ == part) is_error = anthropic::detail::is_in_failed_result(m.json(), slot);
        });
        return is_error;
    }
};

static_assert(ToolMessage<anthropic::Message> && HasCodec<anthropic::Message> && HasUsage<anthropic::Message> &&
              HasPartIndex<anthropic::Message> && HasIndexedErase<anthropic::Message> && HasMarkId<anthropic::Message>);

}  // namespace whittle::inline v0

#ifdef WHITTLE_MESSAGE_TYPE_2
#    error "WHITTLE_MESSAGE_TYPE_2 is taken: whittle/base/detail/compiled_types.hpp"
#endif
#define WHITTLE_MESSAGE_TYPE_2 anthropic::Message
#include "whittle/base/detail/compiled_types.hpp"
