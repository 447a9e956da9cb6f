// A middleware that edits whatever it may, at random. The transaction has to refuse the rest.
#pragma once

#include "generators.hpp"
#include "whittle/chain/middleware.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

template <AgentMessage M>
class RandomEditor final : public Middleware<M> {
public:
    explicit RandomEditor(std::uint64_t seed, std::string name = "random editor")
        : seed_(seed), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }

    /// Acts once for each model call, then rests: what other middlewares do meanwhile is nothing new.
    void before_model(Turn<M>& turn) override {
        const std::int64_t call = turn.conversation.model_calls();
        if (turn.notes().integer("done_at") == call) return;
        Dice dice(seed_ * 1'000'003 + turn.conversation.version());
        bool is_done = false;
        for (int attempt = 0; attempt < 4 && !is_done; ++attempt) is_done = try_plan(turn, dice);
        turn.notes().set("done_at", call);
    }

private:
    /// True if it was committed. A plan that would make the history invalid is refused and forgotten.
    bool try_plan(Turn<M>& turn, Dice& dice) const {
        try {
            auto edit = turn.edit();
            for (std::size_t n = 1 + dice.below(5); n > 0; --n) try_edit(turn, edit, dice);
            return edit.commit().committed();
        } catch (const Error& error) {
            if (error.errc() != Errc::invalid_history) throw;
            return false;
        }
    }

    void try_edit(Turn<M>& turn, Transaction<M>& edit, Dice& dice) const {
        const EditGroup edit_group = dice.one_in(4) ? -1 : edit.begin_edit_group();
        try {
            edit_at_random(turn, edit, dice);
        } catch (const Error& error) {
            const bool is_refusal = error.errc() == Errc::pinned || error.errc() == Errc::invalid_argument;
            if (!is_refusal) throw;
        } catch (const std::logic_error&) {  // the message type's own refusal
        }
        if (edit_group != -1 && dice.one_in(9)) edit.drop_edit_group(edit_group);
    }

    void edit_at_random(Turn<M>& turn, Transaction<M>& edit, Dice& dice) const {
        const std::size_t size = edit.outline().size();
        const std::size_t at = dice.below(size + 1);
        const std::size_t part = dice.below(3);
        switch (dice.below(7)) {
            case 0:
            case 1: return cut(turn, edit, at, part, dice);
            case 2: return edit.erase_part(at, part, why("erase"));
            case 3: return edit.erase(at, why("drop"));
            case 4: return fold(edit, at, dice);
            case 5:
                return edit.insert(at, message_traits<M>::make(dice.one_in(3) ? Role::assistant : Role::user, "nudge"),
                                   why("nudge"));
            default: return edit.mark(at, why("look"));
        }
    }

    /// Replaces a text; stores it first if there is a store.
    void cut(Turn<M>& turn, Transaction<M>& edit, std::size_t at, std::size_t part, Dice& dice) const {
        static const std::vector<std::string> texts{"", "[cut]", "{}", "\xC3(", std::string(300, 'n')};
        Provenance provenance = why("cut");
        const auto texts_before = at < edit.messages().size() ? parts_of(edit.messages()[at]) : std::vector<Part>();
        if (!turn.config.storage || part >= texts_before.size())
            return edit.set_text(at, part, dice.pick(texts), std::move(provenance));
        const Serial serial = edit.outline()[at].serial;
        const std::string key = turn.conversation.id() + "/cut/" + std::to_string(serial) + "-" + std::to_string(part) +
                                "-" + std::to_string(turn.conversation.version()) + "-" +
                                std::to_string(dice.below(1'000'000));
        provenance.stored_keys.push_back(key);
        const bool was_original = !edit.first_changed().has_value();
        edit.set_text(at, part, dice.pick(texts), std::move(provenance));
        using Original = typename Transaction<M>::Original;
        edit.store_on_commit(key, texts_before[part].text,
                             was_original ? std::optional(Original{serial, part}) : std::nullopt);
    }

    void fold(Transaction<M>& edit, std::size_t at, Dice& dice) const {
        const std::size_t last = std::min(edit.outline().size(), at + dice.below(6));
        std::vector<M> messages;
        for (std::size_t n = dice.below(3); n > 0; --n)
            messages.push_back(message_traits<M>::make(Role::user, "folded"));
        edit.replace_range(at, last, std::move(messages), {.origin = Origin::summary, .reason = "fold"});
    }

    [[nodiscard]] static Provenance why(std::string reason) {
        return {.origin = Origin::placeholder, .reason = std::move(reason)};
    }

    std::uint64_t seed_;
    std::string name_;
};

}  // namespace whittle::testing
