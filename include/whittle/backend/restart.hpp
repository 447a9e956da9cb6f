#pragma once

#include "whittle/port/model.hpp"

#include <functional>

namespace whittle::inline v0::detail {

/// One generation that may take several attempts: knows whether the caller has already been given a piece of a reply
/// that failed later. Lives on the stack of one `generate`.
template <AgentMessage M>
class Attempts {
public:
    Attempts(const ModelRequest<M>& request, const std::function<void()>& on_restart)
        : request_(request), on_restart_(on_restart) {
        if (request.on_delta == nullptr) return;
        watched_ = [this](const Delta& delta) {
            has_streamed_ = true;
            (*request_.on_delta)(delta);
        };
    }
    Attempts(const Attempts&) = delete;
    Attempts& operator=(const Attempts&) = delete;

    Reply<M> ask(Model<M>& model) const {
        ModelRequest<M> request = request_;
        if (request.on_delta != nullptr) request.on_delta = &watched_;
        return model.generate(request);
    }

    /// Pieces that were streamed cannot be taken back: without `on_restart` there is no other attempt then.
    [[nodiscard]] bool may_restart() const noexcept { return !has_streamed_ || on_restart_; }

    void restart() {
        if (has_streamed_) on_restart_();
        has_streamed_ = false;
    }

    void require_running() const {
        if (request_.stop.stop_requested()) throw ModelError(ModelErrorClass::cancelled, "call model: stopped");
    }

private:
    const ModelRequest<M>& request_;
    const std::function<void()>& on_restart_;
    DeltaSink watched_{};
    bool has_streamed_ = false;
};

}  // namespace whittle::inline v0::detail
