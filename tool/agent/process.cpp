#include "process.hpp"

#include <whittle/base/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace agent {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int poll_milliseconds = 20;
constexpr int reads_at_a_time = 64;  // then timeout and stop are looked at again

[[noreturn]] void fail(std::string_view what, int error) {
    throw whittle::Error(whittle::Errc::invalid_argument,
                         "run a command: " + std::string(what) + ": " + std::generic_category().message(error));
}

/// Held while a pipe is made and while a program starts: a program that another thread starts must not inherit an end
/// which is not yet closed on exec (pipe2 is not everywhere).
std::mutex& starting() {
    static std::mutex mutex;
    return mutex;
}

class Pipe {
public:
    Pipe() {
        const std::scoped_lock lock(starting());
        if (::pipe(ends_.data()) != 0) fail("pipe", errno);
        for (const int end : ends_) ::fcntl(end, F_SETFD, FD_CLOEXEC);
        ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    }
    ~Pipe() {
        ::close(ends_[0]);
        close_writer();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    [[nodiscard]] int reader() const noexcept { return ends_[0]; }
    [[nodiscard]] int writer() const noexcept { return ends_[1]; }
    void close_writer() noexcept {
        if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
    }

private:
    std::array<int, 2> ends_{-1, -1};
};

std::vector<std::string> environment() {
    std::vector<std::string> variables{"GIT_PAGER=cat", "PAGER=cat", "NO_COLOR=1"};
    for (const char* name : {"PATH", "HOME", "TMPDIR", "LANG"}) {
        if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
    }
    return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// Starts the shell as the leader of a new group, with all signals at their defaults.
pid_t start(const std::string& command, const std::filesystem::path& directory, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> arguments{"/bin/sh", "-c", command};
    std::vector<std::string> variables = environment();
    pid_t pid = 0;
    int error = 0;
    {
        const std::scoped_lock lock(starting());
        error = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, pointers(arguments).data(),
                              pointers(variables).data());
    }
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) fail("start /bin/sh", error);
    return pid;
}

/// Passes output on, up to a number of bytes.
struct Output {
    const std::function<void(std::string_view)>& take;
    std::size_t room;
    std::size_t dropped_bytes = 0;

    void add(std::string_view text) {
        const std::string_view kept = text.substr(0, room);
        room -= kept.size();
        dropped_bytes += text.size() - kept.size();
        if (!kept.empty()) take(kept);
    }
};

/// Takes what is there. False at the end of the output.
bool read_some(int reader, Output& output) {
    std::array<char, 16'384> buffer;
    for (int i = 0; i < reads_at_a_time; ++i) {
        const ssize_t got = ::read(reader, buffer.data(), buffer.size());
        if (got == 0) return false;
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        output.add({buffer.data(), static_cast<std::size_t>(got)});
    }
    return true;
}

int exit_status(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/// The child of a run. Not reaped before the group was killed, so that its number cannot belong to anyone else by then.
class Shell {
public:
    explicit Shell(pid_t pid) : pid_(pid) {}
    ~Shell() { finish(); }
    Shell(const Shell&) = delete;
    Shell& operator=(const Shell&) = delete;

    [[nodiscard]] bool has_ended() const {
        siginfo_t info{};
        return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
    }
    int finish() {
        if (pid_ == 0) return status_;
        ::kill(-pid_, SIGKILL);
        int wait_status = 0;
        while (::waitpid(pid_, &wait_status, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        return status_ = exit_status(wait_status);
    }

private:
    pid_t pid_;
    int status_ = 0;
};

}  // namespace

ShellResult run_shell(const std::string& command, const ShellOptions& options, whittle::StopToken stop,
                      const std::function<void(std::string_view)>& output) {
    if (command.find('\0') != std::string::npos) fail("the command has a zero byte", EINVAL);
    Pipe pipe;
    ShellResult result;
    Output out{output, options.max_output_bytes};
    Shell shell(start(command, options.directory, pipe.writer()));
    pipe.close_writer();
    const auto deadline = Clock::now() + options.timeout;
    bool is_open = true;
    while (!shell.has_ended()) {
        if (stop.stop_requested()) result.end = ShellEnd::stopped;
        if (Clock::now() >= deadline) result.end = ShellEnd::timed_out;
        if (result.end != ShellEnd::exited) break;
        pollfd waiting{.fd = is_open ? pipe.reader() : -1, .events = POLLIN, .revents = 0};
        ::poll(&waiting, 1, poll_milliseconds);
        if (is_open) is_open = read_some(pipe.reader(), out);
    }
    result.status = shell.finish();
    if (is_open) read_some(pipe.reader(), out);
    result.dropped_bytes = out.dropped_bytes;
    return result;
}

}  // namespace agent
