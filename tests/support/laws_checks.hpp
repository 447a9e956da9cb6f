// One function per promise L1 to L9 and L11; each lists what broke. laws.hpp runs them all.
#pragma once

#include "faulty_storage.hpp"
#include "laws_world.hpp"
#include "whittle/base/platform.hpp"

#if WHITTLE_HAVE_SAVED
#    include "whittle/saved/side_table.hpp"
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

/// What broke a law; empty: it holds.
using Failures = std::vector<std::string>;

namespace detail {

inline std::vector<Mark> marks_of(const MessageInfo& info) {
    std::vector<Mark> marks{info.mark};
    for (const PartInfo& part : info.parts) marks.push_back(part.mark);
    return marks;
}

/// Undoes everything. A failed `undo` leaves no trace, and the next one works.
template <AgentMessage M>
void undo_all(World<M>& world, Failures& failures) {
    for (bool more = true; more;) {
        const std::string before = snapshot(world.conversation);
        try {
            more = world.conversation.undo();
        } catch (const Error&) {
            const std::string after = snapshot(world.conversation);
            if (after != before) failures.push_back("a failed undo left a trace: " + difference(before, after));
            more = world.conversation.undo();
        }
    }
}

template <AgentMessage M>
void expect_originals(World<M>& world, Failures& failures) {
    undo_all(world, failures);
    const auto now = all_bytes(world.conversation.messages());
    const auto then = all_bytes(std::span<const M>(world.originals));
    if (now.size() != then.size())
        failures.push_back("undo left " + std::to_string(now.size()) + " messages of " + std::to_string(then.size()));
    for (std::size_t i = 0; i < std::min(now.size(), then.size()); ++i) {
        if (now[i] != then[i])
            failures.push_back("message " + std::to_string(i) + " came back otherwise: " + difference(now[i], then[i]));
    }
}

/// Keys that the side table names but the store has not acknowledged.
template <AgentMessage M>
void expect_acknowledged(const World<M>& world, Failures& failures) {
    for (std::size_t i = 0; i < world.conversation.size(); ++i) {
        for (const Mark& mark : marks_of(world.conversation.outline()[i])) {
            for (const std::string& key : mark ? mark->stored_keys : std::vector<std::string>{}) {
                if (!world.storage->acknowledged().contains(key))
                    failures.push_back("\"" + key + "\" is named but was not stored yet");
            }
        }
    }
}

}  // namespace detail

/// Valid out: no violation that was not there before, by either profile of the message type.
template <AgentMessage M>
Failures check_valid_out(const Subject<M>& subject, const History& history) {
    Failures failures;
    for (const ValidityProfile* profile : law_profiles<M>()) {
        World<M> world(subject, {.validity = *profile});
        world.drive(history, [&] {
            const auto before = validate(world.conversation.outline(), *profile);
            const bool was_valid = validate(world.conversation.messages(), *profile).empty();
            world.ask();
            const auto after = validate(world.conversation.outline(), *profile);
            for (const Violation& v : new_violations(before, after)) {
                failures.push_back(profile->name + " " + std::string(to_string(v.rule)) + " at message " +
                                   std::to_string(v.message_index) + ": " + v.text);
            }
            if (was_valid && !validate(world.conversation.messages(), *profile).empty())
                failures.push_back(profile->name + ": valid in, invalid out");
        });
    }
    return failures;
}

/// Store first: a key is named only once its write was acknowledged, and gives back what was written.
template <AgentMessage M>
Failures check_store_first(const Subject<M>& subject, const History& history) {
    Failures failures;
    World<M> world(subject);
    world.storage->before_put = [&] { detail::expect_acknowledged(world, failures); };
    world.drive(history, [&] {
        world.ask();
        detail::expect_acknowledged(world, failures);
    });
    for (const auto& [key, content] : world.storage->acknowledged()) {
        if (world.storage->get(key, 0, INT64_MAX) != content) failures.push_back("the store lost \"" + key + "\"");
    }
    return failures;
}

