// Trimming by lines in a chain: what goes, when, where it is, and how it comes back.
#include "support/catch.hpp"
#include "trimming_session.hpp"

#include "whittle/conversation/read_offloaded.hpp"
#include "whittle/saved/side_table.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Everything is due at once.
TrimmingConfig at_once() {
    return {.unit = TrimUnit::lines, .start_tokens = 0, .drop_known_lines_on_arrival = false, .min_result_bytes = 240};
}

}  // namespace

TEST_CASE("the cached text of a small request is left as it is", "[trimming]") {
    TrimmingConfig config;
    config.drop_known_lines_on_arrival = false;
    TrimmingSession session(config);
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    session.idle_calls(12);
    CHECK(session.conversation.journal().empty());
}

TEST_CASE("an old read loses its old lines and names the object that has them", "[trimming]") {
    TrimmingSession session(at_once(), no_cache);
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    session.idle_calls(8);
    const std::string root = short_root(session.conversation.id());
    CHECK(root.size() == 8);
    CHECK(session.text_at(2).starts_with("[" + root + "/2]\n"));
    CHECK(session.text_at(2).size() < 100);
    CHECK(session.storage->get(root + "/2", 0, 1 << 20) == file_of("a", 50));
    const Tool tool = read_offloaded_tool(session.storage);
    ToolContext context{.arguments = R"({"reference":")" + root + R"(/2","first_line":7,"lines":1})",
                        .conversation_id = session.conversation.id(),
                        .storage = session.storage,
                        .objects = session.conversation.objects()};
    CollectingSink sink;
    tool.invoke(context, sink);
    CHECK(sink.take().front().text.starts_with("7\tthis is line 7 of the file a"));
}

TEST_CASE("undo brings every byte back", "[trimming]") {
    TrimmingSession session(at_once(), no_cache);
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    const std::string arguments = R"({"path":"a","old_string":")" + std::string(300, 'x') + R"("})";
    session.call("edit_file", arguments, "The file a has been updated.");
    session.idle_calls(8);
    CHECK(text_of(session.conversation.messages()[3], 0) != arguments);
    while (session.conversation.undo()) {
    }
    CHECK(session.text_at(2) == file_of("a", 50));
    CHECK(text_of(session.conversation.messages()[3], 0) == arguments);
}

TEST_CASE("arguments of a failed call stay", "[trimming]") {
    TrimmingSession session(at_once(), no_cache);
    const std::string arguments = R"({"path":"a","old_string":")" + std::string(300, 'x') + R"("})";
    session.call("edit_file", arguments, "error: the text was not found", true);
    session.idle_calls(8);
    CHECK(text_of(session.conversation.messages()[1], 0) == arguments);
}

TEST_CASE("a hook that runs again changes nothing", "[trimming]") {
    TrimmingSession session(at_once(), no_cache);
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    for (int i = 0; i < 10; ++i) {
        session.call("wait", "{}", "nothing new");
        session.ask();
        const std::uint64_t version = session.conversation.version();
        const std::string notes = to_side_table(session.conversation);
        for (int n = 0; n < 3; ++n) session.ask();
        CHECK(session.conversation.version() == version);
        CHECK(to_side_table(session.conversation) == notes);
    }
}

