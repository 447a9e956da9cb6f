// Exchanges with a real server, written to a file and played again without one.
#pragma once

#include <whittle/model/model.hpp>
#include <whittle/provider/http_transport.hpp>
#include <whittle/tiktoken/vocabulary.hpp>

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
    // As the server has them; empty where it was not asked.
    std::vector<whittle::TokenId> prompt_tokens{};
    std::vector<whittle::TokenId> reply_tokens{};
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

/// What an answered request made the server read, in tokens.
struct Prefill {
    std::size_t predicted = 0;  ///< by `whittle::ServerSlot`
    whittle::ServerTiming timing{};
};

/// For the answered requests whose tokens and timings are known, if those of all in front are.
[[nodiscard]] std::vector<Prefill> prefills_of(const std::vector<Exchange>& exchanges);

/// Passes requests on and keeps what came of them.
class RecordingTransport final : public whittle::HttpTransport {
public:
    /// `tokens_from`: the address of a llama-server that is asked for the tokens of what it answered; empty: none.
    explicit RecordingTransport(std::shared_ptr<whittle::HttpTransport> transport, std::string tokens_from = {})
        : transport_(std::move(transport)), tokens_from_(std::move(tokens_from)) {}

    whittle::HttpResponse send(const whittle::HttpRequest& request, const whittle::BodySink& on_body = {}) override;
    /// What was recorded since the last call of this.
    [[nodiscard]] std::vector<Exchange> take();

private:
    void add_tokens(std::string_view body, Exchange& exchange);
    [[nodiscard]] nlohmann::ordered_json ask(std::string_view path, const nlohmann::ordered_json& body);
    [[nodiscard]] std::vector<whittle::TokenId> tokens_of(std::string_view text, bool is_prompt);

    std::shared_ptr<whittle::HttpTransport> transport_;
    std::string tokens_from_;
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