/// Nothing lost: undoing everything gives back what was put in.
template <AgentMessage M>
Failures check_nothing_lost(const Subject<M>& subject, const History& history) {
    Failures failures;
    World<M> world(subject);
    world.drive(history, [&] { world.ask(); });
    detail::expect_originals(world, failures);
    return failures;
}

/// Untouched means identical: what carries no new mark has the same bytes, the first change is reported, and a host can
/// follow by `apply_to`.
template <AgentMessage M>
Failures check_untouched(const Subject<M>& subject, const History& history) {
    Failures failures;
    World<M> world(subject);
    world.drive(history, [&] {
        const auto before = world.conversation.state();
        const auto bytes_before = all_bytes(std::span<const M>(before.messages));
        std::size_t first_changed = bytes_before.size();
        int commits = 0;
        for (const StageReport& stage : world.ask().stages) {
            if (stage.outcome != Outcome::committed) continue;
            first_changed = std::min(first_changed, stage.details->first_changed.value_or(0));
            ++commits;
        }
        const auto bytes_now = all_bytes(world.conversation.messages());
        const Outline outline = world.conversation.outline();
        const auto is_same = [&](std::size_t i) {
            return bytes_before[i] == bytes_now[i] && before.infos[i].serial == outline[i].serial &&
                   detail::marks_of(before.infos[i]) == detail::marks_of(outline[i]);
        };
        std::size_t differs = 0;
        while (differs < std::min(bytes_before.size(), bytes_now.size()) && is_same(differs)) ++differs;
        const bool is_edited = differs < bytes_before.size() || differs < bytes_now.size();
        // A later stage may take back what an earlier one did: then the reports only bound the first change.
        const bool is_wrong = commits > 1 ? differs < first_changed : differs != first_changed;
        if (is_edited && is_wrong) {
            failures.push_back("the first change is at " + std::to_string(differs) + ", reported was " +
                               std::to_string(first_changed));
        }
        for (std::size_t i = 0; i < bytes_before.size(); ++i) {
            const auto now = outline.index_of(before.infos[i].serial);
            if (!now || detail::marks_of(outline[*now]) != detail::marks_of(before.infos[i]) ||
                bytes_now[*now] == bytes_before[i])
                continue;
            failures.push_back("message " + std::to_string(i) +
                               " changed without a mark: " + difference(bytes_before[i], bytes_now[*now]));
        }
        std::vector<M> host = before.messages;
        world.conversation.apply_to(host, before.counters.version);
        if (all_bytes(std::span<const M>(host)) != bytes_now)
            failures.push_back("a host that follows replacements_since has other messages");
    });
    return failures;
}

/// Idempotent: asking again without anything new changes nothing.
template <AgentMessage M>
Failures check_idempotent(const Subject<M>& subject, const History& history) {
    Failures failures;
    World<M> world(subject);
    world.drive(history, [&] {
        world.ask();
        const auto once = all_bytes(world.conversation.messages());
        const std::size_t entries = world.conversation.journal().size();
        const std::uint64_t version = world.conversation.version();
        world.ask();
        if (all_bytes(world.conversation.messages()) != once) failures.push_back("the second run changed messages");
        if (world.conversation.journal().size() != entries) failures.push_back("the second run made a journal entry");
        if (world.conversation.version() != version) failures.push_back("the second run changed the version");
    });
    return failures;
}

/// Never larger: a commit lowers the count.
template <AgentMessage M>
Failures check_never_larger(const Subject<M>& subject, const History& history) {
    Failures failures;
    World<M> world(subject);
    const auto count = [&] {
        std::int64_t tokens = 0;
        for (const M& m : world.conversation.messages())
            tokens += count_message(m, *world.chain.config().token_counter);
        return tokens;
    };
    world.drive(history, [&] {
        const std::size_t entries = world.conversation.journal().size();
        const std::int64_t before = count();
        const bool changed = world.ask().changed() || world.conversation.journal().size() != entries;
        const std::int64_t after = count();
        if (changed && after >= before)
            failures.push_back("a commit went from " + std::to_string(before) + " to " + std::to_string(after) +
                               " tokens");
        if (world.conversation.tokens(world.chain.config().token_counter) != after)
            failures.push_back("the conversation's count is off");
    });
    return failures;
}

