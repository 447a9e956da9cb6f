#pragma once

#include "codex_records.hpp"
#include "entries.hpp"
#include "openai_form.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::logs {

/// The items of a rollout, put together to messages. The items of one reply follow each other; how far it goes, the
/// counts of tokens between them tell, or else the results.
class CodexThread {
public:
    /// An item of the Responses interface, out of which a result is taken. False if its kind is not known.
    [[nodiscard]] bool add_item(ordered_json& item, std::optional<double> time, std::size_t line, LogNotes& notes);
    /// "info" of a token_count: sums of the session so far.
    void count(const ordered_json& info, std::optional<double> time);
    /// A token_usage_record: one call, whether the sums have it, then in front of their count, or not.
    void record_usage(const ordered_json& record, std::optional<double> time);
    void compact(const ordered_json& compacted, LogNotes& notes);
    /// Takes back what was said since the `turns`th prompt from the end, with the context right in front of that. What
    /// stands in front of the first prompt stays.
    void roll_back(std::int64_t turns);
    void finish(Session& session, LogNotes& notes);

    /// Items alone, without counts between them, as chat messages. Kinds that are not known are counted as `what`/kind.
    [[nodiscard]] static std::vector<ordered_json> messages_of(ordered_json items, std::string_view what,
                                                               LogNotes& notes);

    /// What comes next is of this turn.
    void enter_turn(std::string_view id);

    std::string model{};   ///< of the replies that come next
    std::string origin{};  ///< the session that the records were first written for, as far back as is known

private:
    /// Sums that are recorded with what is new of them.
    struct Counts {
        std::int64_t input = 0;
        std::int64_t cached = 0;
        std::int64_t written = 0;
        std::int64_t output = 0;

        friend bool operator==(const Counts&, const Counts&) = default;
    };

    /// Of what was counted now: sums in a turn, or else since the origin. A fork repeats both.
    [[nodiscard]] std::string bill_id() const;
    [[nodiscard]] static Counts counts_of(const ordered_json& usage);
    [[nodiscard]] static Usage to_usage(const Counts& counts) noexcept;
    [[nodiscard]] std::optional<Counts> newly_billed(const ordered_json& info);

    /// A record of this usage is no call of its own.
    void claim_record(const Usage& usage);
    void bill_records(std::string_view id);

    ReplyParts& reply(std::optional<double> time, std::size_t line);
    /// Closes the reply that is open if something new of the model is of a later one.
    void go_on_replying();
    void think();
    void close_reply();
    /// A usage that no reply came for was billed elsewhere.
    void drop_pending();
    void add_message(const ordered_json& item, std::optional<double> time, std::size_t line, LogNotes& notes);
    void add_input(std::string_view role, ordered_json message_content, std::optional<double> time, std::size_t line);
    void add_call(const ordered_json& item, std::string_view type, std::optional<double> time, std::size_t line);
    void add_result(ordered_json& item, std::optional<double> time, std::size_t line, LogNotes& notes);

    Entries entries_{};
    ReplyParts parts_{};
    std::optional<std::size_t> open_{};  // the reply that items still join
    bool is_counted_ahead_ = false;  // its usage was recorded before its items, so that it goes on to the next count
    bool had_result_ = false;        // a result came since its newest item
    bool has_only_thought_ = false;  // since the last reply
    std::optional<Call> pending_{};  // counted, and no reply yet
    std::string turn_{};             // id of the newest one
    std::vector<std::size_t> prompts_{};  // which messages are
    std::set<std::size_t> contexts_{};    // messages that Codex put there by itself
    std::optional<Counts> total_{};
    CodexRecords recorded_{};
    std::optional<Usage> unrecorded_{};  // what the newest sum grew by without a record
};

}  // namespace whittle::inline v0::logs
