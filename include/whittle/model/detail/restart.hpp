#pragma once

#include "whittle/model/detail/delta_watch.hpp"
#include "whittle/model/model.hpp"

#include <functional>

namespace whittle::inline v0::detail {

/// One generation that may take several attempts. Lives on the stack of one `generate`.
template <AgentMessage M>
class Attempts {
public:
    Attempts(const ModelRequest<M>& request, const std::function<void()>& on_stream_restart)
        : request_(request), watch_(request.on_delta, on_stream_restart) {}

    Reply<M> ask(Model<M>& model) const {
        ModelRequest<M> request = request_;
        request.on_delta = watch_.sink();
        return model.generate(request);
    }

    [[nodiscard]] bool may_restart() const noexcept { return watch_.may_restart(); }
    void restart() { watch_.restart(); }

    void require_running() const {
        if (request_.stop.stop_requested()) throw ModelError(ModelErrorClass::cancelled, "call model: stopped");
    }

private:
    const ModelRequest<M>& request_;
    DeltaWatch watch_;
};

}  // namespace whittle::inline v0::detail
