#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/redaction/redaction.hpp"

#include <exception>
#include <memory>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

namespace redaction {

class RedactingStream;

/// Masks what passes: texts line by line as they are written, whole ones as what they are. Media pass as they are.
class RedactingSink final : public PartSink {
public:
    /// Writes into `out` what passed. Both must outlive it.
    RedactingSink(const Redactor& redactor, PartSink& out);
    ~RedactingSink() override;
    void write(std::string_view text) override;
    void push(Part part) override;
    void mark_stored(StoredPart stored) override;
    /// Passes on the line that is held. The other sink's `finish` is called by who made that.
    void finish() override;

private:
    const Redactor& redactor_;
    PartSink& out_;
    std::unique_ptr<RedactingStream> stream_{};
};

}  // namespace redaction

/// Masks the texts of tool results as they come: neither the model nor the conversation nor any store sees what the
/// rules find, and nothing brings it back. Give it as the last middleware, next to the tools, so that the others see
/// masked texts only. A text that is written in pieces is masked line by line, one that is pushed as a whole as
/// `Redactor::text_or_json`. What the user says and the model writes is not masked.
template <AgentMessage M = ChatMessage>
class RedactResults final : public Middleware<M> {
public:
    /// Throws as `Redactor`.
    explicit RedactResults(RedactionRules rules = {}) : redactor_(std::move(rules)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "redact_results"; }

    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        redaction::RedactingSink sink(redactor_, out);
        ToolOutcome outcome;
        try {
            outcome = next(context, sink);
        } catch (...) {
            sink.finish();  // what a tool that fails has given is shown, too
            throw;
        }
        sink.finish();
        if (outcome.original) {
            for (Part& part : outcome.original->parts) part.text = redactor_.text_or_json(part.text).text;
        }
        return outcome;
    }

private:
    Redactor redactor_;
};

}  // namespace whittle::inline v0