namespace detail {

/// What must stay as it is: a whole message, or only its results of protected tools.
struct Pinned {
    Serial serial = 0;
    std::string bytes{};
    bool is_whole = true;
};

template <AgentMessage M>
std::string protected_texts(const Conversation<M>& conversation, const ChainConfig& config, std::size_t message) {
    std::string texts;
    std::size_t p = 0;
    for (const Part& part : parts_of(conversation.messages()[message])) {
        const PartInfo& info = conversation.outline()[message].parts[p++];
        const bool is_result = info.kind == PartKind::tool_result;
        if (is_result && std::ranges::count(config.protected_tools, info.tool) > 0)
            texts += info.call_id.str() + '\n' + part.text + '\n';
    }
    return texts;
}

template <AgentMessage M>
std::string bytes_to_keep(const Conversation<M>& conversation, const ChainConfig& config, std::size_t message,
                          bool is_whole) {
    return is_whole ? bytes_of(conversation.messages()[message]) : protected_texts(conversation, config, message);
}

/// The newest request: a message of the user's own, without tool results.
template <AgentMessage M>
std::size_t newest_request(const Conversation<M>& conversation) {
    for (std::size_t i = conversation.size(); i-- > 0;) {
        const MessageInfo& info = conversation.outline()[i];
        const std::vector<Part> parts = parts_of(conversation.messages()[i]);
        const auto is_text = [](const Part& part) { return part.kind == PartKind::text && !part.text.empty(); };
        const auto is_result = [](const Part& part) {
            return part.kind == PartKind::tool_result || (part.kind == PartKind::media && !part.call_id.empty());
        };
        const bool is_theirs = info.role == Role::user && origin_of(info.mark) == Origin::original;
        if (is_theirs && std::ranges::any_of(parts, is_text) && std::ranges::none_of(parts, is_result)) return i;
    }
    return conversation.size();
}

/// In order.
template <AgentMessage M>
std::vector<Pinned> pinned_of(const Conversation<M>& conversation, const ChainConfig& config, bool with_protected) {
    std::vector<Pinned> pinned;
    const Outline outline = conversation.outline();
    const std::size_t newest = newest_request(conversation);
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        const bool is_open = outline.open_round_serial() != 0 && info.round_serial == outline.open_round_serial();
        const bool is_whole = info.role == Role::system || newest == i || is_open || info.pinned;
        std::string bytes = is_whole || with_protected ? bytes_to_keep(conversation, config, i, is_whole) : "";
        if (is_whole || !bytes.empty()) pinned.push_back({info.serial, std::move(bytes), is_whole});
    }
    return pinned;
}

}  // namespace detail

/// Pinned: system text, the newest user message, the open round, results of protected tools and the host's pins stay,
/// in order.
template <AgentMessage M>
Failures check_pinned(const Subject<M>& subject, const History& history) {
    Failures failures;
    if (!subject.options.keeps_pins) return failures;
    World<M> world(subject);
    world.drive(history, [&] {
        const auto pinned =
            detail::pinned_of(world.conversation, world.chain.config(), subject.options.keeps_protected_tools);
        world.ask();
        // The exception: a request known to be above the window, of which results of the open round are shortened.
        const bool was_above = std::ranges::any_of(world.conversation.report().stages, [](const StageReport& stage) {
            return stage.hook == Hook::on_overflow;
        });
        std::size_t from = 0;
        for (const auto& [serial, bytes, is_whole] : pinned) {
            const auto at = world.conversation.outline().index_of(serial);
            if (!at || *at < from) {
                failures.push_back("pinned message " + std::to_string(serial) + " is gone or moved");
                continue;
            }
            from = *at;
            const MessageInfo& info = world.conversation.outline()[*at];
            if (was_above && subject.options.context_window > 0 && info.has(PartKind::tool_result) && !info.pinned)
                continue;
            const std::string now = detail::bytes_to_keep(world.conversation, world.chain.config(), *at, is_whole);
            if (now != bytes)
                failures.push_back("pinned message " + std::to_string(serial) + " changed: " + difference(bytes, now));
        }
    });
    return failures;
}

