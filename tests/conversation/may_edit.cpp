// `Transaction::may_edit` against what a transaction really refuses, for every message type.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "whittle/chain/chain.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

Provenance tried() { return {.origin = Origin::placeholder, .reason = "try"}; }

/// Some messages are pinned, and some parts were made by another middleware.
template <typename M>
Conversation<M> seeded_conversation(std::uint64_t seed) {
    Dice dice(seed);
    Conversation<M> c("may");
    for (const ChatMessage& m : shaped<M>(generate_history(seed, {.broken = seed % 3 == 0}))) {
        for (const M& built : Builder<M>::build(m)) c.push_back(built);
    }
    auto other = c.edit("other", EditEnvironment{.verify = false});
    for (std::size_t i = 0; i < c.size(); ++i) {
        if (!other.outline()[i].parts.empty() && dice.one_in(5) && other.may_edit(i))
            other.replace_range(i, i + 1, {c.messages()[i]}, tried());
    }
    other.commit({.require_token_reduction = false});
    for (const MessageInfo& info : c.state().infos) {
        if (dice.one_in(8)) c.pin(info.serial);
    }
    return c;
}

/// Whether a rule about who may be edited refuses it. What the message type itself refuses is no such rule.
bool is_refused(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.errc() == Errc::pinned;
    } catch (const std::logic_error&) {
    }
    return false;
}

template <typename M>
using Try = std::function<void(Transaction<M>&)>;

template <typename M>
bool refuses(const Conversation<M>& c, const Try<M>& work) {
    Conversation<M> copy = c.fork("copy");
    auto edit = copy.edit("test", EditEnvironment{.verify = false});
    return is_refused([&] { work(edit); });
}

/// Whether that edit, alone, goes all the way. `is_refused` of the message type counts as none.
template <typename M>
bool goes_through(const Conversation<M>& c, const Try<M>& work) {
    Conversation<M> copy = c.fork("copy");
    auto edit = copy.edit("test", EditEnvironment{.verify = false});  // rules of who may be edited, not of providers
    try {
        work(edit);
    } catch (const std::logic_error&) {
        return true;
    }
    return edit.commit({.require_token_reduction = false}).committed();
}

template <typename M>
void erase_all_thinking(Transaction<M>& edit, std::size_t i) {
    for (std::size_t p = edit.outline()[i].parts.size(); p-- > 0;) {
        if (edit.outline()[i].parts[p].kind == PartKind::thinking) edit.erase_part(i, p, tried());
    }
}

template <typename M>
void check_message(const Conversation<M>& c, std::size_t i) {
    Conversation<M> asked_of = c.fork("asked");
    const auto asked = asked_of.edit("test");
    bool is_any_refused = refuses<M>(c, [&](auto& edit) { edit.erase(i, tried()); });
    CHECK(is_any_refused == refuses<M>(c, [&](auto& edit) { edit.mark(i, tried()); }));
    for (std::size_t p = 0; p < c.outline()[i].parts.size(); ++p) {
        const bool is_thinking = c.outline()[i].parts[p].kind == PartKind::thinking;
        const bool no_erase = refuses<M>(c, [&](auto& edit) { edit.erase_part(i, p, tried()); });
        const bool no_set = refuses<M>(c, [&](auto& edit) { edit.set_text(i, p, "{}", tried()); });
        INFO("part " << p);
        CHECK(asked.may_edit(i, p) == !no_erase);
        CHECK(no_set == (no_erase || is_thinking));
        is_any_refused = is_any_refused || no_erase;
    }
    CHECK_FALSE(asked.may_edit(i, c.outline()[i].parts.size()));
    REQUIRE(asked.may_edit(i) == !is_any_refused);
    if (!asked.may_edit(i)) return;
    CHECK(goes_through<M>(c, [&](auto& edit) { edit.erase(i, tried()); }));
    if (c.outline()[i].has(PartKind::thinking))
        CHECK(goes_through<M>(c, [&](auto& edit) { erase_all_thinking(edit, i); }));
    else if (!c.outline()[i].parts.empty())
        CHECK(goes_through<M>(c, [&](auto& edit) { edit.set_text(i, 0, "{}", tried()); }));
}

/// One random edit. True if it was refused although `may_edit` allowed it, or the other way round.
template <typename M>
bool contradicts(Transaction<M>& edit, Dice& dice) {
    const std::size_t i = dice.below(edit.outline().size() + 1);
    const std::size_t parts = i < edit.outline().size() ? edit.outline()[i].parts.size() : 0;
    const bool is_inserted = dice.one_in(6);
    if (is_inserted) {
        const Role role = dice.one_in(2) ? Role::user : Role::assistant;
        edit.insert(dice.one_in(2) ? i : edit.outline().size(), message_traits<M>::make(role, "new"), tried());
        return false;
    }
    if (parts == 0) return i == edit.outline().size() && edit.may_edit(i);
    const std::size_t p = dice.below(parts);
    const bool may = edit.may_edit(i, p);
    const bool is_thinking = edit.outline()[i].parts[p].kind == PartKind::thinking;
    const EditGroup edit_group = edit.begin_edit_group();
    const bool is_erase = is_thinking || dice.one_in(2);
    const bool is_kept = is_refused(
        [&] { is_erase ? edit.erase_part(i, p, tried()) : edit.set_text(i, p, dice.one_in(2) ? "" : "{}", tried()); });
    if (dice.one_in(4)) edit.drop_edit_group(edit_group);
    if (dice.one_in(20)) edit.allow_editing_open_results();
    return is_kept == may;
}

}  // namespace

TEST_CASE("may_edit says which edits are refused, and what it allows can be committed, for every message type",
          "[chain]") {
    for_each_message_type([](auto type) {
        using M = typename decltype(type)::type;
        std::size_t allowed = 0;
        std::size_t forbidden = 0;
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            const Conversation<M> c = seeded_conversation<M>(seed);
            for (std::size_t i = 0; i < c.size(); ++i) {
                INFO(Builder<M>::name << ", history " << seed << ", message " << i);
                check_message(c, i);
                Conversation<M> copy = c.fork("count");
                ++(copy.edit("test").may_edit(i) ? allowed : forbidden);
            }
        }
        CHECK(allowed > 20);
        CHECK(forbidden > 20);
    });
}

TEST_CASE("may_edit stays true to what is refused while edits are made and taken back", "[chain]") {
    for_each_message_type([](auto type) {
        using M = typename decltype(type)::type;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Conversation<M> c = seeded_conversation<M>(seed);
            Dice dice(seed + 500);
            auto edit = c.edit("test");
            for (int step = 0; step < 40; ++step) {
                INFO(Builder<M>::name << ", history " << seed << ", step " << step);
                REQUIRE_FALSE(contradicts(edit, dice));
            }
        }
    });
}

TEST_CASE("may_edit knows nothing of a message that is not there, and all of one under allow_editing_pinned",
          "[chain]") {
    Conversation<> c("may");
    c.push_back(ChatMessage::system("be brief"));
    c.push_back(ChatMessage::user("go"));
    auto edit = c.edit("test");
    CHECK_FALSE(edit.may_edit(2));
    CHECK_FALSE(edit.may_edit(0));
    CHECK_FALSE(edit.may_edit(1));
    edit.allow_editing_pinned(true);
    CHECK(edit.may_edit(0));
    CHECK(edit.may_edit(1, 0));
    CHECK_FALSE(edit.may_edit(1, 1));
}
