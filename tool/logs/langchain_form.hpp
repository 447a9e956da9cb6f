#pragma once

#include "entries.hpp"

#include <optional>

/// What tracing services keep of a model call: messages in LangChain's forms, or as the provider has them.
namespace whittle::inline v0::logs {

/// A message as a chat message. LangChain's forms are {"lc", "id", "kwargs"}, {"type": "human", "data": {...}} and
/// {"type": "human", "content": ...}; a message with a "role" is the provider's and stays as it is, but for calls as
/// LangChain and Vercel's AI SDK write them. null for what is no message; what is left out of one is counted.
[[nodiscard]] ordered_json to_chat_message(const ordered_json& message, LogNotes& notes);

/// The same of a reply to an input: where that has calls of LangChain or the AI SDK, so has the reply.
[[nodiscard]] ordered_json to_chat_reply(const ordered_json& message, const ordered_json& input, LogNotes& notes);

/// The messages of an input: a list, a list that holds one, or an object with it as "messages". null if there are none.
[[nodiscard]] ordered_json messages_of_input(const ordered_json& input, LogNotes& notes);

/// Definitions of tools that stand among the messages of an input, which are none. null if there are none.
[[nodiscard]] ordered_json tools_among_messages(const ordered_json& input);

/// The message that the model gave, of an output: "generations" of LangChain, "choices" of OpenAI, "messages" (the last
/// one), "message", a message itself, or the last one of a list; still in the form that it was recorded in. null if
/// there is none.
[[nodiscard]] const ordered_json* reply_of_output(const ordered_json& recorded);

/// The inner part of one of LangChain's messages: "kwargs", "data", or itself.
[[nodiscard]] const ordered_json& body_of_message(const ordered_json& message);

/// "usage_metadata" of LangChain and LangSmith: its "input_tokens" hold what was read from and written to the cache.
[[nodiscard]] std::optional<Usage> usage_of_metadata(const ordered_json& holder);

}  // namespace whittle::inline v0::logs
