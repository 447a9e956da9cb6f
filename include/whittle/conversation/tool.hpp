#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/language.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/base/version.hpp"
#include "whittle/conversation/detail/conversation_caches.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/part.hpp"
#include "whittle/storage/storage.hpp"
#include "whittle/tokens/counter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What becomes of a middleware's failure.
enum class OnError {
    skip,       ///< the middleware's work of this hook is undone and reported; the chain goes on
    propagate,  ///< the whole hook is undone, then the error is thrown
};

/// What a tool and the middlewares around it know of a call. Never the conversation: calls may run in parallel.
struct ToolContext {
    std::string call_id{};              ///< the model's, as it came
    std::string key_safe_call_id{};     ///< ours: unique in the conversation, safe in a storage key
    std::string tool{};                 ///< name of the tool
    std::string arguments{};            ///< raw JSON
    std::span<const ToolSpec> tools{};  ///< that the model was offered
    Serial round_serial = 0;            ///< of the message with the call
    std::size_t index_in_round = 0;     ///< which of its calls, from 0
    /// Keys of the objects that hold the result of an earlier call with the same arguments, which the model no longer
    /// sees as it came; empty: there is none.
    std::vector<std::string> earlier_same_call_keys{};
    std::string conversation_id{};                   ///< below which its objects are stored
    std::shared_ptr<Storage> storage{};              ///< the chain's; null if it has none
    std::shared_ptr<const StoredObjects> objects{};  ///< what was stored of the conversation; may be null
    std::shared_ptr<ConversationCaches> caches{};    ///< of middlewares, to the conversation; may be null
    std::shared_ptr<const TokenCounter> counter{};   ///< the chain's; may be null
    StopToken stop{};                                ///< asked for by the host
    std::shared_ptr<Clock> clock{};                  ///< the chain's
    Language language = Language::english;           ///< of notices and placeholders
    const EventSink* events = nullptr;               ///< null: nobody listens
    OnError on_middleware_error = OnError::skip;     ///< for a middleware that fails after the tool has run
};

/// A text of a result whose original is in a store.
struct StoredPart {
    std::size_t part = 0;                          ///< of the result as it is shown
    std::string key{};                             ///< of the object; empty: the text is lost
    std::string by{};                              ///< the middleware that stored it
    std::shared_ptr<Storage> storage{};            ///< that has the object; null: the chain's
    bool is_shown_whole = false;                   ///< the text is shown as it is; the object has it too
    std::optional<std::size_t> index_in_object{};  ///< the object is a JSON array of parts (`offload_content`), this
                                                   ///< text one of them; unset: the object is the text
};

/// Takes the result of a tool as it comes. Not thread-safe.
class PartSink {
public:
    virtual ~PartSink() = default;
    /// Continues the current text, or starts one.
    virtual void write(std::string_view text) = 0;
    /// Starts a part of its own: text or media.
    virtual void push(Part part) = 0;
    /// Says that the newest part stands for an object, or, without a key, for a text that is lost. `stored.part` is
    /// filled in by who keeps the parts.
    virtual void mark_stored(StoredPart stored) = 0;
    /// Nothing more comes, the tool has returned or thrown. Called once, by who made the sink.
    virtual void finish() {}
};

/// Keeps what is put in as the parts of a result.
class CollectingSink final : public PartSink {
public:
    void write(std::string_view text) override;
    void push(Part part) override;
    void mark_stored(StoredPart stored) override;
    /// What was put in, moved out.
    [[nodiscard]] std::vector<Part> take() { return std::move(parts_); }
    /// What was said by `mark_stored`, moved out.
    [[nodiscard]] std::vector<StoredPart> take_stored() { return std::move(stored_); }

private:
    std::vector<Part> parts_{};
    std::vector<StoredPart> stored_{};
    bool continues_ = false;
};

/// What a tool gave, where a middleware shows other parts instead.
struct OriginalParts {
    std::vector<Part> parts{};  ///< as the tool gave them
    std::string replaced_by{};  ///< the middleware
};

/// How a tool call ended, beside the parts that went into its sink.
struct ToolOutcome {
    bool is_error = false;                    ///< the result is that of a failure
    std::optional<OriginalParts> original{};  ///< absent: what is shown is what the tool gave
    std::vector<std::string> read_back{};     ///< keys of the stored objects that the result shows
};

/// The result of a call with what is to be known of it: what a conversation takes in.
struct ToolReturn {
    ToolResult result{};                      ///< as the model sees it
    std::vector<StoredPart> stored{};         ///< its texts whose original is in a store
    std::optional<OriginalParts> original{};  ///< absent: what is shown is what the tool gave
    std::vector<std::string> read_back{};     ///< keys of the stored objects that the result shows
};

/// What `sink` collected of the call and how it ended, for `Conversation::push_tool_results`.
[[nodiscard]] ToolReturn collect_tool_return(const ToolContext& context, CollectingSink& sink, ToolOutcome outcome);

/// What is shown of a result, its texts joined: for hosts whose results are strings.
[[nodiscard]] std::string text_of(const ToolReturn& shown);

/// The rest of the pipeline around a tool. Valid during the call only.
using ToolNext = FunctionRef<ToolOutcome(const ToolContext&, PartSink&)>;

/// Something the model can call.
struct Tool {
    /// As the model calls it; each once in a request.
    std::string name{};
    std::string description{};                                        ///< what it does, for the model
    std::string parameters = R"({"type":"object","properties":{}})";  ///< JSON Schema as text
    bool return_direct = false;                                       ///< its result is the answer of the run
    /// Writes the result into the sink. What it throws becomes an error result. Called from several threads at once if
    /// the loop runs tools in parallel.
    std::function<ToolOutcome(const ToolContext&, PartSink&)> invoke{};

    /// What of it a request tells the model.
    [[nodiscard]] ToolSpec spec() const { return {name, description, parameters}; }
};

/// A tool over a plain function from the raw JSON arguments to the text of the result.
[[nodiscard]] Tool text_tool(std::string name, std::string description, std::string parameters,
                             std::function<std::string(std::string_view arguments)> function);

namespace detail {
/// Adds those whose names no tool has.
void add_missing(std::vector<Tool>& tools, std::vector<Tool> more);
}  // namespace detail

}  // namespace whittle::inline v0
