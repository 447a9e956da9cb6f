#pragma once

#include "whittle/model/model.hpp"

#include <functional>

namespace whittle::inline v0::detail {

/// Stands before a caller's sink and knows whether a piece of a reply that failed later has got through to it: such
/// pieces cannot be taken back, only discarded by the caller. Lives on the stack of one call.
class DeltaWatch {
public:
    /// `sink`: null or empty where nobody listens. Both outlive the watch.
    DeltaWatch(const DeltaSink* sink, const std::function<void()>& on_stream_restart) : on_restart_(on_stream_restart) {
        if (sink == nullptr || !*sink) return;
        watched_ = [this, sink](const Delta& delta) {
            has_streamed_ = true;
            (*sink)(delta);
        };
    }
    DeltaWatch(const DeltaWatch&) = delete;
    DeltaWatch& operator=(const DeltaWatch&) = delete;

    /// What a model streams to; null: nobody listens.
    [[nodiscard]] const DeltaSink* sink() const noexcept { return watched_ ? &watched_ : nullptr; }

    /// Without `on_stream_restart` there is no other attempt once something was streamed.
    [[nodiscard]] bool may_restart() const noexcept { return !has_streamed_ || on_restart_; }

    void restart() {
        if (has_streamed_) on_restart_();
        has_streamed_ = false;
    }

private:
    const std::function<void()>& on_restart_;
    DeltaSink watched_{};
    bool has_streamed_ = false;
};

}  // namespace whittle::inline v0::detail
