// Exchanges with a real server, written to a file and played again without one.
#pragma once

#include <whittle/backend/http_transport.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace real_model {

/// One request and what the server answered.
struct Exchange {
    std::string path{};                ///< of the URL
    nlohmann::ordered_json request{};  ///< `outline_of` the body
    std::string sha256{};              ///< of the body
    std::size_t bytes = 0;             ///< of the body
    int status = 0;
    std::string content_type{};
    std::string reply{};  ///< the answer's body
};

struct Recording {
    std::string server{};  ///< what answered, for a person
    std::vector<Exchange> exchanges{};
};

/// A request's fields without its texts: messages as roles, tools as names, a prompt as nothing.
[[nodiscard]] nlohmann::ordered_json outline_of(std::string_view body);

/// Both throw std::runtime_error that names the file.
void save(const Recording& recording, const std::filesystem::path& file);
[[nodiscard]] Recording load(const std::filesystem::path& file);

/// Passes requests on and keeps what came of them.
class RecordingTransport final : public whittle::HttpTransport {
public:
    explicit RecordingTransport(std::shared_ptr<whittle::HttpTransport> transport) : transport_(std::move(transport)) {}

    whittle::HttpResponse send(const whittle::HttpRequest& request, const whittle::BodySink& on_body = {}) override;
    /// What was recorded since the last call of this.
    [[nodiscard]] std::vector<Exchange> take();

private:
    std::shared_ptr<whittle::HttpTransport> transport_;
    std::mutex mutex_{};
    std::vector<Exchange> exchanges_{};
};

/// Answers as the recorded server did, in order. A request whose outline is another one ends as a `ModelError` of class
/// bad_request, and is counted.
class ReplayTransport final : public whittle::HttpTransport {
public:
    explicit ReplayTransport(Recording recording) : recording_(std::move(recording)) {}

    whittle::HttpResponse send(const whittle::HttpRequest& request, const whittle::BodySink& on_body = {}) override;

    [[nodiscard]] std::size_t sent() const noexcept { return sent_; }
    [[nodiscard]] const Recording& recording() const noexcept { return recording_; }
    /// What was sent that was not recorded so; empty: nothing.
    [[nodiscard]] const std::string& mismatch() const noexcept { return mismatch_; }
    /// Requests whose texts, too, are those that were recorded.
    [[nodiscard]] std::size_t same_bytes() const noexcept { return same_bytes_; }

private:
    Recording recording_;
    std::size_t sent_ = 0;
    std::size_t same_bytes_ = 0;
    std::string mismatch_{};
};

}  // namespace real_model
