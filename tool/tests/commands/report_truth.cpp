#include "cli.hpp"
#include "report/report_page.hpp"
#include "report/report_rows.hpp"
#include "support/catch.hpp"
#include "whittle/base/version.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using namespace whittle::cli;
using nlohmann::json;

namespace {

/// What stands between two texts, each time.
std::vector<std::string> all_between(std::string_view text, std::string_view begin, std::string_view end) {
    std::vector<std::string> found;
    while (true) {
        const std::size_t from = text.find(begin);
        if (from == std::string_view::npos) return found;
        text.remove_prefix(from + begin.size());
        const std::size_t to = text.find(end);
        REQUIRE(to != std::string_view::npos);
        found.emplace_back(text.substr(0, to));
        text.remove_prefix(to);
    }
}

std::string first_between(std::string_view text, std::string_view begin, std::string_view end) {
    const std::vector<std::string> found = all_between(text, begin, end);
    REQUIRE_FALSE(found.empty());
    return found.front();
}

/// "1,234" of "1,234 tokens" as a number.
std::int64_t number_in(const std::string& text) {
    std::string digits;
    for (const char c : text) {
        if (c >= '0' && c <= '9') digits += c;
        if (c == ' ' || c == '<') break;
    }
    REQUIRE_FALSE(digits.empty());
    return std::stoll(digits);
}

/// The value of a figure of the head.
std::string figure_of(const std::string& html, const std::string& label) {
    return first_between(html, "<dt>" + label + "</dt><dd>", "<small>");
}

std::vector<json> stories_of(const std::string& html) {
    std::vector<json> session_reports;
    for (const std::string& session_report :
         all_between(html, "<script type=\"application/json\" class=\"session-data\">", "</script>"))
        session_reports.push_back(json::parse(session_report));
    return session_reports;
}

std::string unescaped(std::string text) {
    const auto replace = [&](const std::string& what, const std::string& by) {
        for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
            text.replace(at, what.size(), by);
    };
    replace("&#34;", "\"");
    replace("&#39;", "'");
    replace("&#60;", "<");
    replace("&#62;", ">");
    replace("&#38;", "&");
    return text;
}

std::vector<std::string> pastes_of(const std::string& html) {
    std::vector<std::string> pastes;
    for (const std::string& paste : all_between(html, "<pre class=\"paste\"", "</pre>"))
        pastes.push_back(unescaped(paste.substr(paste.find('>') + 1)));
    return pastes;
}

/// The first ones the longest.
std::string some_sessions(int number) {
    std::string lines;
    for (int i = 0; i < number; ++i) lines += session_line("s-" + std::to_string(i), 12 - i, 800);
    return lines;
}

}  // namespace

