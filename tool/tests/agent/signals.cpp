#include "agent/signals.hpp"

#include "support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <thread>

namespace {

using namespace std::chrono_literals;

constexpr int not_stopped = 3;
constexpr int not_ended = 4;

/// How a process of its own ends that sends itself `first` and, once that has asked it to stop, `second`.
int wait_status_after(int first, int second) {
    const pid_t child = ::fork();
    if (child == 0) {
        const agent::StopOnSignal signals;
        ::kill(::getpid(), first);
        for (int i = 0; i < 1'000 && !signals.token().stop_requested(); ++i) std::this_thread::sleep_for(10ms);
        if (!signals.token().stop_requested()) ::_exit(not_stopped);
        if (second == 0) ::_exit(0);
        ::kill(::getpid(), second);
        std::this_thread::sleep_for(10s);
        ::_exit(not_ended);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_CASE("the first signal asks for a stop", "[agent]") {
    for (const int signal : {SIGINT, SIGTERM}) CHECK(wait_status_after(signal, 0) == 0);
}

TEST_CASE("the second signal ends the program at once", "[agent]") {
    for (const int signal : {SIGINT, SIGTERM}) {
        const int status = wait_status_after(SIGINT, signal);
        REQUIRE(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == signal);
    }
}
