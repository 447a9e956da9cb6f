// Reading for the bill alone: the same bills, with less of the texts.
#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// What each call was billed, and by what its copies are known.
std::vector<std::string> bills_in(const ReadLog& log) {
    std::vector<std::string> bills;
    for (const logs::Session& session : log.sessions) {
        bills.push_back(session.recording.id + " of " + session.parent + " in " + session.folder);
        for (const auto* calls : {&session.calls, &session.elsewhere}) {
            bills.push_back(std::to_string(calls->size()));
            for (const logs::Call& call : *calls) {
                const Usage usage = call.usage.value_or(Usage{});
                bills.push_back(call.id + "|" + call.bill_id + "|" + call.model + "|" +
                                std::to_string(call.time.value_or(0)) + "|" + std::to_string(usage.total()) + "|" +
                                std::to_string(usage.cache_read));
            }
        }
    }
    return bills;
}

/// With a long text behind each `front`.
std::string with_long_texts(const std::string& text, const std::string& front) {
    if (front.empty()) return text;
    std::string longer;
    std::size_t copied = 0;
    for (std::size_t at = text.find(front); at != std::string::npos; at = text.find(front, at + 1)) {
        longer.append(text, copied, at + front.size() - copied);
        copied = at + front.size();
        for (int i = 0; i < 400; ++i) longer += "\\\"tokens\\\": \\ud83d\\ude00 \xC3\xA9 ";
    }
    return longer.append(text, copied);
}

}  // namespace

TEST_CASE("bills alone are those of the whole log", "[logs]") {
    for (const std::string& name : all_fixtures()) {
        for (const char* front : {"", R"("content":")", R"("text":")", R"("output":")"}) {
            CAPTURE(name, front);
            const std::string text = with_long_texts(fixture_text(name), front);
            const auto format = logs::recognise(text).value();
            const ReadLog whole = read_text_as(text, format, {.name = name});
            const ReadLog bills = read_text_as(text, format, {.name = name, .bills_only = true});
            CHECK(bills_in(bills) == bills_in(whole));
            CHECK(bills.notes.damaged == whole.notes.damaged);
            CHECK(bills.notes.repaired == whole.notes.repaired);
            CHECK(bills.notes.left_out == whole.notes.left_out);
        }
    }
}

TEST_CASE("no escape is cut where bytes that are no UTF-8 follow it", "[logs]") {
    const std::string text =
        R"({"timestamp":"2026-03-02T10:00:00Z","type":"session_meta","payload":{"id":"c","cwd":"/w","instructions":")" +
        std::string(62, 'a') + "\\n" + std::string(600, '\x80') + "\"}}\n" +
        R"({"type":"response_item","payload":{"type":"message","role":"user","content":"go"}})" + "\n";
    const ReadLog log = read_text_as(text, logs::Format::codex, {.name = "x", .bills_only = true});
    CHECK(log.notes.damaged == 0);
    CHECK(log.sessions.at(0).folder == "/w");
}

TEST_CASE("what a text is known by at its beginning and its end stays where it is cut", "[logs]") {
    const auto item = [](const std::string& role, const std::string& text) {
        const std::string kind = role == "user" ? "input_text" : "output_text";
        return R"({"type":"response_item","payload":{"type":"message","role":")" + role + R"(","content":[{"type":")" +
               kind + R"(","text":")" + text + "\"}]}}\n";
    };
    const std::string skill = "<skill>\\n" + std::string(1'000, 's') + "\\n</skill>";
    const std::string text = item("user", "first") + item("assistant", "Yes.") + item("user", "second") +
                             item("user", skill) + item("assistant", "No.") +
                             R"({"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}})" + "\n";
    const auto messages = [&](bool bills_only) {
        const ReadLog log = read_text_as(text, logs::Format::codex, {.name = "c", .bills_only = bills_only});
        return log.sessions.at(0).recording.messages.size();
    };
    CHECK(messages(false) == 2);
    CHECK(messages(true) == 2);
}