/// Deterministic: the same middleware twice, and a fresh one, give the same conversation and the same objects.
template <AgentMessage M>
Failures check_deterministic(const Subject<M>& subject, const History& history) {
    Failures failures;
    const Stages<M> shared = subject.make();
    std::vector<std::pair<std::string, std::map<std::string, std::string, std::less<>>>> runs;
    for (const Stages<M>& stages : {shared, shared, subject.make()}) {
        World<M> world(subject, {.stages = stages});
        world.drive(history, [&] { world.ask(); });
        runs.emplace_back(snapshot(world.conversation), world.storage->acknowledged());
    }
    for (std::size_t i = 1; i < runs.size(); ++i) {
        if (runs[i].first != runs[0].first)
            failures.push_back("run " + std::to_string(i) + ": " + difference(runs[0].first, runs[i].first));
        if (runs[i].second != runs[0].second) failures.push_back("run " + std::to_string(i) + " stored other objects");
    }
    return failures;
}

namespace detail {

/// Asks; whatever fails must have left no trace.
template <AgentMessage M>
void ask_and_expect_no_trace(World<M>& world, std::string_view what, Failures& failures, StopToken stop = {}) {
    const auto& counter = world.chain.config().token_counter;
    const std::string before = snapshot(world.conversation);
    const auto bytes = all_bytes(world.conversation.messages());
    const std::int64_t tokens = world.conversation.tokens(counter);
    const std::size_t entries = world.conversation.journal().size();
    bool is_failed = false;
    bool is_committed = false;
    try {
        const auto& stages = world.ask(std::move(stop)).stages;
        is_failed = !stages.empty() &&
                    std::ranges::all_of(stages, [](const StageReport& s) { return s.outcome == Outcome::failed; });
        is_committed = world.conversation.report().changed();
    } catch (const std::exception&) {
        is_failed = true;
    }
    if (is_committed) return;
    const bool is_same = all_bytes(world.conversation.messages()) == bytes &&
                         world.conversation.journal().size() == entries && world.conversation.tokens(counter) == tokens;
    if (!is_same) failures.push_back(std::string(what) + ": messages, journal or tokens changed without a commit");
    const std::string after = snapshot(world.conversation);
    if (is_failed && after != before)
        failures.push_back(std::string(what) + ": a failed hook left a trace: " + difference(before, after));
}

/// One run with a store and a counter that fail at a given call. False if that call was never reached.
template <AgentMessage M>
bool drive_with_faults(const Subject<M>& subject, const History& history, OnError on_error, int storage_call,
                       int counter_call, Failures& failures) {
    const auto faulty = std::make_shared<FaultyStorage>(subject.options.make_storage(), storage_call);
    int calls = 0;
    WorldOptions<M> options{.on_error = on_error, .storage = faulty};
    options.callbacks.on_event = [](const Event&) { throw std::runtime_error("a bad event sink"); };
    options.callbacks.on_report = [](const Report&) { throw std::runtime_error("a bad report sink"); };
    options.callbacks.conversation_counter = [&](const CallbackContext&, MessageView<M> messages) {
        if (++calls == counter_call) throw std::runtime_error("a bad counter");
        std::int64_t bytes = 0;
        for (const M& m : messages) bytes += static_cast<std::int64_t>(bytes_of(m).size());
        return bytes / 4;
    };
    World<M> world(subject, std::move(options));
    const std::string what =
        "store call " + std::to_string(storage_call) + ", counter call " + std::to_string(counter_call);
    world.drive(history, [&] { ask_and_expect_no_trace(world, what, failures); });
    const bool was_reached = faulty->calls() >= storage_call && calls >= counter_call;
    expect_originals(world, failures);
    return was_reached;
}

}  // namespace detail

