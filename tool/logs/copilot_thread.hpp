#pragma once

#include "entries.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// When an event of Copilot CLI was written, and where it stands.
struct CopilotStamp {
    std::optional<double> time{};
    std::size_t line = 0;
};

/// A conversation within a log of Copilot CLI: the main one, or a sub-agent's.
class CopilotThread {
public:
    /// Where a reply is, and the tokens of output that this event is the first to tell of it.
    struct Reply {
        std::optional<std::size_t> at{};  ///< absent: it holds nothing that is sent again
        std::int64_t new_output = 0;
        bool is_new = false;
    };

    /// `copies`: of the file; has to outlive this.
    explicit CopilotThread(CopyBudget& copies) : copies_(&copies) {}

    /// What the user said, or the agent in his place. `words`: what he typed of it; empty: none of it.
    void add_user(std::string text, std::string_view words, const CopilotStamp& stamp);
    /// "data" of assistant.message. One response of the provider may be several of these in a row. Without a `call` the
    /// agent speaks for the model.
    Reply add_reply(const ordered_json& data, std::optional<Call> call, const CopilotStamp& stamp);
    /// "data" of tool.execution_start: of a call that no reply tells of, its reply gets it with the result.
    void start_call(const ordered_json& data);
    /// "data" of tool.execution_complete.
    void add_result(const ordered_json& data, const CopilotStamp& stamp, LogNotes& notes);
    /// A message as it was sent, of a session that an older version left.
    void add_message(ordered_json message, Call call, const CopilotStamp& stamp);
    /// The person broke it off, or went on with it later: what was called and gave no result gives none any more.
    void interrupt(const CopilotStamp& stamp);
    /// What is said from here on is not in the summary that is being written.
    void begin_compaction() { summarized_ = entries_.size(); }
    /// "data" of session.compaction_complete.
    void compact(const ordered_json& data, LogNotes& notes);
    /// Requests begin anew.
    void clear();
    /// No event follows.
    void close();

    [[nodiscard]] bool is_call(std::size_t at) const { return entries_[at].call.has_value(); }
    [[nodiscard]] Call& call_at(std::size_t at) { return *entries_[at].call; }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] Entries& entries() noexcept { return entries_; }

private:
    /// A call of a tool.
    struct Asked {
        std::size_t reply = 0;
        bool is_answered = false;
    };

    [[nodiscard]] bool continues_newest(const std::optional<Call>& call) const;
    /// Whether nothing but results stands behind it.
    [[nodiscard]] bool is_newest_reply(std::size_t at) const;
    void open_call(std::string_view id, std::size_t reply);
    [[nodiscard]] Asked* asked(std::string_view id, LogNotes& notes);
    void answer(std::string_view id, Asked& asked, std::string content, const CopilotStamp& stamp);
    [[nodiscard]] std::size_t first_kept() const;
    [[nodiscard]] bool keep(std::string_view summary, std::size_t first, Compaction& compaction);
    [[nodiscard]] std::string words_of_user() const;

    CopyBudget* copies_;
    Entries entries_{};
    std::optional<std::size_t> newest_reply_{};
    std::unordered_map<std::string, Asked> asked_{};           // by id of the call, the newest of each
    std::vector<std::string> open_{};                          // ids of calls; some may be answered by now
    std::unordered_map<std::string, ordered_json> started_{};  // by id: calls that no reply tells of
    std::vector<std::pair<std::size_t, Entry>> late_{};        // results, with the reply that they belong to
    std::optional<std::size_t> summarized_{};                  // how many messages a summary is written of
    std::vector<std::string> words_{};                         // what the user typed
};

}  // namespace whittle::inline v0::logs
