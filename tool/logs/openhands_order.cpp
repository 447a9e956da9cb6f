#include "openhands_order.hpp"

#include <string>
#include <unordered_map>

namespace whittle::inline v0::logs {
namespace {

bool is_tool_result(const ordered_json& message) { return text_at(message, "role") == "tool"; }

/// Replies whose calls have no result yet, and the results that came.
class OpenReplies {
public:
    void add(const ordered_json& calls, std::size_t reply) {
        for (const ordered_json& call : calls) {
            const auto [known, is_new] = reply_of_.try_emplace(std::string(text_at(call, "id")), reply);
            if (!is_new && known->second == reply) continue;
            known->second = reply;
            result_of_.erase(known->first);
            ++missing_[reply];
        }
    }

    /// The reply if this was the last result that it waited for; null else.
    [[nodiscard]] const std::size_t* answer(const std::string& call, std::size_t result) {
        const auto reply = reply_of_.find(call);
        if (reply == reply_of_.end() || !result_of_.emplace(call, result).second) return nullptr;
        return --missing_[reply->second] == 0 ? &reply->second : nullptr;
    }

    /// Results of these calls in their order; they are open no more.
    std::vector<std::size_t> take_results(const ordered_json& calls) {
        std::vector<std::size_t> results;
        for (const ordered_json& call : calls) {
            const std::string id(text_at(call, "id"));
            const auto result = result_of_.find(id);
            if (result == result_of_.end()) continue;
            results.push_back(result->second);
            result_of_.erase(result);
            reply_of_.erase(id);
        }
        return results;
    }

    [[nodiscard]] bool is_open(std::size_t reply) const {
        const auto missing = missing_.find(reply);
        return missing != missing_.end() && missing->second > 0;
    }

private:
    std::unordered_map<std::string, std::size_t> reply_of_{};   // by id of the call
    std::unordered_map<std::string, std::size_t> result_of_{};  // by the same
    std::unordered_map<std::size_t, std::size_t> missing_{};    // how many results, by reply
};

}  // namespace

std::vector<SentMessage> order_sent(const std::vector<const ordered_json*>& messages, bool and_open) {
    std::vector<SentMessage> order;
    OpenReplies open;
    const auto send_reply = [&](std::size_t reply, std::size_t with) {
        order.push_back({reply, with});
        for (const std::size_t result : open.take_results((*messages[reply])["tool_calls"]))
            order.push_back({result, with});
    };
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const ordered_json& message = *messages[i];
        if (const ordered_json* calls = tree_at(message, "tool_calls")) {
            open.add(*calls, i);
        } else if (!is_tool_result(message)) {
            order.push_back({i, i});
        } else if (const std::size_t* reply = open.answer(std::string(text_at(message, "tool_call_id")), i)) {
            send_reply(*reply, i);
        }
    }
    std::size_t last = messages.size();
    while (last > 0 && is_tool_result(*messages[last - 1])) --last;
    if (and_open && last > 0 && open.is_open(last - 1)) send_reply(last - 1, messages.size() - 1);
    return order;
}

}  // namespace whittle::inline v0::logs
