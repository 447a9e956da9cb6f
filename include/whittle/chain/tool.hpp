#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/function_ref.hpp"
#include "whittle/base/language.hpp"
#include "whittle/message/part.hpp"
#include "whittle/message/tool_spec.hpp"
#include "whittle/port/storage.hpp"

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What a tool and the middlewares around it know of a call. Never the conversation: calls may run in parallel.
struct ToolContext {
    std::string call_id{};      ///< the model's, as it came
    std::string object_name{};  ///< ours: unique in the conversation, safe in a storage key
    std::string tool{};
    std::string arguments{};  ///< raw JSON
    std::span<const ToolSpec> tools{};
    std::string conversation{};  ///< its id
    std::shared_ptr<Storage> storage{};
    std::stop_token stop{};
    std::shared_ptr<Clock> clock{};
    Language language = Language::english;
    const EventSink* events = nullptr;  ///< null: nobody listens
};

/// Takes the result of a tool as it comes. Not thread-safe.
class PartSink {
public:
    virtual ~PartSink() = default;
    /// Continues the current text, or starts one.
    virtual void write(std::string_view text) = 0;
    /// Starts a part of its own: text or media.
    virtual void push(Part part) = 0;
};

/// Keeps what is put in as the parts of a result.
class CollectingSink final : public PartSink {
public:
    void write(std::string_view text) override;
    void push(Part part) override;
    [[nodiscard]] std::vector<Part> take() { return std::move(parts_); }

private:
    std::vector<Part> parts_{};
    bool continues_ = false;
};

/// A text of the result whose original is in a store.
struct StoredPart {
    std::size_t part = 0;  ///< of the result as it is shown
    std::string key{};
    std::string by{};  ///< the middleware that stored it
    std::shared_ptr<Storage> storage{};
};

struct ToolOutcome {
    bool is_error = false;
    std::vector<StoredPart> stored{};
};

/// The result of a call, with what was stored of it: what a conversation takes in.
struct ToolReturn {
    ToolResult result{};
    std::vector<StoredPart> stored{};
};

/// The rest of the pipeline around a tool. Valid during the call only.
using ToolNext = FunctionRef<ToolOutcome(const ToolContext&, PartSink&)>;

/// Something the model can call.
struct Tool {
    std::string name{};
    std::string description{};
    std::string parameters = R"({"type":"object","properties":{}})";  ///< JSON Schema as text
    bool return_direct = false;                                       ///< its result is the answer of the run
    /// Writes the result into the sink. What it throws becomes an error result. Called from several threads at once if
    /// the loop runs tools in parallel.
    std::function<ToolOutcome(const ToolContext&, PartSink&)> invoke{};

    [[nodiscard]] ToolSpec spec() const { return {name, description, parameters}; }
};

/// A tool over a plain function from the raw JSON arguments to the text of the result.
[[nodiscard]] Tool text_tool(std::string name, std::string description, std::string parameters,
                             std::function<std::string(std::string_view arguments)> function);

}  // namespace whittle::inline v0
