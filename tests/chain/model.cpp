// Rng edits against a plain vector that does the same the naive way.
#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

using Messages = std::vector<ChatMessage>;
using Rng = std::mt19937;

Messages messages_of(const Conversation<>& c) { return {c.messages().begin(), c.messages().end()}; }

std::size_t below(std::size_t n, Rng& random) { return n == 0 ? 0 : random() % n; }

std::string random_text(Rng& random) { return std::string(1 + random() % 40, static_cast<char>('a' + random() % 26)); }

ChatMessage random_message(Rng& random) {
    ChatMessage m =
        random() % 2 == 0 ? ChatMessage::user(random_text(random)) : ChatMessage::assistant(random_text(random));
    for (auto extra = random() % 3; extra > 0; --extra) m.parts.push_back({.text = random_text(random)});
    return m;
}

EditEnvironment unverified() {
    EditEnvironment environment;
    environment.validity = nullptr;
    return environment;
}

/// One random edit on both sides.
void edit_at_random(Transaction<ChatMessage>& edit, Messages& expected, Rng& random) {
    const Provenance why{.origin = Origin::placeholder, .reason = "test"};
    const std::size_t at = below(expected.size(), random);
    switch (random() % 5) {
        case 0:
            if (expected.empty() || expected[at].parts.empty()) return;
            {
                const std::size_t part = below(expected[at].parts.size(), random);
                const std::string text = random_text(random);
                edit.set_text(at, part, text, why);
                expected[at].parts[part].text = text;
            }
            return;
        case 1:
            if (expected.empty() || expected[at].parts.size() < 2) return;
            {
                const std::size_t part = below(expected[at].parts.size(), random);
                edit.erase_part(at, part, why);
                expected[at].parts.erase(expected[at].parts.begin() + static_cast<std::ptrdiff_t>(part));
            }
            return;
        case 2: {
            const std::size_t place = below(expected.size() + 1, random);
            const ChatMessage fresh = random_message(random);
            edit.insert(place, fresh, why);
            expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(place), fresh);
            return;
        }
        case 3:
            if (expected.empty()) return;
            edit.erase(at, why);
            expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(at));
            return;
        default: {
            const std::size_t last = at + below(expected.size() - at + 1, random);
            Messages fresh;
            for (auto n = random() % 4; n > 0; --n) fresh.push_back(random_message(random));
            edit.replace_range(at, last, fresh, why);
            const auto first = expected.begin() + static_cast<std::ptrdiff_t>(at);
            expected.insert(expected.erase(first, expected.begin() + static_cast<std::ptrdiff_t>(last)), fresh.begin(),
                            fresh.end());
        }
    }
}

std::int64_t count_all(const Messages& messages, const TokenCounter& counter) {
    std::int64_t tokens = 0;
    for (const ChatMessage& m : messages) tokens += count_message(m, counter);
    return tokens;
}

/// The side table says of every message what the message is.
void require_consistent(Conversation<>& c, const std::shared_ptr<const TokenCounter>& counter) {
    REQUIRE(c.outline().size() == c.size());
    std::vector<Serial> serials;
    for (std::size_t i = 0; i < c.size(); ++i) {
        const MessageInfo& info = c.outline()[i];
        REQUIRE(info.fingerprint == fingerprint(c.messages()[i]));
        REQUIRE(info.parts.size() == c.messages()[i].parts.size());
        serials.push_back(info.serial);
    }
    std::ranges::sort(serials);
    REQUIRE(std::ranges::adjacent_find(serials) == serials.end());
    REQUIRE(c.tokens(counter) == count_all(messages_of(c), *counter));
}

}  // namespace

TEST_CASE("a transaction shows and commits what the same edits do to a plain list", "[chain][model]") {
    const auto counter = chars_counter();
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Rng random(seed);
        Conversation<> c("model");
        for (std::size_t n = random() % 12; n > 0; --n) c.push_back(random_message(random));

        Messages expected = messages_of(c);
        auto edit = c.edit("test", unverified());
        edit.allow_editing_pinned(true);
        for (auto n = random() % 10; n > 0; --n) {
            edit_at_random(edit, expected, random);
            REQUIRE(Messages(edit.messages().begin(), edit.messages().end()) == expected);
            REQUIRE(edit.tokens_after() == count_all(expected, *counter));
            REQUIRE(edit.outline().size() == expected.size());
        }
        const auto first = edit.first_changed();
        const Messages before = messages_of(c);
        for (std::size_t i = 0; i < first.value_or(before.size()); ++i) REQUIRE(before[i] == expected[i]);
        edit.commit({.require_token_reduction = false});
        REQUIRE(messages_of(c) == expected);
        require_consistent(c, counter);
    }
}

