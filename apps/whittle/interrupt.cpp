#include "interrupt.hpp"

#include <csignal>
#include <cstdlib>
#include <initializer_list>

namespace whittle::cli {
namespace {

volatile std::sig_atomic_t signal_that_came = 0;

void note_signal(int number) { signal_that_came = number; }

}  // namespace

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = note_signal;  // without SA_RESTART: a blocked read returns
    sigemptyset(&action.sa_mask);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void throw_if_interrupted() {
    if (signal_that_came != 0) throw Interrupted(signal_that_came);
}

void die_of(int signal) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    std::_Exit(128 + signal);
}

}  // namespace whittle::cli
