#pragma once

#include "entries.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

/// Messages that Gemini CLI recorded, as OpenAI chat messages.
namespace whittle::inline v0::logs {

/// What a `bill_id` of `gemini_call` begins with that needs the session's own id in front of the rest.
inline constexpr std::string_view gemini_bill_in_session = "gemini_cli//";

/// The call that a reply of the model came from.
[[nodiscard]] Call gemini_call(const ordered_json& message);

/// A prompt or a reply; notices to the person are not sent.
[[nodiscard]] bool is_gemini_turn(const ordered_json& message);

/// What the agent itself leaves out when it resumes a session, or writes anew: its context, and commands.
[[nodiscard]] bool is_gemini_setup(const ordered_json& message);

/// A reply that is no message, since it has neither text nor calls. May be false of one whose list of calls holds none.
[[nodiscard]] bool is_empty_gemini_reply(const ordered_json& message);

/// A prompt that results of tools stand in.
[[nodiscard]] bool holds_gemini_results(const ordered_json& message);

/// Takes the records of a history one after the other.
class GeminiMessages {
public:
    GeminiMessages(Entries& entries, LogNotes& notes) : entries_(entries), notes_(notes) {}

    void add(const ordered_json& message, std::size_t line);
    /// No results come any more: calls without one get an empty one, since a request has one for each.
    void close();

private:
    void add_reply(const ordered_json& message, std::size_t line);
    void add_prompt(const ordered_json& message, std::size_t line);
    void add_results(const ordered_json& message, std::size_t line);
    void add_result(const std::string& id, const std::string& text, std::optional<double> time, std::size_t line);
    [[nodiscard]] bool continues(const ordered_json& message, std::string_view text) const;

    Entries& entries_;
    LogNotes& notes_;
    std::optional<std::size_t> reply_{};      // the newest message, if it is one
    std::vector<std::string> calls_{};        // of the newest reply, in order
    std::unordered_set<std::string> open_{};  // those of them that have no result
    std::unordered_set<std::string> answered_{};
    std::unordered_set<std::string>
        texts_in_results_{};  // texts that stood in the reply's results beside the responses
};

}  // namespace whittle::inline v0::logs
