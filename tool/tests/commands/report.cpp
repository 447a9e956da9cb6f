#include "cli.hpp"
#include "report/report_page.hpp"
#include "support/catch.hpp"
#include "whittle/base/detail/base64.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/base/text.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

using namespace whittle;
using namespace whittle::testing;
using namespace whittle::cli;
using nlohmann::json;

namespace {

/// What stands between two texts, from the first `begin` on.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t from = text.find(begin);
    REQUIRE(from != std::string::npos);
    const std::size_t to = text.find(end, from + begin.size());
    REQUIRE(to != std::string::npos);
    return text.substr(from + begin.size(), to - from - begin.size());
}

std::string without(std::string text, const std::string& part) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.erase(at, part.size());
}

std::string style_of(const std::string& html) { return between(html, "<style>", "</style>"); }
std::string script_of(const std::string& html) { return between(html, "<script>", "</script>"); }
json report_of(const std::string& html) {
    return json::parse(between(html, "<script type=\"application/json\" class=\"session-data\">", "</script>"));
}

/// The page without its policy, style and script, which change more often than what it says, and without how and when
/// it was made.
std::string content_of(const std::string& html) {
    std::string content = html;
    content = without(content, between(html, "Content-Security-Policy\" content=\"", "\">"));
    content = without(content, style_of(html));
    content = without(content, script_of(html));
    return without(content, between(html, "<dl class=\"made\">", "</dl>"));
}

std::string to_bytes(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

/// A session as JSON line, of one user message, one reply and what a tool gave back.
std::string session_with(const std::string& text) {
    json messages = json::array({{{"role", "user"}, {"content", text}}});
    const json function{{"name", text},
                        {"arguments", json{{"path", text}}.dump(-1, ' ', false, json::error_handler_t::replace)}};
    messages.push_back({{"role", "assistant"},
                        {"content", nullptr},
                        {"tool_calls", json::array({{{"id", "c1"}, {"type", "function"}, {"function", function}}})}});
    messages.push_back({{"role", "tool"}, {"tool_call_id", "c1"}, {"name", text}, {"content", text}});
    messages.push_back({{"role", "assistant"}, {"content", text}});
    return json{{"id", text}, {"messages", messages}}.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// Where `scripts/check_report` wants the pages of these tests, too.
void keep_page(const std::string& name, const std::string& html) {
    if (const char* folder = std::getenv("WHITTLE_KEEP_REPORTS"))
        write_text(std::filesystem::path(folder) / (name + ".html"), html);
}

ReportedMessage message_of(std::int64_t call, const std::string& role, const std::string& text) {
    return {.recorded = static_cast<std::size_t>(call) * 2,
            .call = call,
            .role = role,
            .tool = role == "tool" ? "read" : "",
            .tokens = static_cast<std::int64_t>(text.size()) / 4,
            .text = report_text(text, true)};
}

constexpr std::int64_t default_text_bytes = 2'000'000;

/// A session of that many calls with a result each, every tenth of which is cleared twenty calls later.
SessionReport report_with(std::int64_t calls, std::size_t bytes = 400) {
    SessionReport session_report{.chain = "recommended", .base = "everything sent", .counter = "chars"};
    const std::string result(bytes, 'r');
    for (std::int64_t call = 0; call < calls; ++call) {
        const std::int64_t sent = 200 + call % 500 * 100;
        ReportedCall& one = session_report.calls.emplace_back();
        one.recorded = {.tokens = 200 + call * 100, .cost = static_cast<double>(call) * 10};
        one.sent = {.tokens = sent, .cached = sent / 2, .cost = static_cast<double>(sent) / 10};
        one.edits = call >= 20 && call % 10 == 0 ? 1 : 0;
        session_report.messages.push_back(message_of(call, "assistant", "read on"));
        session_report.messages.push_back(message_of(call, "tool", result + std::to_string(call)));
        if (call < 20 || call % 10 != 0) continue;
        const auto cleared = static_cast<std::size_t>(call - 20) * 2 + 1;
        session_report.messages[cleared].is_edited = true;
        session_report.edits.push_back(
            {.message = cleared,
             .edit = {.call = call, .by = "reduction", .reason = "clear", .rule = "old_round"},
             .state = MessageState::cleared,
             .tokens_before = 100,
             .tokens = 10,
             .text = report_text("[cleared]", true)});
    }
    session_report.rules = rules_of(session_report.edits);
    bound_lists(session_report);
    return session_report;
}

std::string page_of(SessionReport&& session_report, std::int64_t text_bytes) {
    ReportPage page{.title = "What the session cost", .lead = "One session.", .text_bytes = text_bytes};
    page.sessions.push_back({.id = "long", .facts = "generated"});
    page.sessions.back().tables.push_back(rules_table(session_report));
    page.sessions.back().session_report = std::move(session_report);
    return report_html(std::move(page));
}

}  // namespace

TEST_CASE("the report of a small session is as it was", "[apps]") {
    const TempDir dir;
    write_text(dir / "talk.jsonl", session_line("talk", 3, 300));
    const CliResult result = run_cli(dir, "scan talk.jsonl --html report.html");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err == "whittle: wrote report.html\n");
    const std::string html = read_text(dir / "report.html");
    const std::string expected_file = WHITTLE_SOURCE_DIR "/tool/tests/commands/report.expected.html";
    if (std::getenv("WHITTLE_WRITE_EXPECTED")) write_text(expected_file, content_of(html));
    CHECK(content_of(html) == read_text(expected_file));
    CHECK(content_of(run_cli(dir, "scan talk.jsonl --html -").out) == content_of(html));
    CHECK(files_in(dir) == std::vector<std::string>{"report.html", "talk.jsonl"});
}