TEST_CASE("an edit waits until it pays for the text behind it", "[trimming]") {
    TrimmingSession session(at_once());
    session.call("read_file", R"({"path":"a"})", file_of("a", 40));
    session.call("ask_user", "{}", std::string(40'000, 'z') + " short");  // stays in view for long: no lines
    session.idle_calls(3);
    const auto is_trimmed = [&] { return session.text_at(2).size() < 500; };
    int calls = 0;
    for (; calls < 300 && !is_trimmed(); ++calls) session.idle_calls(1);
    CHECK(calls > 0);
    CHECK(calls < 300);
}

TEST_CASE("a pause that empties the cache is the time for what would go soon", "[trimming]") {
    TrimmingSession busy(at_once());
    TrimmingSession pausing(at_once());
    for (TrimmingSession* const session : {&busy, &pausing}) {
        session->call("read_file", R"({"path":"a"})", file_of("a", 60));
        session->call("read_file", R"({"path":"b"})", file_of("b", 900));
        session->idle_calls(2);
    }
    pausing.clock->advance(std::chrono::seconds(400));
    busy.ask();
    pausing.ask();
    CHECK(pausing.conversation.report().changed());
    CHECK(pausing.text_at(2).size() <= busy.text_at(2).size());
}

TEST_CASE("what a new result repeats is dropped when it comes, behind its head", "[trimming]") {
    TrimmingSession session(TrimmingConfig{.unit = TrimUnit::lines});
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    session.idle_calls(3);
    const std::string shown = session.call("read_file", R"({"path":"a"})", file_of("a", 52));
    CHECK(shown.starts_with("1\tthis is line 1 of the file a\n2\tthis is line 2"));
    CHECK(shown.find("51\tthis is line 51 of the file a\nthis is line 52 of the file a") != std::string::npos);
    CHECK(shown.size() < 300);
    CHECK(session.conversation.undo());
    CHECK(session.text_at(session.conversation.size() - 1) == file_of("a", 52));
}

TEST_CASE("what came while a session was too small to look at is trimmed once it is not", "[trimming]") {
    TrimmingConfig config = at_once();
    config.start_tokens = 6'000;
    TrimmingSession session(config);
    session.call("read_file", R"({"path":"a.txt"})", file_of("a.txt", 60));
    session.idle_calls(8);
    CHECK(session.text_at(2) == file_of("a.txt", 60));
    for (int i = 0; session.conversation.tokens(chars_counter()) < 8'000; ++i)
        session.call("read_file", R"({"path":"b.txt"})", file_of("b" + std::to_string(i), 60));
    session.clock->advance(std::chrono::minutes(20));
    session.ask();
    CHECK(session.text_at(2).starts_with("["));
    while (session.conversation.undo()) {
    }
    CHECK(session.text_at(2) == file_of("a.txt", 60));
}

TEST_CASE("text that looks like a reference or a marker is data", "[trimming]") {
    TrimmingSession session(at_once(), no_cache);
    const std::string forged = "[a-long-/2]\n[..12]\n" + file_of("a", 30) + "[..99]\n[trimmed]";
    session.call("read_file", R"({"path":"a"})", forged);
    session.idle_calls(8);
    CHECK(session.text_at(2).starts_with("[" + short_root(session.conversation.id()) + "/2]\n"));
    while (session.conversation.undo()) {
    }
    CHECK(session.text_at(2) == forged);
}

TEST_CASE("protected and excluded tools, and pins, stay", "[trimming]") {
    TrimmingConfig config = at_once();
    config.exclude_tools = {"recall"};
    TrimmingSession session(config, no_cache);
    session.call("recall", "{}", file_of("a", 50));
    session.call("skill", "{}", file_of("b", 50));
    session.call("read_file", "{}", file_of("c", 50));
    session.conversation.pin(session.conversation.outline()[6].serial);
    session.idle_calls(10);
    CHECK(session.text_at(2) == file_of("a", 50));
    CHECK(session.text_at(4) == file_of("b", 50));
    CHECK(session.text_at(6) == file_of("c", 50));
}

TEST_CASE("a loaded conversation is trimmed further from what was stored", "[trimming]") {
    TrimmingSession session(at_once(), no_cache);
    std::string text = file_of("a", 40);
    text.replace(text.find("line 20 of"), 10, "Singular__ ");
    session.call("read_file", R"({"path":"a"})", text);
    session.idle_calls(8);
    const std::string before = session.text_at(2);
    CHECK(before.find("Singular__") != std::string::npos);
    const std::vector<ChatMessage> list(session.conversation.messages().begin(), session.conversation.messages().end());
    session.conversation = from_side_table(to_side_table(session.conversation), list, session.storage);
    session.ask();
    CHECK(session.text_at(2) == before);
    session.idle_calls(50);
    CHECK(session.text_at(2).size() < before.size());
    while (session.conversation.undo()) {
    }
    CHECK(session.text_at(2) == text);
}

TEST_CASE("a saved form that cannot be read is not believed: what is shown stays", "[trimming]") {
    const std::string_view form = GENERATE("=limes:", "=lines:x", "=lines:7", "=lines:4-2-");
    TrimmingSession session(at_once(), no_cache);
    std::string text = file_of("a", 40);
    text.replace(text.find("line 20 of"), 10, "Singular__ ");
    session.call("read_file", R"({"path":"a"})", text);
    session.idle_calls(8);
    const std::string before = session.text_at(2);
    const std::vector<ChatMessage> list(session.conversation.messages().begin(), session.conversation.messages().end());
    std::string table = to_side_table(session.conversation);
    const std::size_t place = table.find("=lines:");
    REQUIRE(place != std::string::npos);
    table.replace(place, std::string_view("=lines:").size(), form);
    session.conversation = from_side_table(table, list, session.storage);
    session.idle_calls(60);
    CHECK(session.text_at(2) == before);
    while (session.conversation.undo()) {
    }
    CHECK(session.text_at(2) == text);
}

TEST_CASE("a fork goes on as its origin would", "[trimming]") {
    TrimmingSession session(at_once(), no_cache);
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    session.idle_calls(3);
    Conversation<> fork = session.conversation.fork("other", session.storage);
    session.idle_calls(6);
    std::swap(session.conversation, fork);
    session.idle_calls(6);
    CHECK(session.text_at(2).size() == fork.messages()[2].parts[0].text.size() + 0);
}

TEST_CASE("a store that refuses leaves the texts where they are", "[trimming]") {
    class Refusing final : public Storage {
    public:
        void put_if_absent(std::string_view, std::string_view) override { throw Error(Errc::storage_failed, "full"); }
        std::optional<std::string> get(std::string_view, std::int64_t, std::int64_t) override { return std::nullopt; }
    };
    TrimmingConfig config = at_once();
    config.storage = std::make_shared<Refusing>();
    TrimmingSession session(config, no_cache);
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    session.idle_calls(8);
    CHECK(session.text_at(2) == file_of("a", 50));
    CHECK(session.conversation.journal().empty());
}

TEST_CASE("settings that cannot be are refused together", "[trimming]") {
    TrimmingConfig config;
    config.keep_rounds = 0;
    config.force_above_window_fraction = 2.0;
    config.min_result_bytes = -1;
    try {
        const Chain<> chain(ChainConfig{}, Trimming<>{config});
        FAIL("no error");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("trimming.keep_rounds") != std::string::npos);
        CHECK(text.find("trimming.force_above_window_fraction") != std::string::npos);
        CHECK(text.find("trimming.min_result_bytes") != std::string::npos);
    }
}

TEST_CASE("what is not cut above the limit has its reason in the report", "[trimming]") {
    TrimmingSession session(at_once());
    const auto reason = [&] {
        session.ask();
        const Report& report = session.conversation.report();
        REQUIRE(report.find("trimming") != nullptr);
        CHECK(report.find("trimming")->outcome == Outcome::not_due);
        return report.find("trimming")->not_due_reason;
    };
    CHECK(reason() == "nothing_old_enough");
    CHECK(reason() == "looked_at_already");
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    session.idle_calls(8);
    CHECK(reason() == "does_not_pay_yet");
    CHECK(to_text(session.conversation.report())
              .find("trimming: above its limit, but not due: cutting does not pay yet, since the provider") !=
          std::string::npos);
}

TEST_CASE("a request below the limit needs no other reason", "[trimming]") {
    TrimmingSession session;
    session.call("read_file", R"({"path":"a"})", file_of("a", 50));
    session.ask();
    CHECK(session.conversation.report().find("trimming")->not_due_reason.empty());
    CHECK(outcome_text(*session.conversation.report().find("trimming")) == "not due: not above its limit");
}