TEST_CASE("long texts of records without usage are cut where only bills are wanted", "[logs]") {
    const std::string output(20'000, 'x');
    const std::string text =
        R"({"timestamp":"2026-03-02T10:00:00Z","type":"session_meta","payload":{"id":"c"}})"
        "\n"
        R"({"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":")" +
        output + "\"}]}}\n";
    const auto size = [&](bool bills_only) {
        const ReadLog log = read_text_as(text, logs::Format::codex, {.name = "c", .bills_only = bills_only});
        return log.sessions.at(0).recording.messages.at(0).json().dump().size();
    };
    CHECK(size(false) > output.size());
    CHECK(size(true) < 500);
}

TEST_CASE("long texts of Gemini CLI and opencode are cut also beside their bills", "[logs]") {
    const std::string text(20'000, 'x');
    const std::string reply =
        R"({"id":"2","type":"gemini","content":")" + text + R"(","model":"m","tokens":{"input":9,"output":7}})";
    const std::string part = R"({"type":"text","text":")" + text + R"("},{"type":"step-finish","tokens":{"input":9}})";
    const std::string message = R"({"info":{"id":"m","role":"assistant","tokens":{"input":9}},"parts":[)" + part + "]}";
    const std::string row =
        R"({"id":"m","type":"assistant","tokens":{"input":9},"content":[{"type":"text","text":")" + text + R"("}]})";
    const std::string opencode = R"({"info":{"id":"ses_1","directory":"/w"},"messages":[)";
    const std::string gemini = R"({"sessionId":"g","projectHash":"p")";
    const std::vector<std::pair<logs::Format, std::string>> files{
        {logs::Format::gemini_cli, gemini + "}\n" + reply + "\n"},
        {logs::Format::gemini_cli, gemini + ",\n\"messages\":[\n" + reply + "\n]}\n"},
        {logs::Format::opencode, opencode + message + "]}\n"},
        {logs::Format::opencode, opencode + "\n" + row + "\n]}\n"}};
    for (const auto& [format, file] : files) {
        CAPTURE(file.substr(0, 200));
        const ReadLog bills = read_text_as(file, format, {.name = "s", .bills_only = true});
        CHECK(bills_in(bills) == bills_in(read_text_as(file, format, {.name = "s"})));
        CHECK(billed(bills.sessions.at(0)).uncached_input == 9);
        CHECK(bills.sessions[0].recording.messages.at(0).json().dump().size() < 500);
    }
}

TEST_CASE("texts that are the same but for blanks around them are so where they are cut", "[logs]") {
    // The agent writes its history again, in which a reply has the blanks that its record has not.
    const std::string reply = "<p>" + std::string(300, 'x') + "</p>";
    const auto history = [&](const std::string& front, const std::string& end) {
        return R"({"$set":{"messages":[{"id":"1","type":"user","content":[{"text":"go"}]},)"
               R"({"id":"8","type":"gemini","content":[{"text":")" +
               front + reply + end + R"("}]},{"id":"9","type":"user","content":[{"text":"on"}]}]}})" + "\n";
    };
    const auto compactions = [&](const std::string& front, const std::string& end, bool bills_only) {
        const std::string text =
            R"({"sessionId":"g","projectHash":"p"})"
            "\n"
            R"({"id":"1","type":"user","content":[{"text":"go"}]})"
            "\n"
            R"({"id":"2","type":"gemini","model":"m","tokens":{"input":9,"output":7},"content":")" +
            reply + "\"}\n" + history(front, end);
        const ReadLog log = read_text_as(text, logs::Format::gemini_cli, {.name = "s", .bills_only = bills_only});
        return log.sessions.at(0).compactions.size();
    };
    for (const bool bills_only : {false, true}) {
        CAPTURE(bills_only);
        CHECK(compactions("", R"(\n)", bills_only) == 0);
        CHECK(compactions(R"( \t)", R"( \r\n \n)", bills_only) == 0);
        CHECK(compactions("", R"(\\n)", bills_only) == 1);  // a backslash and a letter
        CHECK(compactions("", ".", bills_only) == 1);
    }
}
