// A process that works and tells, step by step, until it is killed.
#pragma once

#include "support/killed_writers.hpp"

namespace whittle::testing {

/// Called with "+" for what was acknowledged and "-" for what was lost to another writer.
using Tell = std::function<void(char)>;

class KilledProcess {
public:
    explicit KilledProcess(const std::function<void(const Tell&)>& child_work) {
        std::array<int, 2> pipe{};
        REQUIRE(::pipe(pipe.data()) == 0);
        child_ = ::fork();
        REQUIRE(child_ >= 0);
        if (child_ == 0) {
            ::close(pipe[0]);
            leave_after([&] {
                child_work([&](char mark) {
                    if (::write(pipe[1], &mark, 1) != 1) ::_exit(1);
                });
            });
        }
        ::close(pipe[1]);
        from_ = pipe[0];
    }
    ~KilledProcess() { ::close(from_); }
    KilledProcess(const KilledProcess&) = delete;
    KilledProcess& operator=(const KilledProcess&) = delete;

    void wait_for(std::size_t steps) {
        char mark = 0;
        while (told_.size() < steps && ::read(from_, &mark, 1) == 1) told_ += mark;
    }
    /// What it had told when it was dead.
    std::string kill() {
        ::kill(child_, SIGKILL);
        int status = 0;
        ::waitpid(child_, &status, 0);
        char mark = 0;
        while (::read(from_, &mark, 1) == 1) told_ += mark;
        const bool was_killed = WIFSIGNALED(status) != 0;
        if (!was_killed) FAIL_CHECK("the process ended with " << WEXITSTATUS(status));
        return told_;
    }

private:
    pid_t child_ = -1;
    int from_ = -1;
    std::string told_{};
};

}  // namespace whittle::testing
