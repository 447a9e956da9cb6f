#pragma once

#include "whittle/base/event.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/model/detail/model_message.hpp"
#include "whittle/model/model.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What becomes of a reply to a request that the server has truncated.
enum class OnTruncation {
    refuse,  ///< it is dropped, and the call ends as an overflow: the chain makes the request smaller and asks again
    accept,  ///< it is passed on without its usage, which says nothing of the conversation
};

/// What is checked, and what follows.
struct TruncationCheckConfig {
    OnTruncation on_truncation = OnTruncation::refuse;  ///< what becomes of a reply to a request that was cut
    std::int64_t reported_window_tokens =
        0;                 ///< tokens, `ServerFacts::context_window`, for the overflow; 0: what was billed
    EventSink on_event{};  ///< gets a warning "silent_truncation" with what was sent at least and what was billed
};

/// A request that a server has truncated. Tokens.
struct SilentTruncation {
    std::int64_t sent_tokens_at_least = 0;  ///< at least
    std::int64_t billed_input_tokens = 0;   ///< input
};

namespace detail {

/// What is known of a request without asking its server.
struct SentRequest {
    std::vector<Hash128> messages{};
    Hash128 overhead{};          ///< system text and tools
    std::int64_t plain = 0;      ///< tokens, four bytes each, runs of one as one; without thinking, media and tools
    std::int64_t uncertain = 0;  ///< tokens of thinking, which templates leave out when a turn is over
    bool has_media = false;
};

void add_part(SentRequest& sent, Hash128& message, std::int64_t& bytes, const PartView& part);
void add_message(SentRequest& sent, Hash128 message, std::int64_t bytes);
void add_overhead(SentRequest& sent, std::string_view system, std::span<const ToolSpec> tools);

/// Takes the requests and bills of one conversation in order. Thread-safe. Conversations that share a detector can hide
/// truncations from it, but never cause a false report.
class TruncationDetector {
public:
    /// A truncation is certain where less was billed than what was sent comes to by eight bytes a token, or than the
    /// same messages without the newest were billed and these come to.
    [[nodiscard]] std::optional<SilentTruncation> detect(SentRequest sent, const Usage& usage);

private:
    std::mutex mutex_{};
    SentRequest before_{};
    std::int64_t least_before_ = 0;  ///< tokens of it: its bill, or what it had at least
};

void report_truncation(const EventSink& events, const SilentTruncation& truncation) noexcept;
[[nodiscard]] ModelError truncation_error(const SilentTruncation& truncation, std::int64_t window);

template <AgentMessage M>
[[nodiscard]] SentRequest sent_of(const ModelRequest<M>& request) {
    SentRequest sent;
    add_overhead(sent, request.system, request.tools);
    sent.messages.reserve(request.messages.size());
    for (const M& message : request.messages) {
        Hash128 hash{.low = static_cast<std::uint64_t>(message_traits<M>::role(message))};
        std::int64_t bytes = 0;
        message_traits<M>::for_each_part(message, [&](const PartView& part) { add_part(sent, hash, bytes, part); });
        add_message(sent, hash, bytes);
    }
    return sent;
}

template <AgentMessage M>
class TruncationCheckingModel final : public Model<M> {
public:
    TruncationCheckingModel(std::shared_ptr<Model<M>> model, TruncationCheckConfig config)
        : model_(std::move(model)), config_(std::move(config)) {}

    Reply<M> generate(const ModelRequest<M>& request) override {
        Reply<M> reply = model_->generate(request);
        if (!reply.usage) return reply;
        const std::optional<SilentTruncation> found = detector_.detect(sent_of(request), *reply.usage);
        if (!found) return reply;
        report_truncation(config_.on_event, *found);
        if (config_.on_truncation == OnTruncation::refuse)
            throw truncation_error(*found, config_.reported_window_tokens);
        reply.usage.reset();
        return reply;
    }

private:
    std::shared_ptr<Model<M>> model_;
    TruncationCheckConfig config_;
    TruncationDetector detector_{};
};

}  // namespace detail

/// `model`, checked for a server that drops the oldest messages of a request that is too large and reports no error, as
/// Ollama does. The billed input tokens show it. Costs O(bytes of the request) per call. One check per conversation.
/// Without a usage in the replies nothing is detected. Throws Error(invalid_argument) without a model.
template <typename ModelType>
[[nodiscard]] auto with_truncation_check(std::shared_ptr<ModelType> model, TruncationCheckConfig config = {}) {
    using M = detail::ModelMessage<ModelType>;
    if (model == nullptr) throw Error(Errc::invalid_argument, "check for truncation: there is no model");
    return std::shared_ptr<Model<M>>(
        std::make_shared<detail::TruncationCheckingModel<M>>(std::move(model), std::move(config)));
}

}  // namespace whittle::inline v0
