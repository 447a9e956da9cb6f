#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/draft.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <memory>
#include <optional>
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
    Transaction(Conversation<M>& conversation, std::string by, EditEnvironment environment)
        : Transaction(conversation, conversation.column(environment.counter), std::move(by), std::move(environment)) {}
    Transaction(Transaction&&) noexcept = default;

    /// What the conversation would be. A view: valid until the next edit.
    [[nodiscard]] MessageView<M> messages() const noexcept {
        return is_open() ? MessageView<M>::at(addresses()) : MessageView<M>(conversation_->messages());
    }

    void replace_range(std::size_t first, std::size_t last, std::vector<M> messages, Provenance provenance) {
        std::vector<const void*> addresses;
        for (M& message : messages) addresses.push_back(&new_.push_back(std::move(message)));
        replace(first, last, std::move(addresses), std::move(provenance));
    }
    void insert(std::size_t at, M message, Provenance provenance) {
        replace(at, at, {&new_.push_back(std::move(message))}, std::move(provenance));
    }

private:
    Transaction(Conversation<M>& conversation, std::size_t column, std::string by, EditEnvironment&& environment)
        : Draft(conversation.side_, column, std::move(by), std::move(environment)), conversation_(&conversation) {}

    [[nodiscard]] static const M& of(const void* message) noexcept { return *static_cast<const M*>(message); }
    [[nodiscard]] static M& of(void* message) noexcept { return *static_cast<M*>(message); }

    [[nodiscard]] const void* own_message(std::size_t base) const noexcept override {
        return &conversation_->messages_[base];
    }
    void read_all(const void* message, FunctionRef<void(const PartView&)> visit) const override {
        message_traits<M>::for_each_part(of(message), visit);
    }
    void read_part(const void* message, std::size_t part, bool keep_index,
                   FunctionRef<void(const PartView&)> visit) const override {
        if (!keep_index) return visit_one_part(of(message), part, visit);
        finders_[message].visit(of(message), part, visit);
    }
    [[nodiscard]] bool has_part_index() const noexcept override { return HasPartIndex<M>; }
    [[nodiscard]] MessageInfo describe_message(const void* message) const override { return describe(of(message)); }
    void count_into(MessageInfo& info, const void* message) const override {
        conversation_->count_into(info, of(message));
    }
    [[nodiscard]] Hash128 print_of(const void* message) const override { return fingerprint(of(message)); }
    [[nodiscard]] detail::BoundPrint bound_print_of(const void* message) const override {
        return detail::bound_print(of(message));
    }

    void* copy_to_edit(const void* message) override { return &edited_.emplace(of(message)); }
    [[nodiscard]] const void* make_new(Role role, std::string_view text) override {
        return &new_.push_back(message_traits<M>::make(role, text));
    }
    void set_text_of(void* copy, std::size_t part, std::string_view text) override {
        message_traits<M>::set_text(of(copy), part, text);
    }
    void erase_parts_of(void* copy, std::span<const std::size_t> parts) override {
        whittle::erase_parts_of(of(copy), parts);
    }
    void* keep_edited() override { return &kept_.push_back(*std::move(edited_)); }
    void put_edited(void* in_place_of) override {
        finders_.erase(in_place_of);
        of(in_place_of) = *std::move(edited_);
    }
    [[nodiscard]] bool set_in_place(void* message, std::size_t part, std::string_view text) override {
        return finders_[message].set_text_in_place(of(message), part, text);
    }
    void forget_copies() noexcept override {
        finders_.clear();
        edited_.reset();
        kept_.clear();
    }
    void forget_messages() noexcept override { new_.clear(); }

    void carry_out(std::span<const Stretch> stretches, JournalRecord record) override {
        const std::size_t from = conversation_->journal_.size();
        std::vector<Splice<M>> splices;
        splices.reserve(stretches.size());
        for (const Stretch& stretch : stretches) {
            Splice<M>& splice = splices.emplace_back(Splice<M>{stretch.first, stretch.count, {}, {}});
            for (Owned* const owned : stretch.items) {
                count_into(owned->info, owned->message);  // a counter may have come meanwhile
                splice.messages.push_back(std::move(of(owned->message)));
                splice.infos.push_back(std::move(owned->info));
            }
        }
        auto entry = std::make_shared<JournalEntry<M>>(JournalEntry<M>{std::move(record), {}});
        conversation_->commit(std::move(splices), std::move(entry));
        if (!conversation_->in_hook_) conversation_->settle(from);
    }

    Conversation<M>* conversation_;
    std::optional<M> edited_{};     // the copy that is edited now
    detail::StableList<M> kept_{};  // edited ones that stand in the projection
    detail::StableList<M> new_{};   // as they came, until the commit: what is taken back is made again from these
    mutable std::unordered_map<const void*, PartFinder<M>> finders_{};  // of messages that have several parts
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
