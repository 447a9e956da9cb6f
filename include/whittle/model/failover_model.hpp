#pragma once

#include "whittle/base/error.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/model/detail/model_message.hpp"
#include "whittle/model/detail/restart.hpp"
#include "whittle/model/model.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A model of the list that failed. Valid during the call.
struct FailoverNotice {
    std::string_view purpose{};    ///< of the request (`ModelRequest::purpose`)
    StopToken stop{};              ///< of the request
    std::size_t failed_index = 0;  ///< its place in the list
    const ModelError& error;       ///< what it threw
};

/// What a host may decide and watch. Called on the thread of the call.
struct FailoverModelCallbacks {
    /// Whether the next model of the list is asked. Absent: `may_fail_over(error.error_class())`.
    std::function<bool(const FailoverNotice&)> should_failover{};
    /// Before the next model is asked. What it throws ends the call.
    std::function<void(const FailoverNotice&)> on_failover{};
    /// As in `RetryModelCallbacks`: discards what the failed model streamed. Absent: a model that failed after it had
    /// streamed something is the last one asked.
    std::function<void()> on_stream_restart{};
};

/// rate_limit, server, transport and auth: another model may answer the same request. Not overflow, which the chain
/// answers by compaction, nor what is wrong with the request itself.
[[nodiscard]] bool may_fail_over(ModelErrorClass error_class) noexcept;

namespace detail {

template <AgentMessage M>
class FailoverList final : public Model<M> {
public:
    FailoverList(std::vector<std::shared_ptr<Model<M>>> models, FailoverModelCallbacks callbacks)
        : models_(std::move(models)), callbacks_(std::move(callbacks)) {}

    Reply<M> generate(const ModelRequest<M>& request) override {
        Attempts<M> attempts(request, callbacks_.on_stream_restart);
        for (std::size_t i = 0;; ++i) {
            attempts.require_running();
            try {
                return attempts.ask(*models_[i]);
            } catch (const ModelError& error) {
                attempts.require_running();
                const FailoverNotice notice{request.purpose, request.stop, i, error};
                if (i + 1 == models_.size() || !attempts.may_restart() || !wants_next(notice)) throw;
                if (callbacks_.on_failover) callbacks_.on_failover(notice);
            }
            attempts.restart();
        }
    }

private:
    [[nodiscard]] bool wants_next(const FailoverNotice& notice) const {
        if (notice.error.error_class() == ModelErrorClass::cancelled) return false;
        if (callbacks_.should_failover) return callbacks_.should_failover(notice);
        return may_fail_over(notice.error.error_class());
    }

    std::vector<std::shared_ptr<Model<M>>> models_;
    FailoverModelCallbacks callbacks_;
};

}  // namespace detail

/// Asks the first of `models`, and the next one after a failure. Each call starts with the first. The last asked
/// model's error goes to the caller as it is. To retry each before the next is asked, put `with_retry` around it.
/// Thread-safe if the models and the callbacks are. Throws `Error(invalid_argument)` for an empty list or a null in it.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> with_failover(std::vector<std::shared_ptr<Model<M>>> models,
                                                      FailoverModelCallbacks callbacks = {}) {
    if (models.empty() || std::any_of(models.begin(), models.end(), [](const auto& model) { return !model; }))
        throw Error(Errc::invalid_argument,
                    "make a model with failover: the list is empty or holds no model somewhere");
    return std::make_shared<detail::FailoverList<M>>(std::move(models), std::move(callbacks));
}

/// Takes pointers to a host's own model class, which says the message type.
template <typename T>
[[nodiscard]] std::shared_ptr<Model<detail::ModelMessage<T>>> with_failover(
    const std::vector<std::shared_ptr<T>>& models, FailoverModelCallbacks callbacks = {}) {
    return with_failover(std::vector<std::shared_ptr<Model<detail::ModelMessage<T>>>>(models.begin(), models.end()),
                         std::move(callbacks));
}
/// Takes such pointers in braces.
template <typename T>
[[nodiscard]] std::shared_ptr<Model<detail::ModelMessage<T>>> with_failover(
    std::initializer_list<std::shared_ptr<T>> models, FailoverModelCallbacks callbacks = {}) {
    return with_failover(std::vector<std::shared_ptr<Model<detail::ModelMessage<T>>>>(models.begin(), models.end()),
                         std::move(callbacks));
}

}  // namespace whittle::inline v0
