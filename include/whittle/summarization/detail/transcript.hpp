#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/message/detail/visit_parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

namespace detail {

/// The line of message `i`. Text that is no UTF-8 is shown with U+FFFD.
[[nodiscard]] std::string transcript_line(std::string_view conversation, const MessageInfo& info, std::size_t i,
                                          VisitParts visit_parts);

/// Appends to a file, which it makes if there is none. A line that an earlier failure left unfinished is ended first.
/// Throws Error(storage_failed). The operating system has the text when it returns; it need not be on the disk yet.
void append_to_file(const std::string& path, std::string_view text);

}  // namespace detail

/// Keeps every original message of its conversations in a file, one JSON object a line, appended before anything is
/// folded or cleared: `{"conversation", "serial", "role", "turn", "parts": [...]}`. Stands first in a chain, so that it
/// sees messages before any other middleware edits them; what a tool's truncation cut off on arrival is named by its
/// storage key. Given to `Summarization` as well (`SummarizationCallbacks::transcript`), nothing is folded unless it
/// was written. Serials that were written are remembered in the conversation's notes: the file goes on after loading.
/// Thread-safe: one recorder may serve many conversations. A failed write is tried again at the next hook.
template <AgentMessage M = ChatMessage>
class Transcript final : public Middleware<M> {
public:
    /// Appends to the file `path`; `name` is the middleware's.
    explicit Transcript(std::string path, std::string name = "transcript")
        : path_(std::move(path)), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    /// Of the file.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    void check(const ChainInfo&, Problems& problems) const override {
        if (path_.empty()) problems.error(name_ + ".path", "\"\"", "the path of a file that may be written");
    }
    void before_model(Turn<M>& turn) override { record(turn); }
    void after_agent(Turn<M>& turn, RunOutcome) override { record(turn); }
    bool on_overflow(Turn<M>& turn, const Overflow&) override {
        record(turn);
        return false;
    }

    /// Writes the messages of a hook's conversation that are not written yet. Throws Error(storage_failed). A dry run
    /// writes nothing.
    void record(Turn<M>& turn) const {
        if (turn.config.dry_run) return;
        try {
            record(turn.conversation);
        } catch (const Error& error) {
            detail::emit_store_failures(&turn.callbacks.on_event, name_, turn.conversation.id(),
                                        std::array{StoreFailure{path_, error.what()}});
            throw;
        }
    }
    /// The same outside of a hook.
    void record(Conversation<M>& conversation) const;

private:
    std::string path_;
    std::string name_;
    std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
};

template <AgentMessage M>
void Transcript<M>::record(Conversation<M>& conversation) const {
    const Outline outline = conversation.outline();
    Notes notes = conversation.notes(name_);
    const auto written = static_cast<Serial>(notes.integer("written").value_or(0));
    std::size_t first = outline.size();
    while (first > 0 && outline[first - 1].serial > written) --first;
    const auto visit_parts = detail::part_visitor<M>(conversation.messages());
    std::string text;
    Serial last = written;
    for (std::size_t i = first; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        last = (std::max)(last, info.serial);
        if (origin_of(info.mark) != Origin::original) continue;
        text += detail::transcript_line(conversation.id(), info, i, visit_parts);
    }
    if (last == written) return;
    const std::lock_guard lock(*mutex_);
    if (!text.empty()) detail::append_to_file(path_, text);
    notes.set("written", static_cast<std::int64_t>(last));
}

}  // namespace whittle::inline v0
