#if !defined(_WIN32)

#    include "interrupt.hpp"
#    include "token_commands.hpp"

#    include <fmt/format.h>
#    include <fmt/ranges.h>
#    include <sys/wait.h>
#    include <unistd.h>

#    include <cerrno>
#    include <csignal>

namespace whittle::cli {
namespace {

constexpr int no_such_program = 127;

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::string& in) {
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    if (::chdir(in.c_str()) == 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) ::execvp(pointers[0], pointers.data());
    ::_exit(no_such_program);
}

/// A signal that came to us alone is passed on, so that the wait ends.
int wait_for(pid_t child) {
    {
        const StopCallback pass_on(interrupt_token(), [child] { ::kill(child, signal_received()); });
        siginfo_t info{};
        while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
        }
    }
    int status = 0;  // only now the process id becomes free for another program
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void run_program(const std::vector<std::string>& arguments, const std::string& in) {
    const pid_t child = ::fork();
    if (child == 0) become(arguments, in);
    if (child < 0) throw Error(Errc::storage_failed, fmt::format("run {}: no process left", arguments[0]));
    const int code = wait_for(child);
    throw_if_interrupted();
    if (code == no_such_program) throw Error(Errc::not_found, fmt::format("run {}: no such program", arguments[0]));
    if (code != 0)
        throw Error(Errc::storage_failed, fmt::format("run {}: exit code {}", fmt::join(arguments, " "), code));
}

}  // namespace whittle::cli

#endif