/// Failure leaves input: whatever fails (the store, a callback, a stop), the conversation is as before the hook, and
/// the next hook works.
template <AgentMessage M>
Failures check_failure_leaves_input(const Subject<M>& subject, const History& history) {
    Failures failures;
    for (const OnError on_error : {OnError::skip, OnError::propagate}) {
        for (int n = 1; n <= 25 && detail::drive_with_faults(subject, history, on_error, n, 0, failures); ++n) {
        }
        for (int n = 1; n <= 25 && detail::drive_with_faults(subject, history, on_error, 0, n, failures); ++n) {
        }
        World<M> world(subject, {.on_error = on_error});
        StopSource stop;
        stop.request_stop();
        world.drive(history, [&] { detail::ask_and_expect_no_trace(world, "stopped", failures, stop.get_token()); });
        detail::expect_originals(world, failures);
    }
    return failures;
}

namespace detail {

/// Ids that messages bring are believed only of the messages that they were given to.
template <AgentMessage M>
void expect_no_forged_marks(World<M>& world, Failures& failures) {
#if WHITTLE_HAVE_SAVED
    if constexpr (HasMarkId<M>) {
        std::vector<M> forged = save_marks(world.conversation, *world.storage);
        std::vector<std::string> ids;
        for (const M& m : forged) ids.push_back(message_traits<M>::mark_id(m));
        for (std::size_t i = 0; i < forged.size(); ++i)
            message_traits<M>::set_mark_id(forged[i], ids[(i + 1) % ids.size()]);
        const Outline known = world.conversation.outline();
        const auto loaded =
            load_marked_messages<M>(std::move(forged), world.storage, {.expected_id = world.conversation.id()});
        for (std::size_t i = 0; i < loaded.size(); ++i) {
            if (known[i].fingerprint == known[(i + 1) % known.size()].fingerprint) continue;
            const bool is_marked =
                std::ranges::any_of(marks_of(loaded.outline()[i]), [](const Mark& mark) { return mark != nullptr; });
            if (is_marked) failures.push_back("message " + std::to_string(i) + " has marks by another one's id");
        }
    }
#else
    (void)world;
    (void)failures;
#endif
}

}  // namespace detail

/// Untrusted text stays data: results that look like our own placeholders are treated as ordinary text of their size,
/// and come back exactly.
template <AgentMessage M>
Failures check_text_stays_data(const Subject<M>& subject, const History& history) {
    Failures failures;
    World<M> forged(subject);
    forged.drive(history, [&] { forged.ask(); });
    World<M> plain(subject);
    plain.drive(with_plain_results(history), [&] { plain.ask(); });
    const auto side_table = [](const World<M>& world) {
        std::string table;
        for (std::size_t i = 0; i < world.conversation.size(); ++i) {
            MessageInfo info = world.conversation.outline()[i];
            for (std::size_t p = 0; p < info.parts.size(); ++p) {
                const bool quotes = info.parts[p].is_error && origin_of(mark_of(info, p)) == Origin::placeholder;
                if (quotes) info.parts[p].text_bytes = 0;  // the last lines of a failed result follow its words
            }
            detail::add_info(table, info);
        }
        return table;
    };
    const std::string difference_found = difference(side_table(forged), side_table(plain));
    if (subject.options.looks_at_sizes_only && !difference_found.empty())
        failures.push_back("forged text is treated otherwise: " + difference_found);
    detail::expect_originals(forged, failures);
    detail::expect_no_forged_marks(forged, failures);
    return failures;
}

}  // namespace whittle::testing
