#pragma once

#include "entries.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What Qwen Code was billed: it stands in the record of a reply, and once more in what it tells of its own calls.
namespace whittle::inline v0::logs {

/// Counts as the agent recorded them.
struct QwenCounts {
    std::int64_t prompt = 0;  ///< with what the cache read
    std::int64_t candidates = 0;
    std::int64_t cached = 0;
    std::int64_t thoughts = 0;
    std::int64_t tool = 0;  ///< beside the prompt
    std::int64_t total = 0;

    friend bool operator==(const QwenCounts&, const QwenCounts&) = default;

    /// "usageMetadata" of a reply.
    [[nodiscard]] static QwenCounts of_reply(const ordered_json& usage);
    /// Of an event "api_response".
    [[nodiscard]] static QwenCounts of_event(const ordered_json& event);

    /// Whether "candidates" holds "thoughts" is told by the total. A total alone is taken for input, as it mostly is.
    [[nodiscard]] Usage usage() const;
    /// What an event and the reply that it tells of have in common: newer versions leave `tool` out of events.
    [[nodiscard]] std::array<std::int64_t, 5> key() const { return {prompt, candidates, cached, thoughts, total}; }
};

/// The same for a record and its copy in a session that was forked; empty: `uuid` is of this file alone.
[[nodiscard]] std::string qwen_bill_id(std::string_view uuid);

/// The bills of a session that stand beside its replies.
class QwenBills {
public:
    /// A reply was billed this.
    void add_reply(const QwenCounts& counts) { ++replies_[counts.key()]; }
    /// An event that tells of a call: of a reply, of a sub-agent's, or of another one, such as for a compression.
    void add_event(const ordered_json& event, std::string_view uuid, std::optional<double> time);
    /// The same for the call as a sub-agent recorded it and as the session that started it was told of it. Both do so
    /// within some milliseconds, which is all that they have in common beside the agent's name and the counts.
    [[nodiscard]] std::string id_of_agent(std::string_view agent, const QwenCounts& counts, std::optional<double> time);
    /// Events that tell of no reply.
    [[nodiscard]] std::vector<Call> take_others();

private:
    struct Event {
        QwenCounts counts{};
        Call call{};
        bool is_of_agent = false;
    };

    std::map<std::array<std::int64_t, 5>, std::int64_t> replies_{};
    std::vector<Event> events_{};
    std::map<std::string, int> of_agents_{};  // how many of the same were met
};

}  // namespace whittle::inline v0::logs
