#include "whittle/loop/detail/jobs.hpp"

#include "whittle/base/detail/joining_thread.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

/// Keeps the first exception of calls that must not get in each other's way.
class FirstFailure {
public:
    /// What `call` gives, or false if it throws.
    template <typename F>
    bool guard(const F& call) noexcept {
        try {
            return call();
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
            return false;
        }
    }
    [[nodiscard]] bool happened() const noexcept { return failure_ != nullptr; }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::exception_ptr failure_{};
};

/// Threads that take jobs from a queue. Its destructor waits for those that run.
class Workers {
public:
    Workers(std::size_t threads, std::size_t jobs, const FunctionRef<void(std::size_t)>& work) : work_(work) {
        waiting_.reserve(jobs);  // handing over cannot fail
        ended_.reserve(jobs);
        threads_.reserve(threads);
        try {
            while (threads_.size() < threads) threads_.emplace_back([this] { run(); });
        } catch (const std::system_error&) {  // fewer threads do
            return;
        } catch (const std::bad_alloc&) {
            return;
        }
    }

    ~Workers() {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        is_waiting_.notify_all();
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }

    void hand_over(std::size_t job) {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(job);
        is_waiting_.notify_one();
    }

    /// Waits for a job that has ended.
    [[nodiscard]] std::size_t take_ended() {
        std::unique_lock lock(mutex_);
        has_ended_.wait(lock, [&] { return taken_ < ended_.size(); });
        return ended_[taken_++];
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            is_waiting_.wait(lock, [&] { return is_over_ || next_ < waiting_.size(); });
            if (next_ == waiting_.size()) return;
            const std::size_t job = waiting_[next_++];
            lock.unlock();
            work_(job);
            lock.lock();
            ended_.push_back(job);
            has_ended_.notify_one();
        }
    }

    const FunctionRef<void(std::size_t)>& work_;
    std::mutex mutex_{};
    std::condition_variable is_waiting_{};
    std::condition_variable has_ended_{};
    std::vector<std::size_t> waiting_{};
    std::vector<std::size_t> ended_{};
    std::size_t next_ = 0;                  // in waiting_
    std::size_t taken_ = 0;                 // of ended_
    bool is_over_ = false;                  // no further job comes
    std::vector<JoiningThread> threads_{};  // last: joined before the rest goes
};

void run_here(std::size_t count, const Jobs& jobs) {
    for (std::size_t job = 0; job < count && jobs.start(job); ++job) {
        jobs.work(job);
        jobs.ended(job);
    }
}

void run_on(Workers& workers, std::size_t count, const Jobs& jobs) {
    FirstFailure failure;
    bool may_start = true;
    std::size_t started = 0;
    std::size_t running = 0;
    while (true) {
        while (may_start && started < count && running < workers.size()) {
            may_start = failure.guard([&] { return jobs.start(started); });
            if (!may_start) break;
            workers.hand_over(started++);
            ++running;
        }
        if (running == 0) break;
        const std::size_t job = workers.take_ended();
        --running;
        failure.guard([&] { return jobs.ended(job), true; });
        may_start = may_start && !failure.happened();
    }
    failure.rethrow();
}

}  // namespace

void run_jobs(std::size_t count, std::size_t threads, const Jobs& jobs) {
    if (threads <= 1 || count <= 1) return run_here(count, jobs);
    Workers workers(std::min(threads, count), count, jobs.work);
    if (workers.size() == 0) return run_here(count, jobs);
    run_on(workers, count, jobs);
}

}  // namespace whittle::inline v0::detail
