#include "check_run.hpp"

namespace whittle::inline v0 {
namespace {

void writer_shows_nothing_before_commit(CheckRun& run) {
    const auto writer = run.storage().open_writer();
    writer->write("one ");
    writer->write("");
    writer->write("two");
    if (run.lists()) run.expect_keys("", {});
    run.expect(!run.storage().get("c/k"), "get before commit: expected no object");
    writer->commit("c/k");
    run.expect_content("get after commit", run.storage().get("c/k"), "one two");
    run.expect_bytes("c/k", 7);
    run.expect_error("a second commit", Errc::invalid_argument, [&] { writer->commit("c/other"); });
    run.expect_error("a write after commit", Errc::invalid_argument, [&] { writer->write("more"); });
    if (run.lists()) run.expect_keys("", {"c/k"});
}

void dropped_writer_leaves_nothing(CheckRun& run) {
    const std::string much(3'000'000, 'x');
    for (const std::string& lost : {std::string(), std::string("lost"), much}) run.storage().open_writer()->write(lost);
    if (run.lists()) run.expect_keys("", {});
    run.reopen();
    if (run.lists()) run.expect_keys("", {});
}

void writer_obeys_write_once(CheckRun& run) {
    run.put("k", "one");
    run.put("k", "one", 2);
    const auto other = run.storage().open_writer();
    other->write("two");
    run.expect_error("commit of other content", Errc::already_exists, [&] { other->commit("k"); });
    run.expect_error("a write after the refused commit", Errc::invalid_argument, [&] { other->write("more"); });
    run.expect_error("commit under the same key again", Errc::already_exists, [&] { other->commit("k"); });
    other->commit("free");
    run.expect_error("a commit after the one that was taken", Errc::invalid_argument, [&] { other->commit("free-2"); });
    run.expect_content("get of the first", run.storage().get("k"), "one");
    run.expect_content("get of the second", run.storage().get("free"), "two");
}

void empty_writer_commits(CheckRun& run) {
    run.storage().open_writer()->commit("empty");
    run.expect_content("get", run.storage().get("empty"), "");
    run.put("empty", "");
}

void refused_key_uses_the_writer_up(CheckRun& run) {
    const auto writer = run.storage().open_writer();
    writer->write("x");
    run.expect_error("commit under a hostile key", Errc::invalid_key, [&] { writer->commit("../x"); });
    run.expect_error("commit after that", Errc::invalid_argument, [&] { writer->commit("good"); });
    run.expect(!run.storage().get("good"), "get: expected no object");
}

/// Each gets its pieces by turns with the others, over the borders of any block.
void writers_do_not_mix(CheckRun& run) {
    constexpr int writers = 5;
    std::vector<std::unique_ptr<StorageWriter>> open;
    std::vector<std::string> expected(writers);
    for (int w = 0; w < writers; ++w) open.push_back(run.storage().open_writer());
    for (int piece = 0; piece < 40; ++piece) {
        for (std::size_t w = 0; w < writers; ++w) {
            const std::string bytes(static_cast<std::size_t>(piece) * 1'777, static_cast<char>('a' + w));
            open[w]->write(bytes);
            expected[w] += bytes;
        }
    }
    for (std::size_t w = writers; w-- > 0;) open[w]->commit("w/" + std::to_string(w));
    for (std::size_t w = 0; w < writers; ++w)
        run.expect_content(fmt::format("writer {}", w), run.storage().get("w/" + std::to_string(w)), expected[w]);
}

void both_ways_of_writing_agree(CheckRun& run) {
    run.put("a", "the same", 3);
    run.put("a", "the same");
    run.expect_error("put of other content", Errc::already_exists, [&] { run.put("a", "not the same"); });
    run.put("b", "the same");
    run.put("b", "the same", 3);
    run.expect_error("commit of other content", Errc::already_exists, [&] { run.put("b", "not the same", 3); });
}

void can_stream_reports(CheckRun& run) {
    run.expect(run.storage().can_stream() == run.streams(),
               fmt::format("can_stream: expected {}, as open_writer says", run.streams()));
}

}  // namespace

StorageChecks checks_of_writers() {
    return {
        {"can_stream says whether there is a writer", CheckNeeds::nothing, can_stream_reports},
        {"a writer shows nothing before commit and everything after", CheckNeeds::streams,
         writer_shows_nothing_before_commit},
        {"a dropped writer leaves nothing", CheckNeeds::streams, dropped_writer_leaves_nothing},
        {"a writer obeys write-once, and may commit under another key then", CheckNeeds::streams,
         writer_obeys_write_once},
        {"an empty writer commits an object of no bytes", CheckNeeds::streams, empty_writer_commits},
        {"a refused key uses the writer up", CheckNeeds::streams, refused_key_uses_the_writer_up},
        {"writers that are open at once do not mix", CheckNeeds::streams, writers_do_not_mix},
        {"what is put and what is streamed are the same", CheckNeeds::streams, both_ways_of_writing_agree},
    };
}

}  // namespace whittle::inline v0
