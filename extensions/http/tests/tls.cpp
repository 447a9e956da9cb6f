// TLS against a server of the openssl command, with certificates made for the test.
#include "support/catch.hpp"
#include "support/hostile_server.hpp"
#include "support/temp_dir.hpp"
#include "whittle/http/curl_transport.hpp"
#include "whittle/model/model.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
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

bool make_certificate(const std::string& file, const std::string& name,
                      const std::string& subject = "/CN=whittle test") {
    return Child({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                  "-days", "2", "-keyout", file + ".key", "-out", file, "-subj", subject, "-addext",
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

/// Node's server with that certificate, which answers with the version of HTTP that it was asked in.
/// It reads the request first: node resets an HTTP/2 stream that it answered unread, which breaks the request off.
struct Http2Server {
    explicit Http2Server(const std::string& certificate)
        : child({"node", "-e",
                 "const fs = require('fs'), file = process.argv[1];"
                 "const server = require('http2').createSecureServer("
                 "  {cert: fs.readFileSync(file), key: fs.readFileSync(file + '.key'), allowHTTP1: true},"
                 "  (request, response) => request.resume().on('end', () => response.end(request.httpVersion)));"
                 "server.listen(0, '127.0.0.1', () => console.log('PORT ' + server.address().port));",
                 certificate}) {
        const std::string line = child.line_with("PORT ");
        if (!line.empty()) url = "https://127.0.0.1:" + line.substr(5) + "/";
    }
    Child child;
    std::string url;
};

/// Whether a file is opened while this lives.
class OpenWatch {
public:
    explicit OpenWatch(const std::string& file) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        is_watching_ = inotify_add_watch(events_, file.c_str(), IN_OPEN) >= 0;
    }
    OpenWatch(const OpenWatch&) = delete;
    OpenWatch& operator=(const OpenWatch&) = delete;
    ~OpenWatch() { close(events_); }

    [[nodiscard]] bool is_watching() const { return is_watching_; }
    [[nodiscard]] bool saw_open() const {
        char event[4'096];
        return ::read(events_, event, sizeof event) > 0;
    }

private:
    int events_;
    bool is_watching_ = false;
};

std::string answer_of(const std::string& url, CurlOptions options = {}) {
    try {
        return std::to_string(make_curl_transport(std::move(options))->send({.method = "GET", .url = url}).status);
    } catch (const ModelError& error) {
        return std::string(to_string(error.error_class())) +
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

TEST_CASE("a CA bundle takes the place of the system's trust, its directory of certificates included", "[transport]") {
    // Found by the hash of the subject, a certificate there is opened for any issuer of that name.
    const std::string known = "/etc/ssl/certs/4042bcee.0";
    const OpenWatch watch(known);
    if (!watch.is_watching()) SKIP_WITH_MESSAGE("no certificate of the ISRG under its hash here");
    { const std::ifstream once(known); }
    if (!watch.saw_open()) SKIP_WITH_MESSAGE("the system does not tell which files are opened");

    const whittle::testing::TempDir dir;
    const std::string ours = (dir.path() / "ours.pem").string();
    const std::string theirs = (dir.path() / "theirs.pem").string();
    if (!make_certificate(ours, "IP:127.0.0.1") ||
        !make_certificate(theirs, "IP:127.0.0.1", "/C=US/O=Internet Security Research Group/CN=ISRG Root X1"))
        SKIP_WITH_MESSAGE("the openssl command cannot make certificates here");
    TlsServer server(theirs);
    if (server.url.empty()) SKIP_WITH_MESSAGE("the openssl command does not serve here");
    CHECK(answer_of(server.url, {.ca_bundle = ours}) == "auth, certificate");
    CHECK_FALSE(watch.saw_open());
}

TEST_CASE("HTTPS goes through a proxy end to end, and the proxy's password to the proxy alone", "[transport]") {
    const whittle::testing::TempDir dir;
    const std::string file = (dir.path() / "right.pem").string();
    if (!make_certificate(file, "IP:127.0.0.1")) SKIP_WITH_MESSAGE("the openssl command cannot make certificates here");
    TlsServer server(file);
    if (server.url.empty()) SKIP_WITH_MESSAGE("the openssl command does not serve here");
    const std::string target = server.url.substr(8, server.url.size() - 9);  // host:port

    std::string asked;
    {
        whittle::testing::HostileServer proxy([&](whittle::testing::Connection& connection) {
            asked = connection.read_request();
            connection.relay_to(std::stoi(target.substr(target.find(':') + 1)));
        });
        const auto transport =
            make_curl_transport({.proxy = "http://u:p@127.0.0.1:" + std::to_string(proxy.port()), .ca_bundle = file});
        const HttpResponse response = transport->send({.method = "GET", .url = server.url});
        CHECK(response.status == 200);
        CHECK(response.body.find("u:p") == std::string::npos);
        CHECK(proxy.connections() == 1);
    }
    CHECK(asked.starts_with("CONNECT " + target + " HTTP/1.1\r\n"));
    CHECK(asked.find("Proxy-Authorization: Basic dTpw\r\n") != std::string::npos);
}

TEST_CASE("over TLS, HTTP/2 is spoken with a server that offers it, unless it is turned off", "[transport]") {
    const whittle::testing::TempDir dir;
    const std::string file = (dir.path() / "right.pem").string();
    if (!make_certificate(file, "IP:127.0.0.1")) SKIP_WITH_MESSAGE("the openssl command cannot make certificates here");
    Http2Server server(file);
    if (server.url.empty()) SKIP_WITH_MESSAGE("node with its http2 server is not here");

    const auto version = [&](bool http2) {
        const auto transport = make_curl_transport({.ca_bundle = file, .http2 = http2});
        const std::string more_than_a_window(100'000, ' ');  // of HTTP/2, which has 65,535 bytes at first
        std::string body;
        for (int i = 0; i < 2; ++i) body += transport->send({.url = server.url, .body = more_than_a_window}).body + " ";
        return body;
    };
    CHECK(version(true) == "2.0 2.0 ");
    CHECK(version(false) == "1.1 1.1 ");
}
