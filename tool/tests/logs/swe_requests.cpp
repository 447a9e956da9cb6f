// SWE-agent's history has whole what its history processors left out of requests; its steps tell what was sent.
#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

using KindCounts = std::map<std::string, std::int64_t>;

ordered_json swe_message(const std::string& role, const std::string& content) {
    return {{"role", role}, {"content", content}, {"agent", "main"}, {"message_type", "x"}};
}

/// A prompt and replies 0 to `steps` - 1 with what came of them.
ordered_json swe_history(int steps) {
    ordered_json history = ordered_json::array({swe_message("system", "s"), swe_message("user", "task")});
    for (int i = 0; i < steps; ++i) {
        history.push_back(swe_message("assistant", "reply " + std::to_string(i)));
        history.push_back(swe_message("user", "result " + std::to_string(i)));
    }
    return history;
}

/// Of the history the first `size` messages, with all but the last `n` results left out.
ordered_json elided(const ordered_json& history, std::size_t size, std::size_t n) {
    ordered_json sent = ordered_json::array();
    for (std::size_t i = 0; i < size; ++i) {
        sent.push_back(history[i]);
        if (i > 2 && history[i]["role"] == "user" && i + 2 * n < size) sent.back()["content"] = "(1 line omitted)";
    }
    return sent;
}

ordered_json swe_step(int number, const char* key, ordered_json sent) {
    ordered_json step{{"action", "x"}, {"response", "reply " + std::to_string(number)}, {"observation", "o"}};
    step[key] = std::move(sent);
    return step;
}

ReadLog read_swe(const ordered_json& history, const ordered_json& steps) {
    const ordered_json document{
        {"environment", "e"},
        {"trajectory", steps},
        {"history", history},
        {"info", {{"model_stats", {{"tokens_sent", 900}, {"tokens_received", 9}, {"api_calls", 4}}}}}};
    return read_text_as(document.dump(2), logs::Format::swe_agent);
}

/// The contents of what a call was given.
std::vector<std::string> sent_to(const logs::Session& session, std::size_t call) {
    std::vector<std::string> texts;
    for (const ordered_json& message : session.request_of(session.calls.at(call))) {
        const ordered_json& content = message["content"];
        texts.push_back(content.is_string() ? content.get<std::string>() : content[0]["text"].get<std::string>());
    }
    return texts;
}

using Texts = std::vector<std::string>;

void check_that_requests_are_elided(const logs::Session& session) {
    CHECK(roles_of(session) == "suauauauau");
    REQUIRE(session.calls.size() == 4);
    CHECK(sent_to(session, 0) == Texts{"s", "task"});
    CHECK(sent_to(session, 1) == Texts{"s", "task", "reply 0", "result 0"});
    CHECK(sent_to(session, 2) == Texts{"s", "task", "reply 0", "(1 line omitted)", "reply 1", "result 1"});
    CHECK(sent_to(session, 3) ==
          Texts{"s", "task", "reply 0", "(1 line omitted)", "reply 1", "(1 line omitted)", "reply 2", "result 2"});
    REQUIRE(session.compactions.size() == 2);
    CHECK(session.compactions[0].before == 6);
    CHECK(session.compactions[0].trigger == "history_processor");
    CHECK(session.recording.messages[3].json()["content"] == "result 0");
    CHECK_FALSE(session.compactions[0].kept.at(0).contains("agent"));
    CHECK(billed(session) == Usage{900, 0, 0, 9});
}

}  // namespace

TEST_CASE("requests of SWE-agent are what each step sent", "[logs]") {
    const ordered_json history = swe_history(4);
    for (const char* key : {"query", "messages"}) {
        ordered_json steps = ordered_json::array();
        for (int i = 0; i < 4; ++i)
            steps.push_back(swe_step(i, key, elided(history, 2 + 2 * static_cast<std::size_t>(i), 1)));
        const ReadLog log = read_swe(history, steps);
        REQUIRE(log.sessions.size() == 1);
        CHECK(log.notes.unknown.empty());
        check_that_requests_are_elided(log.sessions[0]);
    }
}

TEST_CASE("messages that SWE-agent wrote behind a step are what the next one sent", "[logs]") {
    const ordered_json history = swe_history(4);
    ordered_json steps = ordered_json::array();
    for (int i = 0; i < 4; ++i)
        steps.push_back(swe_step(i, "messages", elided(history, 4 + 2 * static_cast<std::size_t>(i), 1)));
    const ReadLog log = read_swe(history, steps);
    REQUIRE(log.sessions.size() == 1);
    check_that_requests_are_elided(log.sessions[0]);
}

TEST_CASE("a request that only goes on is no compaction, whatever stands in it for the cache", "[logs]") {
    const ordered_json history = swe_history(3);
    ordered_json steps = ordered_json::array();
    for (int i = 0; i < 3; ++i) {
        ordered_json sent = elided(history, 2 + 2 * static_cast<std::size_t>(i), 9);
        sent.back()["content"] = ordered_json::array(
            {{{"type", "text"}, {"text", sent.back()["content"]}, {"cache_control", {{"type", "ephemeral"}}}}});
        steps.push_back(swe_step(i, "query", std::move(sent)));
    }
    const ReadLog log = read_swe(history, steps);
    CHECK(log.sessions.at(0).compactions.empty());
    CHECK(log.sessions[0].calls.size() == 3);
}

TEST_CASE("what SWE-agent asked again is sent once more, and what it said itself is no call", "[logs]") {
    ordered_json history = swe_history(2);
    history.push_back(swe_message("assistant", "Exit due to cost limit"));
    ordered_json again = elided(history, 4, 9);
    again.push_back(swe_message("assistant", "no command"));
    again.push_back(swe_message("user", "one command, please"));
    ordered_json failed = swe_step(1, "query", elided(history, 4, 9));
    failed["response"] = "no command";
    ordered_json exit = swe_step(2, "query", ordered_json::array());
    exit["response"] = "Exit due to cost limit";
    const ReadLog log = read_swe(history, ordered_json::array({swe_step(0, "query", elided(history, 2, 9)), failed,
                                                               swe_step(1, "query", again), exit}));
    REQUIRE(log.sessions.size() == 1);
    const logs::Session& session = log.sessions[0];
    CHECK(session.calls.size() == 2);
    CHECK(roles_of(session) == "suauaua");
    CHECK(sent_to(session, 1) == Texts{"s", "task", "reply 0", "result 0", "no command", "one command, please"});
    CHECK(log.notes.left_out == KindCounts{{"reply that was asked for again", 1}});
}

TEST_CASE("steps that are not those of the history are said, and the history is taken", "[logs]") {
    const ordered_json history = swe_history(2);
    const ReadLog log = read_swe(history, ordered_json::array({swe_step(7, "query", elided(history, 2, 9))}));
    CHECK(sent_to(log.sessions.at(0), 1) == Texts{"s", "task", "reply 0", "result 0"});
    CHECK(log.notes.unknown == KindCounts{{"reply without its step", 2}});
}

TEST_CASE("demonstrations of SWE-agent are no calls", "[logs]") {
    ordered_json history = swe_history(2);
    history[2]["is_demo"] = true;
    const ReadLog log = read_swe(history, ordered_json::array());
    CHECK(replies_of(log.sessions.at(0)) == std::vector<std::size_t>{4});
}
