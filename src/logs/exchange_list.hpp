#pragma once

#include "entries.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::logs {

/// A request to a model with its response.
struct Exchange {
    const ordered_json* request = nullptr;   ///< the body; has "messages"
    const ordered_json* response = nullptr;  ///< the body; null: not recorded as JSON
    std::optional<double> time{};
    std::size_t line = 0;
};

/// Puts exchanges together: a request that begins with all messages of an earlier one and its reply goes on with that
/// session.
class ExchangeList {
public:
    ExchangeList(std::string stem, Format format, LogNotes& notes)
        : stem_(std::move(stem)), format_(format), notes_(notes) {}

    void add(const Exchange& exchange);
    void finish(FunctionRef<void(Session&&)> visit);

private:
    struct Open {
        Session session{};
        Entries entries{};
        std::vector<std::uint64_t> marks{};  // of each message
        std::optional<Call> awaited{};       // its reply was not recorded: the next request has it
    };

    [[nodiscard]] Open& session_of(const Exchange& exchange, const std::vector<std::uint64_t>& marks);
    void open(const Exchange& exchange);
    static void add_reply(Open& open, const Exchange& exchange, Call call, ordered_json reply);

    std::string stem_;
    Format format_;
    LogNotes& notes_;
    std::deque<Open> open_{};
};

}  // namespace whittle::inline v0::logs
