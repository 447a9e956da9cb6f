#include "whittle/chain/detail/earlier_calls.hpp"

namespace whittle::inline v0::detail {

std::shared_ptr<EarlierCalls> EarlierCalls::of(ConversationCaches& caches) {
    static constexpr std::string_view owner = "earlier_calls";
    auto found = std::static_pointer_cast<EarlierCalls>(caches.find(owner));
    if (!found) caches.set(owner, found = std::make_shared<EarlierCalls>());
    return found;
}

void EarlierCalls::follow(std::uint64_t newest_commit, FunctionRef<bool(std::uint64_t)> is_there) {
    if (newest_commit_ != 0 && !is_there(newest_commit_)) {
        calls_.clear();
        newest_ = 0;
    }
    newest_commit_ = newest_commit;
}

std::vector<EarlierCalls::Call> EarlierCalls::newest(const Hash128& print, Serial round) const {
    std::vector<Call> newest;
    const auto found = calls_.find(print);
    if (found == calls_.end()) return newest;
    const std::vector<Call>& all = found->second;
    for (auto call = all.rbegin(); call != all.rend() && newest.size() < most_looked_at; ++call) {
        if (call->message != round) newest.push_back(*call);
    }
    return newest;
}

}  // namespace whittle::inline v0::detail
