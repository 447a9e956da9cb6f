// Reading for the bill alone: the same bills, with less of the texts.
#include "logs/log_file.hpp"
#include "support/catch.hpp"

#include <string>
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
            CHECK(bills.notes.mended == whole.notes.mended);
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
