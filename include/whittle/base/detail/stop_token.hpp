#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

// `std::stop_token` and its companions for standard libraries that have none: what whittle uses of them, with their
// semantics ([thread.stoptoken] of C++20). `whittle/base/platform.hpp` chooses.

namespace whittle::inline v0::detail {

/// A callback that waits for the stop.
class StopListener {
public:
    virtual void stopped() = 0;

protected:
    ~StopListener() = default;
};

/// What a source and its tokens share. Thread-safe.
class StopState {
public:
    [[nodiscard]] bool is_stopped() const noexcept {
        const std::lock_guard lock(mutex_);
        return is_stopped_;
    }

    /// False if a stop was asked for before. Runs the callbacks, one after the other, outside of the lock.
    bool stop() noexcept {
        std::unique_lock lock(mutex_);
        if (is_stopped_) return false;
        is_stopped_ = true;
        stopping_thread_ = std::this_thread::get_id();
        while (!listeners_.empty()) {
            running_ = listeners_.back();
            listeners_.pop_back();
            lock.unlock();
            running_->stopped();
            lock.lock();
            running_ = nullptr;
            has_run_.notify_all();
        }
        return true;
    }

    /// False if the stop was asked for already: then the caller runs its callback itself.
    [[nodiscard]] bool add(StopListener& listener) {
        const std::lock_guard lock(mutex_);
        if (is_stopped_) return false;
        listeners_.push_back(&listener);
        return true;
    }

    /// Returns once the callback neither runs nor will, unless it is called from the callback itself.
    void remove(StopListener& listener) noexcept {
        std::unique_lock lock(mutex_);
        std::erase(listeners_, &listener);
        if (std::this_thread::get_id() == stopping_thread_) return;
        has_run_.wait(lock, [&] { return running_ != &listener; });
    }

private:
    mutable std::mutex mutex_{};
    std::condition_variable has_run_{};
    std::vector<StopListener*> listeners_{};
    StopListener* running_ = nullptr;
    std::thread::id stopping_thread_{};
    bool is_stopped_ = false;
};

/// As `std::stop_token`, but `stop_possible` stays true when the last source is gone.
class PortableStopToken {
public:
    PortableStopToken() noexcept = default;
    explicit PortableStopToken(std::shared_ptr<StopState> state) noexcept : state_(std::move(state)) {}
    [[nodiscard]] bool stop_requested() const noexcept { return state_ && state_->is_stopped(); }
    [[nodiscard]] bool stop_possible() const noexcept { return state_ != nullptr; }
    [[nodiscard]] const std::shared_ptr<StopState>& state() const noexcept { return state_; }
    friend bool operator==(const PortableStopToken&, const PortableStopToken&) noexcept = default;

private:
    std::shared_ptr<StopState> state_{};
};

/// As `std::stop_source`.
class PortableStopSource {
public:
    PortableStopSource() : state_(std::make_shared<StopState>()) {}
    [[nodiscard]] PortableStopToken get_token() const noexcept { return PortableStopToken(state_); }
    [[nodiscard]] bool stop_requested() const noexcept { return state_ && state_->is_stopped(); }
    bool request_stop() const noexcept {
        const std::shared_ptr<StopState> state = state_;  // a callback may drop the last source
        return state && state->stop();
    }
    friend bool operator==(const PortableStopSource&, const PortableStopSource&) noexcept = default;

private:
    std::shared_ptr<StopState> state_;
};

/// As `std::stop_callback<std::function<void()>>`: calls `callback` once when the stop is asked for, at once if it was.
class PortableStopCallback final : StopListener {
public:
    PortableStopCallback(const PortableStopToken& token, std::function<void()> callback)
        : state_(token.state()), callback_(std::move(callback)) {
        if (state_ && !state_->add(*this)) {
            state_.reset();
            stopped();
        }
    }
    ~PortableStopCallback() {
        if (state_) state_->remove(*this);
    }
    PortableStopCallback(const PortableStopCallback&) = delete;
    PortableStopCallback& operator=(const PortableStopCallback&) = delete;

private:
    void stopped() override { callback_(); }

    std::shared_ptr<StopState> state_;
    std::function<void()> callback_;
};

}  // namespace whittle::inline v0::detail
