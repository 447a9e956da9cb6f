#pragma once

// A context for runtimes that are compiled as C++17: link whittle::boundary, include this file and none other of
// whittle's. Everything else of the library needs C++20.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace whittle {
inline namespace v0 {
namespace boundary {

/// How a context is set up.
struct Options {
    std::string config = R"({"preset": "recommended"})";  ///< a configuration (extensions/config/README.md) as JSON
    std::string base_dir{};  ///< what a relative root of its storage is relative to; empty: the working directory
    std::string id = "conversation";        ///< names the conversation in keys of the storage
    std::string system_outside_messages{};  ///< system text that your runtime sends beside the messages
    std::string tools = "[]";               ///< the tools that it sends, as OpenAI's "tools"
};

/// A part of a message, as it is shown to a runtime. Views are valid during the call.
struct VisitedPart {
    std::size_t message = 0;     ///< its number, from 0
    std::string_view role{};     ///< "system", "user", "assistant", "tool"
    std::string_view kind{};     ///< "text", "thinking", "tool_call", "tool_result", "media", "other"
    std::string_view text{};     ///< of a call its arguments, of media nothing
    std::string_view call_id{};  ///< of a call and of a result
    std::string_view tool{};     ///< likewise, where the message says it
};

/// One conversation with its chain. Messages are JSON as OpenAI's chat interface has it, kept with every member; tool
/// results come in by `reduce_and_push_result`, or as messages of role "tool". Your runtime pushes what is new and
/// sends what `prepare_messages` gives. Texts are UTF-8. Used by one thread at a time. Every function throws
/// std::system_error, with what was tried and why it failed in `what()`, for what is no JSON, no message, or no
/// configuration (the text then lists all problems), and for a store that fails where the library throws; then the
/// conversation is as it was.
class Context {
public:
    /// A conversation without messages.
    explicit Context(const Options& options = {});
    ~Context();
    Context(Context&& other) noexcept;
    Context& operator=(Context&& other) noexcept;

    /// Appends a message: {"role": ..., "content": ...}.
    void push(const std::string& message);
    /// Appends the result of a call of the newest reply, as the chain leaves it, and gives that text. A call that is
    /// not open gets its result too, whole.
    std::string reduce_and_push_result(const std::string& call_id, const std::string& text, bool is_error = false);
    /// Before a model call: runs the chain, and gives the messages to send as a JSON array.
    [[nodiscard]] std::string prepare_messages();
    /// The model refused a request as too large: `limit` and `used` in tokens, 0 where it did not say. True if the
    /// conversation got smaller; then ask with `messages`.
    bool on_overflow(std::int64_t limit = 0, std::int64_t used = 0);
    /// The messages as they are, as a JSON array. Runs nothing.
    [[nodiscard]] std::string messages() const;
    /// The same part by part, without JSON.
    void for_each_part(const std::function<void(const VisitedPart&)>& see) const;

    /// The chain's own tools (`read_offloaded`) as OpenAI's "tools", to be sent beside yours; "[]" without a storage.
    [[nodiscard]] std::string chain_tools() const;
    /// Runs one of them; the text of its result, also where it says what went wrong. Throws for another name.
    [[nodiscard]] std::string call_chain_tool(const std::string& name, const std::string& arguments);

    /// Takes back the newest change that the chain made. False: there is none.
    bool undo_chain_edit();
    /// Of the last hook: {"tokens_before": ..., "tokens_after": ..., "changed": true or false}.
    [[nodiscard]] std::string last_hook_report() const;

private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace boundary
}  // namespace v0
}  // namespace whittle