TEST_CASE("undoing every entry, newest first, gives the first list, and hosts can follow from any version",
          "[chain][model]") {
    const auto counter = chars_counter();
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Rng random(seed);
        Conversation<> c("model");
        std::vector<std::pair<std::uint64_t, Messages>> hosts;
        std::vector<Messages> undone;  // what each undo must give
        const auto note = [&] { hosts.emplace_back(c.version(), messages_of(c)); };
        for (int step = 0; step < 12; ++step) {
            for (auto n = random() % 4; n > 0; --n) {
                const ChatMessage fresh = random_message(random);
                c.push_back(fresh);
                for (Messages& m : undone) m.push_back(fresh);
                if (random() % 2 == 0) note();
            }
            if (random() % 5 == 0 && c.undo()) {
                REQUIRE(messages_of(c) == undone.back());
                undone.pop_back();
            }
            Messages expected = messages_of(c);
            auto edit = c.edit("test", unverified());
            edit.allow_editing_pinned(true);
            for (auto n = random() % 5; n > 0; --n) edit_at_random(edit, expected, random);
            const Messages before = messages_of(c);
            if (edit.commit({.require_token_reduction = false}).committed()) undone.push_back(before);
            require_consistent(c, counter);
            note();
        }
        for (const auto& [version, list] : hosts) {
            Messages host = list;
            c.apply_to(host, version);
            REQUIRE(host == messages_of(c));
        }
        REQUIRE(c.journal().size() == undone.size());
        for (; !undone.empty(); undone.pop_back()) {
            REQUIRE(c.undo());
            REQUIRE(messages_of(c) == undone.back());
            require_consistent(c, counter);
        }
        REQUIRE_FALSE(c.undo());
        for (const auto& [version, list] : hosts) {
            Messages host = list;
            c.apply_to(host, version);
            REQUIRE(host == messages_of(c));
        }
    }
}

TEST_CASE("dropping edit groups leaves the edits of the others", "[chain][model]") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Rng random(seed);
        Conversation<> c("model");
        for (std::size_t n = 3 + random() % 10; n > 0; --n) c.push_back(random_message(random));
        // Each edit group concerns one message of its own; edit group k is about message k - 1.
        const bool with_structure = random() % 2 == 0;
        std::vector<Messages> now;  // what stands in each message's place
        for (const ChatMessage& m : c.messages()) now.push_back({m});
        auto edit = c.edit("test", unverified());
        edit.allow_editing_pinned(true);
        std::vector<EditGroup> edit_groups;
        for (std::size_t k = 0; k < now.size(); ++k) {
            std::size_t at = 0;
            for (std::size_t i = 0; i < k; ++i) at += now[i].size();
            edit_groups.push_back(edit.begin_edit_group());
            if (random() % 3 == 0) continue;
            if (with_structure && random() % 2 == 0) {
                now[k] = random() % 2 == 0 ? Messages{} : Messages{random_message(random), random_message(random)};
                edit.replace_range(at, at + 1, now[k], {.origin = Origin::summary});
            } else {
                now[k][0].parts[0].text = random_text(random);
                edit.set_text(at, 0, now[k][0].parts[0].text, {.origin = Origin::placeholder});
            }
        }
        for (std::size_t k = 0; k < now.size(); ++k) {
            if (random() % 2 == 0) continue;
            edit.drop_edit_group(edit_groups[k]);
            now[k] = {c.messages()[k]};
        }
        Messages expected;
        for (const Messages& m : now) expected.insert(expected.end(), m.begin(), m.end());
        REQUIRE(Messages(edit.messages().begin(), edit.messages().end()) == expected);
        REQUIRE(edit.tokens_after() == count_all(expected, *chars_counter()));
        edit.commit({.require_token_reduction = false});
        REQUIRE(messages_of(c) == expected);
    }
}

