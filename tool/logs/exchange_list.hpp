#pragma once

#include "entries.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// A request to a model with its response.
struct Exchange {
    const ordered_json* request = nullptr;   ///< the body; has "messages"
    const ordered_json* response = nullptr;  ///< the body; null: not recorded as JSON
    std::optional<double> time{};
    std::size_t line = 0;
    std::optional<Usage> usage{};  ///< what was billed, where the response does not say it
    bool has_failed = false;       ///< as the log says, whatever the response holds
    std::string_view group{};      ///< what it was recorded in, such as a trace; empty: not known
};

/// Whether a response of OpenAI's chat completions or Anthropic's messages holds one.
[[nodiscard]] bool holds_reply(const ordered_json& response);

/// Puts exchanges together: a request that begins with all messages of an earlier one and its reply goes on with that
/// session, and so does one that names that reply in "previous_response_id" and holds only what is new. What failed
/// without a reply or a bill, and what only counted tokens, is left out.
class ExchangeList {
public:
    ExchangeList(std::string stem, Format format, LogNotes& notes)
        : stem_(std::move(stem)), format_(format), notes_(notes) {}

    /// One without messages goes to `bill_alone` if a model's reply was billed.
    void add(const Exchange& exchange);
    /// A call that was billed and whose messages were cut, masked or never recorded: billed elsewhere, in the first
    /// session that has a call of its group, else in one of bills alone for the group.
    void bill_alone(Call call, std::string_view group);
    void finish(FunctionRef<void(Session&&)> visit);

private:
    struct Open {
        Session session{};
        std::size_t number = 0;  // among those that are open
        Entries entries{};
        std::vector<std::uint64_t> marks{};  // of each message
        std::optional<Call> awaited{};       // its reply was not recorded: the next request has it
    };

    /// A reply, and how many messages its session had with it.
    struct Reply {
        std::size_t session = 0;
        std::size_t messages = 0;
    };
    /// A session, and the first message of a request that it does not have yet.
    struct Place {
        Open& session;
        std::size_t first_new = 0;
    };

    [[nodiscard]] Place place_of(const Exchange& exchange, const std::vector<std::uint64_t>& marks);
    [[nodiscard]] Open& behind(std::string_view reply, const Exchange& exchange);
    Open& open(const Exchange& exchange);
    Open& open_empty();
    [[nodiscard]] Open& session_of_group(const std::string& group);
    void add_reply(Open& open, const Exchange& exchange, Call call, ordered_json reply);

    std::string stem_;
    Format format_;
    LogNotes& notes_;
    std::deque<Open> open_{};
    std::unordered_map<std::string, Reply> replies_{};       // by id
    std::unordered_map<std::string, std::size_t> groups_{};  // the first session of each
    std::vector<std::pair<std::string, Call>> alone_{};      // with their groups
    CopyBudget copies_{};                                    // of messages, to sessions that begin like others
};

}  // namespace whittle::inline v0::logs
