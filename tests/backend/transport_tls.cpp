// TLS against a server of the openssl command, with certificates made for the test.
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "whittle/backend/curl_transport.hpp"
#include "whittle/port/model.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

using namespace whittle;

namespace {

/// A program whose output can be read; it is ended with the object.
class Child {
public:
    explicit Child(std::vector<std::string> arguments) {
        std::array<int, 2> pipe_ends{};
        if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return;
        output_ = pipe_ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        if (posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
        posix_spawn_file_actions_destroy(&actions);
        close(pipe_ends[1]);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ > 0) {
            kill(pid_, SIGTERM);
            waitpid(pid_, nullptr, 0);
        }
        close(output_);
    }

    /// The line that begins with `start`, or empty at the end of the output.
    std::string line_with(std::string_view start) {
        std::string line;
        for (char c = 0; ::read(output_, &c, 1) == 1;) {
            if (c != '\n') {
                line += c;
            } else if (line.starts_with(start)) {
                return line;
            } else {
                line.clear();
            }
        }
        return {};
    }

    bool succeeded() {
        int status = -1;
        if (pid_ > 0) waitpid(pid_, &status, 0);
        pid_ = -1;
        return status == 0;
    }

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

bool make_certificate(const std::string& file, const std::string& name) {
    return Child({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                  "-days", "2", "-keyout", file + ".key", "-out", file, "-subj", "/CN=whittle test", "-addext",
                  "subjectAltName=" + name})
        .succeeded();
}

/// A server with that certificate; its URL, or empty.
struct TlsServer {
    explicit TlsServer(const std::string& certificate)
        : child({"openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", certificate + ".key",
                 "-www"}) {
        const std::string line = child.line_with("ACCEPT ");
        if (!line.empty()) url = "https://127.0.0.1:" + line.substr(line.rfind(':') + 1) + "/";
    }
    Child child;
    std::string url;
};

std::string answer_of(const std::string& url, CurlOptions options = {}) {
    try {
        return std::to_string(make_curl_transport(std::move(options))->send({.method = "GET", .url = url}).status);
    } catch (const ModelError& error) {
        return std::string(name_of(error.error_class())) +
               (std::string_view(error.what()).find("ertificate") != std::string_view::npos ? ", certificate"
                                                                                            : error.what());
    }
}

}  // namespace

TEST_CASE("only a server with a trusted certificate for its own name is talked to", "[transport]") {
    const whittle::testing::TempDir dir;
    const std::string right = (dir.path() / "right.pem").string();
    const std::string wrong = (dir.path() / "wrong.pem").string();
    if (!make_certificate(right, "IP:127.0.0.1") || !make_certificate(wrong, "DNS:elsewhere.example"))
        SKIP_WITH_MESSAGE("the openssl command cannot make certificates here");
    TlsServer server(right);
    TlsServer impostor(wrong);
    if (server.url.empty() || impostor.url.empty()) SKIP_WITH_MESSAGE("the openssl command does not serve here");

    CHECK(answer_of(server.url, {.ca_bundle = right}) == "200");
    CHECK(answer_of(server.url, {.ca_bundle = right, .http2 = false}) == "200");
    CHECK(answer_of(server.url) == "auth, certificate");
    CHECK(answer_of(server.url, {.ca_bundle = wrong}) == "auth, certificate");
    CHECK(answer_of(impostor.url, {.ca_bundle = wrong}) == "auth, certificate");
}
