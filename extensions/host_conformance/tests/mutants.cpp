// Every check can fail: an adapter with one mistake is caught, by the name of what it breaks.
#include "slip.hpp"

#include <algorithm>
#include <set>

using namespace whittle;
using slips::Mistake;

namespace {

/// Of the suite on traits that make this one.
ConformanceReport report_of(Mistake mistake, const ConformanceOptions& options = {}) {
    slips::mistake = mistake;
    ConformanceReport report = host_conformance(slips::format(), options);
    slips::mistake = Mistake::none;
    return report;
}

/// The check fails, and no more than `others` with it.
void check_caught(Mistake mistake, const std::string& check, const std::vector<std::string>& others = {}) {
    const std::vector<std::string> failed = report_of(mistake).failed_checks();
    INFO(check);
    CHECK(std::ranges::count(failed, check) == 1);
    for (const std::string& name : failed) {
        INFO(name);
        CHECK((name == check || std::ranges::count(others, name) == 1));
    }
}

}  // namespace

TEST_CASE("traits without a mistake pass, and every check was tried", "[host_conformance]") {
    const ConformanceReport report = report_of(Mistake::none);
    INFO(report.text());
    CHECK(report.passed());
    CHECK(report.messages == 300);
    for (const ConformanceCheck& check : report.checks) {
        INFO(check.name);
        CHECK(check.tried > 0);
    }
}

TEST_CASE("what is read wrongly is named", "[host_conformance]") {
    check_caught(Mistake::shows_another_role, "role");
    check_caught(Mistake::skips_media, "every_part",
                 {"set_text", "set_text_keeps_the_rest", "erase_part", "make_tool_results", "rename_call",
                  "visitor_throws", "missing_part"});
    check_caught(Mistake::shows_calls_first, "part_order",
                 {"set_text", "set_text_keeps_the_rest", "erase_part", "rename_call", "conversation"});
    check_caught(Mistake::takes_thinking_for_text, "part_kinds", {"set_text", "erase_part", "rename_call"});
    check_caught(Mistake::ends_texts_at_nul, "texts",
                 {"set_text", "erase_part", "make", "rename_call", "conversation"});
    check_caught(Mistake::trims_thinking, "thinking", {"set_text", "erase_part", "rename_call"});
    check_caught(Mistake::reformats_arguments, "arguments", {"set_text", "erase_part", "rename_call", "conversation"});
    check_caught(Mistake::ends_results_at_nul, "results",
                 {"set_text", "erase_part", "make_tool_results", "rename_call", "conversation"});
    check_caught(Mistake::forgets_errors, "errors", {"set_text", "erase_part", "make_tool_results", "rename_call"});
    check_caught(Mistake::loses_ids_of_results, "call_ids",
                 {"set_text", "erase_part", "make_tool_results", "rename_call"});
    check_caught(Mistake::loses_names_of_tools, "tool_names", {"set_text", "erase_part", "rename_call"});
    check_caught(Mistake::loses_urls, "media", {"set_text", "erase_part", "rename_call"});
}

TEST_CASE("an edit that changes more than it names is named", "[host_conformance]") {
    check_caught(Mistake::sets_the_first_part, "set_text",
                 {"set_text_keeps_the_rest", "bad_arguments", "missing_part", "conversation"});
    check_caught(Mistake::drops_a_field_when_it_sets, "set_text_keeps_the_rest", {"conversation", "missing_part"});
    check_caught(Mistake::drops_a_mark_when_it_sets, "set_text_keeps_the_rest", {"conversation"});
    check_caught(Mistake::erases_the_last_part, "erase_part", {"erase_part_keeps_the_rest"});
    check_caught(Mistake::drops_a_field_when_it_erases, "erase_part_keeps_the_rest");
    check_caught(Mistake::throws_at_long_texts, "set_text");
}

TEST_CASE("a bad edit that is not refused is named", "[host_conformance]") {
    check_caught(Mistake::takes_any_arguments, "bad_arguments");
    check_caught(Mistake::adds_missing_parts, "missing_part");
    check_caught(Mistake::shares_its_parts, "copies",
                 {"set_text", "set_text_keeps_the_rest", "erase_part", "erase_part_keeps_the_rest", "rename_call",
                  "bad_arguments", "missing_part", "conversation", "part_index", "visitor_throws", "codec", "call_ids",
                  "mark_id", "every_part"});
    check_caught(Mistake::swallows_exceptions, "visitor_throws");
}

TEST_CASE("what makes, renames, saves or finds wrongly is named", "[host_conformance]") {
    check_caught(Mistake::makes_users_only, "make");
    check_caught(Mistake::swaps_made_results, "make_tool_results");
    check_caught(Mistake::forgets_ids_when_it_renames, "rename_call");
    check_caught(Mistake::forgets_marks_when_it_saves, "codec");
    check_caught(Mistake::is_off_by_one, "part_index", {"conversation"});
    check_caught(Mistake::shows_ids_of_marks, "mark_id");
}

TEST_CASE("messages that share what they hold are caught through a conversation too", "[host_conformance]") {
    const std::vector<std::string> failed = report_of(Mistake::shares_its_parts).failed_checks();
    CHECK(std::ranges::count(failed, "conversation") == 1);
}

TEST_CASE("a format that builds nothing, or not what it says, fails", "[host_conformance]") {
    auto format = slips::format();
    const auto build = format.build;
    format.build = [](const ChatMessage&, FieldValues&) { return std::optional<slips::Slip>(); };
    CHECK(std::ranges::count(host_conformance(format).failed_checks(), "messages_built") == 1);

    format.build = [&](const ChatMessage& shown, FieldValues& others) {
        for (const Part& part : shown.parts)
            if (part.kind == PartKind::thinking) return std::optional<slips::Slip>();
        return build(shown, others);
    };
    const ConformanceReport report = host_conformance(format);
    CHECK(report.failed_checks() == std::vector<std::string>{"parts_covered"});
    CHECK(report.text().find("thinking was never built") != std::string::npos);
}

TEST_CASE("each failure is told as it is found, with what was tried", "[host_conformance]") {
    std::set<std::string> reported;
    const ConformanceReport report = report_of(
        Mistake::loses_urls, {.messages = 50, .on_failure = [&](std::string_view check, std::string_view what) {
                                  reported.emplace(check);
                                  CHECK(!what.empty());
                              }});
    const std::vector<std::string> failed = report.failed_checks();
    CHECK(reported == std::set<std::string>(failed.begin(), failed.end()));
    const auto media = std::ranges::find(report.checks, "media", &ConformanceCheck::name);
    CHECK(media->first.find("url") != std::string::npos);
}

TEST_CASE("the same seed gives the same suite, another one another", "[host_conformance]") {
    const auto text_of = [](std::uint64_t seed) { return report_of(Mistake::trims_thinking, {.seed = seed}).text(); };
    CHECK(text_of(1) == text_of(1));
    CHECK(text_of(1) != text_of(2));
}

TEST_CASE("a suite without functions or messages is refused", "[host_conformance]") {
    CHECK_THROWS_AS(host_conformance(MessageFixture<ChatMessage>{}), Error);
    CHECK_THROWS_AS(host_conformance(slips::format(), {.messages = 0}), Error);
}
