#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/conversation_port.hpp"
#include "whittle/conversation/draft.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A `Draft` of a conversation whose message type is known: what of it takes and gives messages.
template <AgentMessage M>
class Transaction final : public Draft {
public:
    Transaction(Conversation<M>& conversation, std::string by, EditEnvironment environment)
        : Draft(conversation.side_, conversation.column(environment.counter), std::move(by), std::move(environment),
                std::make_unique<Port>(conversation)) {}
    Transaction(Transaction&&) noexcept = default;

    /// What the conversation would be. A view: valid until the next edit.
    [[nodiscard]] MessageView<M> messages() const noexcept {
        return is_open() ? MessageView<M>::at(addresses()) : MessageView<M>(own_port().messages());
    }

    void replace_range(std::size_t first, std::size_t last, std::vector<M> messages, Provenance provenance) {
        std::vector<detail::AnyMessage> added;
        for (M& message : messages) added.push_back(own_port().add(std::move(message)));
        replace(first, last, std::move(added), std::move(provenance));
    }
    void insert(std::size_t at, M message, Provenance provenance) {
        replace(at, at, {own_port().add(std::move(message))}, std::move(provenance));
    }

private:
    using Port = detail::ConversationPort<M>;

    [[nodiscard]] Port& own_port() const noexcept { return static_cast<Port&>(port()); }
};

template <AgentMessage M>
Transaction<M> Conversation<M>::edit(std::string_view by) {
    return edit(by, EditEnvironment{});
}

template <AgentMessage M>
Transaction<M> Conversation<M>::edit(std::string_view by, EditEnvironment environment) {
    return Transaction<M>(*this, std::string(by), std::move(environment));
}

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_TRANSACTION
#include "whittle/base/detail/compiled_types.hpp"
