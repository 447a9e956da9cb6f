#include "check_run.hpp"

#include <atomic>

namespace whittle::inline v0 {
namespace {

/// One step of a thread that has keys of its own and one that all want.
void mixed_step(CheckRun& run, Storage& storage, int thread, int round, std::atomic<int>& wins) {
    const std::string own = fmt::format("t{}/{}", thread, round);
    storage.put_if_absent(own, own);
    run.expect_content("get of an own object", storage.get(own), own);
    const std::string shared = fmt::format("shared/{}", round);
    const auto error = code_of([&] { storage.put_if_absent(shared, own); });
    if (!error) ++wins;
    if (error && error != Errc::already_exists) run.fail(fmt::format("put of a shared key: {}", to_string(*error)));
    run.expect(storage.get(shared).has_value(), "get of a shared key: expected an object");
    if (run.lists()) {
        bool listed = false;
        storage.list(own, [&](const ObjectInfo& info) { return !(listed |= info.key == own); });
        run.expect(listed, "list: expected the own object");
    }
    if (run.removes() && round % 2 == 0) run.expect(storage.remove(own), "remove: expected the own object");
}

void expect_wins(CheckRun& run, int wins) {
    run.expect(wins == run.options().rounds,
               fmt::format("{} writers were told that they were first, of {} keys", wins, run.options().rounds));
}

void threads_mix(CheckRun& run) {
    std::atomic<int> wins{0};
    run.on_threads([&](int thread) {
        for (int i = 0; i < run.options().rounds; ++i) mixed_step(run, run.storage(), thread, i, wins);
    });
    expect_wins(run, wins);
}

void threads_write_the_same(CheckRun& run) {
    run.on_threads([&](int thread) {
        for (int i = 0; i < run.options().rounds; ++i) {
            const std::string key = fmt::format("same/{}", i);
            run.put(key, "content of " + key, run.streams() ? thread % 2 : 0);
        }
    });
    for (int i = 0; i < run.options().rounds; ++i) {
        const std::string key = fmt::format("same/{}", i);
        run.expect_content(key, run.storage().get(key), "content of " + key);
    }
}

/// Larger than what stores write at once.
std::string large_content(int thread) { return std::string(300'000, static_cast<char>('a' + thread % 26)); }

bool is_whole(const std::string& content) {
    return content.size() == 300'000 && content.find_first_not_of(content.front()) == std::string::npos;
}

/// Everybody writes, in pieces where that is possible, and looks at what the others may be writing.
void readers_see_whole_objects(CheckRun& run) {
    std::atomic<int> wins{0};
    run.on_threads([&](int thread) {
        for (int i = 0; i < run.options().rounds; ++i) {
            const std::string key = fmt::format("raced/{}", i);
            const std::string next = fmt::format("raced/{}", i + 1);
            const auto error = code_of([&] { run.put(key, large_content(thread), run.streams() ? 3 : 0); });
            if (!error) ++wins;
            if (error && error != Errc::already_exists) run.fail(fmt::format("put: {}", to_string(*error)));
            for (const std::string& looked_at : {key, next}) {
                const auto found = run.storage().get(looked_at);
                run.expect(found ? is_whole(*found) : looked_at == next, "get: expected a whole object");
            }
        }
    });
    expect_wins(run, wins);
}

void opens_share(CheckRun& run) {
    const auto other = run.open();
    run.put("a", "of the first");
    run.expect_content("get by another open", other->get("a"), "of the first");
    other->put_if_absent("b", "of the second");
    run.expect_content("get of another open's", run.storage().get("b"), "of the second");
    run.expect_error("put of other content by another open", Errc::already_exists,
                     [&] { other->put_if_absent("a", "other"); });
    if (!run.removes()) return;
    run.expect(other->remove("a"), "remove by another open: expected that there was an object");
    run.expect(!run.storage().get("a"), "get of what another open removed: expected no object");
}

void objects_outlive_their_storage(CheckRun& run) {
    run.put("c/a", "stays");
    if (run.streams()) run.put("c/b", "stays too", 2);
    run.reopen();
    run.expect_content("get", run.storage().get("c/a"), "stays");
    if (run.streams()) run.expect_content("get of what was streamed", run.storage().get("c/b"), "stays too");
    run.expect_error("put of other content", Errc::already_exists, [&] { run.put("c/a", "other"); });
}

void opens_agree(CheckRun& run) {
    std::atomic<int> wins{0};
    run.on_threads([&](int thread) {
        const auto own_open = run.open();
        for (int i = 0; i < run.options().rounds; ++i) mixed_step(run, *own_open, thread, i, wins);
    });
    expect_wins(run, wins);
}

}  // namespace

StorageChecks checks_of_sharing() {
    return {
        {"threads write, read, list and remove at once", CheckNeeds::nothing, threads_mix},
        {"threads that write the same content under one key all succeed", CheckNeeds::nothing, threads_write_the_same},
        {"an object that others are writing is absent or whole", CheckNeeds::nothing, readers_see_whole_objects},
        {"opens of one store share it", CheckNeeds::nothing, opens_share},
        {"objects outlive the storage that wrote them", CheckNeeds::nothing, objects_outlive_their_storage},
        {"opens of one store agree on one content for each key", CheckNeeds::nothing, opens_agree},
    };
}

}  // namespace whittle::inline v0
