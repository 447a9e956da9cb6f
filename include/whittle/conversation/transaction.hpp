#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/message_port.hpp"
#include "whittle/conversation/draft.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A `Draft` of a conversation whose message type is known: what of it takes and gives messages.
template <AgentMessage M>
class Transaction final : public Draft {
public:
    /// What `Conversation::edit` gives. `by` is the name in provenance and journal.
    Transaction(Conversation<M>& conversation, std::string by, EditEnvironment environment)
        : Draft(conversation.history_.side, detail::column_of(conversation.history_, environment.counter),
                std::move(by), std::move(environment),
                std::make_unique<Port>(conversation.history_, conversation.in_hook_)) {}
    Transaction(Transaction&&) noexcept = default;

    /// What the conversation would be. A view: valid until the next edit.
    [[nodiscard]] MessageView<M> messages() const noexcept {
        return is_open() ? MessageView<M>::at(addresses()) : MessageView<M>(own_port().messages());
    }

    /// Messages [first, last) make way for `messages`.
    void replace_range(std::size_t first, std::size_t last, std::vector<M> messages, Provenance provenance) {
        std::vector<detail::AnyMessage> added;
        for (M& message : messages) added.push_back(own_port().add(std::move(message)));
        replace(first, last, std::move(added), std::move(provenance));
    }
    /// Puts a message in front of `at`, which may be the number of messages.
    void insert(std::size_t at, M message, Provenance provenance) {
        replace(at, at, {own_port().add(std::move(message))}, std::move(provenance));
    }

private:
    friend class Conversation<M>;  // its `repair`
    class Port;

    [[nodiscard]] Port& own_port() const noexcept { return static_cast<Port&>(port()); }
};

template <AgentMessage M>
class Transaction<M>::Port final : public detail::MessagePort {
    using AnyMessage = detail::AnyMessage;
    using AnyCopy = detail::AnyCopy;

public:
    Port(detail::History<M>& history, const bool& is_in_hook) noexcept
        : MessagePort({HasPartIndex<M>, ToolMessage<M>, HasRenameCall<M>}),
          history_(history),
          is_in_hook_(is_in_hook) {}

    [[nodiscard]] std::span<const M> messages() const noexcept { return history_.messages; }
    [[nodiscard]] AnyMessage add(M message) { return new_.emplace_back(std::make_unique<M>(std::move(message))).get(); }

    [[nodiscard]] AnyMessage original(std::size_t index) const noexcept override {
        return std::addressof(history_.messages[index]);
    }
    void visit_parts(AnyMessage message, Visit visit) const override {
        message_traits<M>::for_each_part(of(message), visit);
    }
    void visit_part(AnyMessage message, std::size_t part, bool keep_index, Visit visit) override {
        if (!keep_index) return visit_one_part(of(message), part, visit);
        finders_[message].visit(of(message), part, visit);
    }
    [[nodiscard]] MessageInfo describe(AnyMessage message) const override {
        MessageInfo info = whittle::describe(of(message));
        detail::count_into(info, of(message), history_.side.columns);
        return info;
    }
    [[nodiscard]] detail::BoundFingerprint bound_fingerprint(AnyMessage message) const override {
        return detail::bound_fingerprint(of(message));
    }

    [[nodiscard]] AnyMessage make(Role role, std::string_view text) override {
        return add(message_traits<M>::make(role, text));
    }
    [[nodiscard]] std::vector<AnyMessage> make_results(const ToolResult& result) override {
        std::vector<AnyMessage> added;
        if constexpr (ToolMessage<M>) {
            for (M& message : message_traits<M>::make_tool_results({&result, 1}))
                added.push_back(add(std::move(message)));
        }
        return added;
    }
    [[nodiscard]] AnyCopy copy_with_text(AnyMessage message, std::size_t part, std::string_view text) override {
        auto copy = std::make_unique<M>(of(message));
        message_traits<M>::set_text(*copy, part, text);
        return copy.release();
    }
    [[nodiscard]] AnyCopy copy_without(AnyMessage message, std::span<const std::size_t> parts) override {
        auto copy = std::make_unique<M>(of(message));
        erase_parts_of(*copy, parts);
        return copy.release();
    }
    [[nodiscard]] AnyCopy copy_renamed(AnyMessage message, std::span<const NewName> names) override {
        auto copy = std::make_unique<M>(of(message));
        PartFinder<M> parts;
        for (const auto& [part, call_id, tool] : names) {
            if (parts.rename_call_in_place(*copy, part, call_id, tool)) continue;
            if constexpr (HasRenameCall<M>) message_traits<M>::rename_call(*copy, part, call_id, tool);
        }
        return copy.release();
    }
    [[nodiscard]] bool set_text_in_place(AnyCopy copy, std::size_t part, std::string_view text) override {
        return finders_[copy].set_text_in_place(of(copy), part, text);
    }
    void free_copy(AnyCopy copy) noexcept override {
        finders_.erase(copy);
        delete static_cast<M*>(copy);
    }

    bool commit(const Replacement& replacement, JournalRecord record) override {
        finders_.clear();
        const auto added = std::exchange(new_, {});
        const std::size_t from = history_.journal.size();
        std::vector<Splice<M>> splices;
        splices.reserve(replacement.stretches.size());
        for (const Stretch& stretch : replacement.stretches) {
            Splice<M>& splice = splices.emplace_back(Splice<M>{stretch.first, stretch.count, {}, {}});
            for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
                const auto& [copy, info] = replacement.copies[i];
                detail::count_into(*info, of(copy), history_.side.columns);  // a counter may have come meanwhile
                splice.messages.push_back(std::move(of(copy)));
                splice.infos.push_back(std::move(*info));
            }
        }
        auto entry = std::make_shared<JournalEntry<M>>(JournalEntry<M>{std::move(record), {}});
        const bool is_prefix_edit = detail::commit(history_, splices, std::move(entry));
        if (!is_in_hook_) detail::settle(history_, from);
        return is_prefix_edit;
    }

private:
    [[nodiscard]] static const M& of(AnyMessage message) noexcept { return *static_cast<const M*>(message); }
    [[nodiscard]] static M& of(AnyCopy copy) noexcept { return *static_cast<M*>(copy); }

    detail::History<M>& history_;
    const bool& is_in_hook_;
    std::vector<std::unique_ptr<M>> new_{};  // as they came: what is taken back is made again from these
    std::unordered_map<AnyMessage, PartFinder<M>> finders_{};  // of messages that have several parts
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
