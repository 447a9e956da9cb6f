#pragma once

#include "entries.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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

    void add(const Exchange& exchange);
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
    void add_reply(Open& open, const Exchange& exchange, Call call, ordered_json reply);

    std::string stem_;
    Format format_;
    LogNotes& notes_;
    std::deque<Open> open_{};
    std::unordered_map<std::string, Reply> replies_{};  // by id
    CopyBudget copies_{};                               // of messages, to sessions that begin like others
};

}  // namespace whittle::inline v0::logs