TEST_CASE("the data of a session report are its columns, messages, edits, names and texts", "[apps]") {
    SessionReport session_report{.chain = "mine", .base = "as sent", .counter = "chars"};
    session_report.calls.push_back({.recorded = {.tokens = 10, .cost = 10.4}, .sent = {.tokens = 10, .cost = 10}});
    session_report.calls.push_back({.recorded = {.tokens = 60, .cached = 10, .cost = 52, .refetches = 2},
                                    .sent = {.tokens = 20, .cached = 8, .cost = 13, .refetches = 1},
                                    .is_counted = false,
                                    .edits = 1});
    session_report.messages.push_back(message_of(0, "user", "go <on>"));
    session_report.messages.push_back(message_of(1, "tool", "a long result"));
    session_report.edits.push_back(
        {.message = 1,
         .edit = {.call = 1, .by = "reduction", .reason = "clear", .rule = "old_round", .count = 60, .threshold = 50},
         .state = MessageState::cleared,
         .tokens_before = 50,
         .tokens = 10,
         .text = {.head = "[cl", .tail = "red]", .left_out = 2}});
    CHECK(
        session_report_data(session_report) ==
        R"({"chain":"mine","base":"as sent","price":null,"beside":0.0,"counter":"chars","calls":2,"columns":{"per":1,)"
        R"("recorded":[10,60],"cached_recorded":[0,10],"cost_recorded":[10,62],"refetches_recorded":[0,2],)"
        R"("sent":[10,20],"cached":[0,8],"cost_sent":[10,23],"refetches_sent":[0,1],"edits":[0,1],"uncounted":[0,1]},)"
        R"("messages":[[0,0,0,1,1,0],[2,1,2,3,3,1]],)"
        R"("edits":[[1,1,4,10,5,6,60,50,2,-1]],"messages_left_out":0,"edits_left_out":0,)"
        R"("names":["user","","tool","read","cleared","reduction","old_round"],)"
        R"("texts":["go \u003con\u003e","a long result",["[cl",2,"red]"]]})");
}

