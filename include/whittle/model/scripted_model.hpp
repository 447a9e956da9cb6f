#pragma once

#include "whittle/message/chat_message.hpp"
#include "whittle/model/model.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A model that answers from a list, or by a function of the request: for tests, demos and replays. Thread-safe if the
/// function is.
template <AgentMessage M = ChatMessage>
class ScriptedModel final : public Model<M> {
public:
    /// Makes the reply to a request. What it throws comes out of `generate`.
    using Answer = std::function<Reply<M>(const ModelRequest<M>&)>;

    explicit ScriptedModel(Answer answer) : answer_(std::move(answer)) {}
    /// Throws `ModelError` of class bad_request once the list is used up.
    explicit ScriptedModel(std::vector<Reply<M>> replies) : replies_(std::move(replies)) {}
    explicit ScriptedModel(std::vector<M> replies) {
        for (M& m : replies) replies_.push_back({std::move(m)});
    }

    Reply<M> generate(const ModelRequest<M>& request) override {
        if (request.stop.stop_requested())
            throw ModelError(ModelErrorClass::cancelled, "scripted model: stopped before the call");
        if (answer_) return answer_(request);
        const std::lock_guard lock(mutex_);
        if (next_ == replies_.size()) {
            throw ModelError(ModelErrorClass::bad_request,
                             "scripted model: all " + std::to_string(next_) + " replies are used up");
        }
        return replies_[next_++];
    }

private:
    Answer answer_{};
    std::vector<Reply<M>> replies_{};
    std::size_t next_ = 0;
    std::mutex mutex_;
};

}  // namespace whittle::inline v0