TEST_CASE("dropping the edit of one part leaves those of the message's other parts", "[chain][model]") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        Rng random(seed);
        Conversation<> c("model");
        ChatMessage message = ChatMessage::user("front");
        for (int i = 0; i < 4; ++i) message.parts.push_back({.text = random_text(random)});
        c.push_back(message);
        auto edit = c.edit("test", unverified());
        edit.allow_editing_pinned(true);
        ChatMessage expected = message;
        std::vector<std::pair<EditGroup, std::size_t>> edit_groups;
        for (int i = 0; i < 8; ++i) {
            edit_groups.emplace_back(edit.begin_edit_group(), random() % 5);
            edit.set_text(0, edit_groups.back().second, std::string(1, static_cast<char>('A' + i)), {});
        }
        const auto [dropped, part] = edit_groups[random() % edit_groups.size()];
        edit.drop_edit_group(dropped);  // with those that set the text of this part again
        for (const auto& [edit_group, at] : edit_groups) {
            if (at != part || edit_group < dropped)
                expected.parts[at].text = std::string(1, static_cast<char>('A' + edit_group - edit_groups[0].first));
        }
        REQUIRE(edit.messages()[0] == expected);
    }
}

TEST_CASE("a failed hook takes back every commit of its middlewares, whatever these were", "[chain][model]") {
    struct Editor final : Middleware<> {
        explicit Editor(unsigned seed) : random(seed) {}
        std::string_view name() const noexcept override { return "editor"; }
        void before_model(Turn<>& turn) override {
            turn.notes().set("seen", std::int64_t{1});
            for (int commits = 0; commits < 3; ++commits) {
                Messages expected = messages_of(turn.conversation);
                auto edit = turn.edit();
                edit.allow_editing_pinned(true);
                for (auto n = random() % 5; n > 0; --n) edit_at_random(edit, expected, random);
                edit.commit({.require_token_reduction = false});
                (void)turn.conversation.tokens(pessimistic_counter());
            }
            throw Error(Errc::callback_failed, "as planned");
        }
        Rng random;
    };
    for (const OnError on_error : {OnError::skip, OnError::propagate}) {
        for (unsigned seed = 0; seed < 150; ++seed) {
            CAPTURE(seed);
            Rng random(seed);
            Conversation<> c("model");
            for (std::size_t n = random() % 8; n > 0; --n) c.push_back(random_message(random));
            const Chain chain{ChainConfig{.verify = false, .on_error = on_error}, std::make_shared<Editor>(seed)};
            const Messages before = messages_of(c);
            const auto version = c.version();
            if (on_error == OnError::skip) {
                REQUIRE(chain.before_model(c).find("editor")->outcome == Outcome::failed);
            } else {
                REQUIRE_THROWS_AS(chain.before_model(c), Error);
            }
            REQUIRE(messages_of(c) == before);
            REQUIRE(c.version() == version);
            REQUIRE(c.journal().empty());
            REQUIRE(c.middleware_notes().all().empty());
            REQUIRE(c.state().counters.next_serial == before.size() + 1);
            require_consistent(c, chars_counter());
            require_consistent(c, pessimistic_counter());
        }
    }
}

TEST_CASE("sync gives the host's list and one journal entry that undoes it", "[chain][model]") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Rng random(seed);
        Conversation<> c("model");
        for (std::size_t n = random() % 10; n > 0; --n) c.push_back(random_message(random));
        const Messages before = messages_of(c);
        Messages host = before;
        for (auto n = random() % 3; n > 0 && !host.empty(); --n) {
            const auto at = host.begin() + static_cast<std::ptrdiff_t>(below(host.size(), random));
            if (random() % 2 == 0) {
                host.erase(at);
            } else {
                *at = random_message(random);
            }
        }
        for (auto n = random() % 3; n > 0; --n) host.push_back(random_message(random));
        const SyncResult result = c.sync(host);
        REQUIRE(messages_of(c) == host);
        require_consistent(c, chars_counter());
        if (!result.diverged) continue;
        REQUIRE(c.journal().size() == 1);
        REQUIRE(c.undo());
        REQUIRE(messages_of(c) == before);
    }
}