TEST_CASE("the head of a report, the sentence of its session and the end of the chart say the same", "[apps]") {
    const TempDir dir;
    write_text(dir / "long.jsonl", session_line("long", 90, 12'000));  // the preset takes results out
    REQUIRE(run_cli(dir, "scan long.jsonl --html report.html").exit_code == 0);
    const std::string html = read_text(dir / "report.html");
    const json columns = stories_of(html).front()["columns"];
    const std::string as_sent = figure_of(html, "as sent");
    const std::string under = figure_of(html, "under recommended");
    CHECK(number_in(as_sent) == columns["cost_recorded"].back());
    CHECK(number_in(under) == columns["cost_sent"].back());
    CHECK(number_in(under) < number_in(as_sent));
    CHECK(columns["refetches_sent"].back() < columns["cost_sent"].back());
    CHECK(has(html, "It cost " + as_sent + " tokens&#39; worth as sent. Under recommended it would have cost " + under +
                        " tokens&#39; worth"));
    std::int64_t sent = 0;
    for (const json& tokens : columns["sent"]) sent += tokens.get<std::int64_t>();
    CHECK(has(html, "<small>tokens&#39; worth; " + grouped(sent) + " tokens sent</small>"));
    const json scan = json::parse(run_cli(dir, "scan long.jsonl --json").out);
    CHECK(std::abs(scan["strategies"][2]["cost_with_refetches"].get<double>() - static_cast<double>(number_in(under))) <
          1);
}

TEST_CASE("the bars of where the tokens went add up to all that was sent", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", some_sessions(2));
    REQUIRE(run_cli(dir, "scan s.jsonl --html report.html").exit_code == 0);
    const std::string html = read_text(dir / "report.html");
    const std::string bars = first_between(html, "<caption>Tokens by kind of message</caption>", "</table>");
    std::int64_t sum = 0;
    double longest = 0;
    for (const std::string& row : all_between(bars, "<tr><th scope=\"row\">", "</tr>")) {
        sum += number_in(first_between(row, "</svg></td><td>", "</td>"));
        longest = std::max(longest, std::stod(first_between(row, "<rect width=\"", "\"")));
    }
    CHECK(has(html, "<small>tokens&#39; worth; " + grouped(sum) + " tokens sent</small>"));
    CHECK(longest == 100.0);
    CHECK(has(bars, "results of read"));
    CHECK(has(bars, "system text and tools, in front of each call"));
    CHECK(html.find("id=\"where\"") < html.find("id=\"all\""));
}

TEST_CASE("every session is in the picture of all, and those that are shown call by call have a link", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", some_sessions(8));
    for (const std::string command : {"scan s.jsonl", "replay s.jsonl --preset recommended"}) {
        REQUIRE(run_cli(dir, command + " --html report.html").exit_code == 0);
        const std::string html = read_text(dir / "report.html");
        const std::string table = first_between(html, "<table class=\"all\"", "</table>");
        const std::vector<std::string> rows = all_between(table, "<tr data-sent=\"", "</tr>");
        REQUIRE(rows.size() == 8);
        CHECK(all_between(table, "<th scope=\"col\"", "</th>").size() == all_between(rows[0], "</t", ">").size());
        double before = 1e300;
        std::set<std::string> names;
        for (const std::string& row : rows) {
            const double sent = std::stod(row);
            CHECK(sent <= before);
            before = sent;
            const std::string name = first_between(row, "<th scope=\"row\">", "</th>");
            names.insert(has(name, "<a ") ? first_between(name, "\">", "</a>") : name);
        }
        CHECK(names.size() == 8);
        CHECK(all_between(table, "<a href=\"#session-", "\"").size() == 5);
        const std::vector<json> session_reports = stories_of(html);
        REQUIRE(session_reports.size() == 5);
        const std::vector<std::string> titles = all_between(html, "-title\" tabindex=\"-1\">", "</h3>");
        for (const std::string& row : rows) {
            if (!has(row, "<a ")) continue;
            const auto number = static_cast<std::size_t>(number_in(first_between(row, "#session-", "\"")));
            const std::string link = first_between(row, "<a ", "</a>");
            CHECK(titles[number - 1] == link.substr(link.find('>') + 1));
        }
    }
}

TEST_CASE("sessions beyond the rows of a report share the last one", "[apps]") {
    ReportOverview all{.chain = "recommended", .base = "as sent"};
    for (std::size_t i = 0; i < max_report_rows + 5; ++i)
        all.rows.push_back({.id = "s" + std::to_string(i),
                            .calls = 2,
                            .as_sent = {.tokens = 100, .dollars = 0.5},
                            .under_chain = {.tokens = 50, .dollars = 0.25}});
    const OverviewRows rows(all);
    REQUIRE(rows.lines().size() == max_report_rows);
    const OverviewLine& rest = rows.lines().back();
    CHECK(rest.is_rest);
    CHECK(rest.cells[0].text == "6 others");
    CHECK(rest.cells[1].text == "12");
    CHECK(rest.cells[2].text == "$3.00");
    CHECK(rest.cells[3].text == "$1.50");
    CHECK(rest.cells[4].text == "50 % less");
}

TEST_CASE("costs are in dollars where each session has a price, else in tokens' worth", "[apps]") {
    CHECK(cost_text({.tokens = 1'234'567}) == "1,234,567");
    CHECK(cost_text({.tokens = 10, .dollars = 1'234.5}) == "$1,234.50");
    CHECK(cost_text({.tokens = 10, .dollars = 0.01234}) == "$0.0123");
    CHECK(cost_text({.tokens = 10, .dollars = 0.0}) == "$0.00");
    CHECK(cost_with_unit({.tokens = 1'000, .dollars = 2.0}) == "$2.00 (1,000 tokens' worth)");
    CHECK(cost_with_unit({.tokens = 1'000}) == "1,000 tokens' worth");
    ReportCost sum{.tokens = 1, .dollars = 1.0};
    sum += {.tokens = 2, .dollars = 2.0};
    CHECK(cost_text(sum) == "$3.00");
    sum += {.tokens = 3};
    CHECK(cost_text(sum) == "6");
    ReportOverview all{.chain = "recommended", .base = "as sent"};
    all.rows.push_back(
        {.id = "priced", .as_sent = {.tokens = 200, .dollars = 4.0}, .under_chain = {.tokens = 100, .dollars = 2.0}});
    CHECK(OverviewRows(all).lines()[0].cells[2].text == "$4.00");
    CHECK(OverviewRows(all).headings().size() == OverviewRows(all).lines()[0].cells.size());
    CHECK(OverviewRows(all).lines()[0].sent == "4");
    all.rows.push_back({.id = "other", .as_sent = {.tokens = 10}, .under_chain = {.tokens = 10}});
    CHECK(OverviewRows(all).lines()[0].cells[2].text == "200");
    CHECK(OverviewRows(all).lines()[0].sent == "200");
}

TEST_CASE("what a report gives to paste is a configuration, a command and code", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", some_sessions(2));
    write_text(dir / "mine.json", memory_chain);
    REQUIRE(run_cli(dir, "scan s.jsonl --window 150000 --html 'my report.html'").exit_code == 0);
    const std::string html = read_text(dir / "my report.html");
    CHECK(has(html,
              "<dt>This report was made by</dt><dd>whittle scan s.jsonl --window 150000 --html &#39;my "
              "report.html&#39;</dd>"));
    CHECK(has(html, "<dt>with</dt><dd>whittle " WHITTLE_VERSION_STRING "</dd>"));
    const std::vector<std::string> pastes = pastes_of(html);
    REQUIRE(pastes.size() == 3);
    CHECK(pastes[0] == run_cli(dir, "config show --preset recommended --window 150000 --cache anthropic_5m").out);
    write_text(dir / "chain.json", pastes[0]);
    CHECK(run_cli(dir, "config check chain.json").exit_code == 0);
    REQUIRE(pastes[1] == "whittle replay s.jsonl --config chain.json --html replay.html\n");
    const CliResult replayed = run_cli(dir, pastes[1].substr(8, pastes[1].size() - 9));
    CHECK(replayed.exit_code == 0);
    CHECK(json::parse(pastes_of(read_text(dir / "replay.html"))[0]) == json::parse(pastes[0]));
    CHECK(has(
        pastes[2],
        "make_chain(\n    recommended({.context_window = 150000, .cache = *find_cache_profile(\"anthropic_5m\")}))"));
    REQUIRE(run_cli(dir, "replay s.jsonl --config mine.json --html mine.html").exit_code == 0);
    CHECK(json::parse(pastes_of(read_text(dir / "mine.html"))[0]) == json::parse(memory_chain));
}

TEST_CASE("each colour of a report's drawings is in a legend", "[apps]") {
    const std::string folder = WHITTLE_SOURCE_DIR "/tool/report/";
    const std::string style = read_text(folder + "report.css");
    const std::string meanings = first_between(read_text(folder + "draw.js"), "const meanings = {", "\n};");
    // Lines of axes and what the pointer picks.
    const std::set<std::string> without_meaning{"grid", "axis", "cursor", "picked", "hovered", "line", "text"};
    std::size_t colours = 0;
    for (const std::string& rule : all_between(style, "svg .", " {")) {
        const std::string name = rule.substr(0, rule.find_first_of(". "));
        if (without_meaning.contains(name)) continue;
        ++colours;
        INFO(name);
        CHECK((has(meanings, " " + name + ":") || has(meanings, "'" + name + "':")));
    }
    CHECK(colours >= 18);
}