TEST_CASE("a report tells who cut a message, by which rule, and has the original", "[apps]") {
    const TempDir dir;
    write_text(dir / "long.jsonl", session_line("long", 90, 12'000));
    REQUIRE(run_cli(dir, "scan long.jsonl --html report.html").exit_code == 0);
    const std::string html = read_text(dir / "report.html");
    CHECK(has(html, "<caption>What was changed</caption>"));
    const json session_report = report_of(html);
    REQUIRE_FALSE(session_report["edits"].empty());
    const json& edit = session_report["edits"][0];
    const json& message = session_report["messages"][edit[0].get<std::size_t>()];
    const auto name_at = [&](const json& number) {
        return session_report["names"][number.get<std::size_t>()].get<std::string>();
    };
    CHECK(name_at(message[2]) == "tool");
    CHECK(message[4].get<int>() > edit[3].get<int>());  // tokens, and what is left of them
    CHECK_FALSE(name_at(edit[4]).empty());
    CHECK_FALSE(name_at(edit[5]).empty());
    const json& original = session_report["texts"][message[5].get<std::size_t>()];
    CHECK(original.is_string());
    CHECK(original.get<std::string>().size() == 12'000);
    std::int64_t changed = 0;
    for (const json& count : session_report["columns"]["edits"]) changed += count.get<std::int64_t>();
    CHECK(changed == static_cast<std::int64_t>(session_report["edits"].size()));
    CHECK(session_report["columns"]["cost_sent"].back() < session_report["columns"]["cost_recorded"].back());
}

TEST_CASE("a report allows its own style and script by their hashes, and nothing else", "[apps]") {
    const std::string html = page_of(report_with(3), 1'000);
    const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\">");
    CHECK(policy == "default-src &#39;none&#39;; style-src &#39;sha256-" +
                        to_base64(to_bytes(sha256_hex(style_of(html)))) + "&#39;; script-src &#39;sha256-" +
                        to_base64(to_bytes(sha256_hex(script_of(html)))) +
                        "&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;");
    CHECK_FALSE(
        has(without(html, "http://www.w3.org/2000/svg"), "://"));  // the name of SVG's elements is asked nowhere
    CHECK_FALSE(has(html, "src="));
    CHECK_FALSE(has(html, " style="));
    CHECK_FALSE(has(html,
                    " on"
                    "click="));
}

TEST_CASE("what a session holds cannot become markup of its report", "[apps]") {
    const TempDir dir;
    const std::string nul(1, '\0');
    const std::string hostile =
        "</script><script>window.hostile=1</script><img src=x onerror=\"hostile=1\">]]>-->"
        "<svg onload='hostile=1'>\xE2\x80\xA8\xE2\x80\xAE\xD7\x90" +
        nul + "\x1b[2J&lt;b&gt;{{script}}</style><base href=//x>";
    write_text(dir / "bad.jsonl", session_with(hostile) + session_with("plain"));
    REQUIRE(run_cli(dir, "scan bad.jsonl --html report.html").exit_code == 0);
    const std::string html = read_text(dir / "report.html");
    keep_page("hostile", html);
    CHECK_FALSE(has(html, "<img"));
    CHECK_FALSE(has(html, "<svg on"));
    CHECK_FALSE(has(html, "<base"));
    CHECK_FALSE(has(html, "<script>window"));
    CHECK_FALSE(has(html, "\xE2\x80\xA8"));
    CHECK_FALSE(has(html, "\xE2\x80\xAE"));
    CHECK_FALSE(has(html, nul));
    CHECK_FALSE(has(html, "\x1b"));
    CHECK(is_valid_utf8(html));
    const json session_report = report_of(html);
    CHECK(has(session_report["texts"][0].get<std::string>(), "</script><script>window.hostile=1</script>"));
    CHECK(has(session_report["texts"][0].get<std::string>(), "\\u202e\xD7\x90\\u0000\\u001b[2J"));
}

TEST_CASE("bytes that are no UTF-8 and tabs of a text", "[apps]") {
    CHECK(report_text("a\tb\r\nc\r\xFF", true).head == "a\tb\nc\\u000d\xEF\xBF\xBD");
}

TEST_CASE("a report masks what looks like a secret, unless it is told not to", "[apps]") {
    const TempDir dir;
    const std::string key = "sk-proj-abcdefghijklmnop0123456789";
    write_text(dir / "s.jsonl", session_with("my key " + key));
    run_cli(dir, "scan s.jsonl --html hidden.html");
    run_cli(dir, "scan s.jsonl --html shown.html --no-mask");
    CHECK_FALSE(has(read_text(dir / "hidden.html"), key));
    CHECK(has(read_text(dir / "hidden.html"), "sk-p***"));
    CHECK(has(read_text(dir / "shown.html"), key));
}

TEST_CASE("the report of 500 calls with long results is below 3 MB, with all that there is room for", "[apps]") {
    const std::string html = page_of(report_with(500, 6'000), default_text_bytes);
    keep_page("calls-500", html);
    CHECK(html.size() < 3'000'000);
    CHECK(html.size() > 2'000'000);
    CHECK(report_of(html)["columns"]["per"] == 1);
    CHECK(page_of(report_with(500, 6'000), 50'000).size() < 200'000);
}

TEST_CASE("10,000 calls share columns, and their report is bounded", "[apps][large]") {
    const std::string html = page_of(report_with(10'000), 1'000'000);
    keep_page("calls-10000", html);
    CHECK(html.size() < 3'000'000);
    const json session_report = report_of(html);
    CHECK(session_report["calls"] == 10'000);
    CHECK(session_report["columns"]["per"] == 5);
    REQUIRE(session_report["columns"]["sent"].size() == 2'000);
    CHECK(session_report["columns"]["sent"][0] == 600);           // the largest of calls 0 to 4
    CHECK(session_report["columns"]["edits"][4] == 1);            // of call 20
    CHECK(session_report["columns"]["cost_recorded"][1] == 450);  // of calls 0 to 9
    CHECK(session_report["messages"].size() == 20'000);
    CHECK(session_report["messages_left_out"] == 0);
    const json longer = report_of(page_of(report_with(13'000), 1'000'000));
    CHECK(longer["columns"]["per"] == 7);
    CHECK(longer["messages"].size() == max_report_messages);
    CHECK(longer["messages_left_out"] == 26'000 - static_cast<int>(max_report_messages));
    CHECK(longer["messages"][longer["edits"].back()[0].get<std::size_t>()][1] == 12'970);  // still the message it names
}

TEST_CASE("texts that are too long for a report lose their middle, the longest first", "[apps]") {
    ReportText brief = report_text("brief", false);
    ReportText large = report_text(std::string(5'000, 'a') + std::string(5'000, 'z'), false);
    ReportText larger = report_text(std::string(20'000, '<'), false);
    ReportText* all[] = {&brief, &large, &larger};
    fit_texts(all, 10'000);
    CHECK(brief.head == "brief");
    CHECK(brief.is_whole());
    CHECK(has(large.head, "aaa"));
    CHECK_FALSE(has(large.head, "z"));
    CHECK_FALSE(has(large.tail, "a"));
    CHECK(static_cast<std::int64_t>(large.head.size() + large.tail.size()) + large.left_out == 10'000);
    CHECK(static_cast<std::int64_t>(larger.head.size() + larger.tail.size()) + larger.left_out == 20'000);
    CHECK(size_in_report(brief) + size_in_report(large) + size_in_report(larger) <= 10'000);
    CHECK(size_in_report(large) + size_in_report(larger) > 9'800);
    fit_texts(all, 0);
    CHECK(larger.head.empty());
    CHECK(larger.left_out == 20'000);
}

TEST_CASE("a report is not written over what is read, nor beside JSON on standard output", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("s", 1, 10));
    CHECK(run_cli(dir, "scan s.jsonl --html s.jsonl").exit_code == 2);
    CHECK(run_cli(dir, "scan s.jsonl --html - --json").exit_code == 2);
    const CliResult nowhere = run_cli(dir, "scan s.jsonl --html nowhere/report.html");
    CHECK(nowhere.exit_code == 1);
    CHECK(has(nowhere.err, "write nowhere/report.html"));
}

TEST_CASE("replay writes a report of the chain that it runs, beside its requests", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("one", 12, 4'000) + session_line("two", 3, 100));
    write_text(dir / "chain.json", memory_chain);
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json --html report.html --requests r.jsonl");
    REQUIRE(result.exit_code == 0);
    CHECK(run_cli(dir, "replay s.jsonl --config chain.json --requests plain.jsonl").out == result.out);
    CHECK(read_text(dir / "plain.jsonl") == read_text(dir / "r.jsonl"));
    const std::string html = read_text(dir / "report.html");
    keep_page("replay", html);
    CHECK(has(html, "<h1>What chain.json saves</h1>"));
    CHECK(has(html, "<h3 id=\"session-1-title\" tabindex=\"-1\">one</h3>"));
    CHECK(has(html, "<h3 id=\"session-2-title\" tabindex=\"-1\">two</h3>"));
    CHECK(has(html, "<caption>Costs of all sessions</caption>"));
    const json session_report = report_of(html);
    CHECK(session_report["chain"] == "chain.json");
    CHECK(session_report["edits"].size() > 5);
    const json totals = json::parse(run_cli(dir, "replay s.jsonl --config chain.json --json").out)["trajectories"][0];
    CHECK(session_report["base"] == "everything sent");
    CHECK(std::abs(session_report["columns"]["cost_sent"].back().get<double>() -
                   totals["cost"]["with_refetches"].get<double>()) < 1);
    CHECK(std::abs(session_report["columns"]["cost_recorded"].back().get<double>() -
                   totals["cost"]["everything"].get<double>()) < 1);
    const CliResult streamed = run_cli(dir, "replay s.jsonl --config chain.json --html -");
    CHECK(content_of(streamed.out) == content_of(html));
    CHECK(streamed.err == result.out);
    CHECK(run_cli(dir, "replay s.jsonl --config chain.json --html chain.json").exit_code == 2);
    CHECK(run_cli(dir, "replay s.jsonl --config chain.json --html - --requests -").exit_code == 2);
}

TEST_CASE("a report has the summary in place of what was folded into it", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("one", 10, 4'000));
    write_text(dir / "chain.json", R"({
      "models": {"m": {"type": "scripted", "replies": ["<summary>nothing was found</summary>"]}},
      "middlewares": [{"type": "summarization", "model": "m", "trigger": {"context_tokens": 4000},
                       "keep_recent_tokens": 1500}]})");
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json --html report.html");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const json session_report = report_of(read_text(dir / "report.html"));
    bool is_folded = false;
    for (const json& edit : session_report["edits"]) {
        if (session_report["names"][edit[2].get<std::size_t>()] != "folded") continue;
        is_folded = true;
        const json& summary = session_report["messages"][edit[9].get<std::size_t>()];
        CHECK(summary[0] == -1);
        CHECK(has(session_report["texts"][summary[5].get<std::size_t>()].get<std::string>(), "nothing was found"));
    }
    CHECK(is_folded);
}
