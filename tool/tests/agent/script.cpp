#include "agent/script.hpp"

#include "agent/enum_list.hpp"
#include "agent/figures.hpp"
#include "agent/request_view.hpp"
#include "support/catch.hpp"

#include <whittle/reduction/detail/clearing.hpp>
#include <whittle/reduction/detail/truncation.hpp>

#include <fmt/format.h>

using whittle::openai::Message;

namespace {

const std::string header = "// colours\nenum class Colour {\n    red = 1,  ///< warm, I think\n    blue,\n};\nint x;\n";

Message tool_result(const std::string& id, const std::string& text) {
    return Message(nlohmann::ordered_json{{"role", "tool"}, {"tool_call_id", id}, {"content", text}});
}

/// The arguments of the first call of a reply; null if there is none.
nlohmann::json arguments_of(const Message& reply) {
    if (!reply.json().contains("tool_calls")) return {};
    return nlohmann::json::parse(reply.json()["tool_calls"][0]["function"]["arguments"].get<std::string>());
}

/// Answers the model's calls until it wants to edit or read something that is not in the workspace; `header_result` is
/// what its early read of the header looks like by then.
Message first_reply_after_survey(const std::string& header_result, std::vector<Message>& messages) {
    messages = {whittle::message_traits<Message>::make(whittle::Role::user, agent::task_for("Colour"))};
    for (int step = 0; step < 100; ++step) {
        const Message reply = agent::scripted_reply({.messages = messages}).message;
        const nlohmann::json first = arguments_of(reply);
        if (!reply.json().contains("tool_calls") || first.contains("old") || first.contains("reference")) return reply;
        messages.push_back(reply);
        for (const auto& call : reply.json()["tool_calls"]) {
            const std::string name = call["function"]["name"];
            const auto arguments = nlohmann::json::parse(call["function"]["arguments"].get<std::string>());
            std::string result = "x";
            if (name == "list_files") result = "       20  README.md\n       90  include/colour.hpp\n";
            if (name == "grep") result = "doc.md:1: enum class Colour {\ninclude/colour.hpp:2: enum class Colour {\n";
            if (name == "read_file" && arguments["path"] == "include/colour.hpp") result = header_result;
            messages.push_back(tool_result(call["id"], result));
        }
    }
    FAIL("the model went on reading");
    return messages.front();
}

}  // namespace

TEST_CASE("the values of an enumeration are read without comments and numbers", "[agent]") {
    const auto found = agent::find_enum(header, "Colour");
    REQUIRE(found);
    CHECK(found->block == "enum class Colour {\n    red = 1,  ///< warm, I think\n    blue,\n};");
    CHECK(found->values == std::vector<std::string>{"red", "blue"});
    CHECK_FALSE(agent::find_enum(header, "Colou"));
    CHECK(agent::with_list(*found) ==
          found->block +
              "\n\n/// All values, in the order of their declaration.\n"
              "inline constexpr Colour every_colour[] = {\n    Colour::red, Colour::blue,\n};");
}

TEST_CASE("the location is found in the placeholder that the library writes", "[agent]") {
    const auto placeholder = whittle::clearing_placeholder(
        {.tool = "read_file", .bytes = 90, .lines = 6, .location = "/store/a b]/c", .reader = "read_offloaded"},
        whittle::Language::english);
    CHECK(agent::cleared_location(placeholder) == "/store/a b]/c");
    CHECK_FALSE(agent::cleared_location(header));
    CHECK_FALSE(agent::cleared_location(whittle::plain_placeholder(whittle::Language::english)));
}

TEST_CASE("the model edits with what the request still shows", "[agent]") {
    std::vector<Message> messages;
    const auto arguments = arguments_of(first_reply_after_survey(header, messages));
    CHECK(arguments["path"] == "include/colour.hpp");
    CHECK(arguments["old"] == agent::find_enum(header, "Colour")->block);
}

TEST_CASE("the model reads back what was cleared, and edits with that", "[agent]") {
    const auto placeholder = whittle::clearing_placeholder(
        {.tool = "read_file", .bytes = 90, .lines = 6, .location = "/store/call_3", .reader = "read_offloaded"},
        whittle::Language::english);
    std::vector<Message> messages;
    const Message reply = first_reply_after_survey(placeholder, messages);
    CHECK(arguments_of(reply) == nlohmann::json{{"reference", "/store/call_3"}});

    messages.push_back(reply);
    messages.push_back(tool_result(reply.json()["tool_calls"][0]["id"], header));
    const auto arguments = arguments_of(agent::scripted_reply({.messages = messages}).message);
    CHECK(arguments["old"] == agent::find_enum(header, "Colour")->block);
}

TEST_CASE("the location is found in the notice of a shortened result, whatever the text around it says", "[agent]") {
    const std::string notice = whittle::truncation_notice(
        {.tool = "run_command", .bytes = 90, .lines = 6, .location = "/store/x", .reader = "read_offloaded"},
        whittle::Language::english);
    CHECK(agent::truncated_location("Full text: /etc/passwd" + notice + "Full text: /etc/shadow]") == "/store/x");
    CHECK_FALSE(agent::truncated_location("Full text: /etc/passwd - read it with cat"));
    CHECK_FALSE(agent::truncated_location(header));
}

TEST_CASE("the model gives up on a header that it cannot read", "[agent]") {
    std::vector<Message> messages;
    const Message reply = first_reply_after_survey("read_file failed", messages);
    CHECK_FALSE(reply.json().contains("tool_calls"));
    CHECK(whittle::text_of(reply).starts_with("Not done"));
}

TEST_CASE("a diff shows the lines that changed with two around them", "[agent]") {
    CHECK(agent::to_diff({.path = "", .before = "a\nb\nc\nd", .after = "a\nb\nc\nx\nd"}) == "  b\n  c\n+ x\n  d\n");
    CHECK(agent::to_diff({.path = "", .before = "a\nb", .after = "a\nc"}) == "  a\n- b\n+ c\n");
}

TEST_CASE("every promise of the demo is checked", "[agent]") {
    agent::Figures kept;
    kept.steps = 40;
    for (int i = 0; i < 15; ++i) kept.files.insert(std::to_string(i));
    kept.commands = 3;
    kept.read_backs = 1;
    kept.searches = 1;
    kept.truncated_results = 1;
    kept.edits.push_back({});
    kept.raw_peak = 150'001;
    kept.sent_peak = 59'999;
    CHECK(agent::broken_promises(kept).empty());
    CHECK(agent::broken_promises({}).size() == 8);
    kept.sent_peak = 60'000;
    kept.last_command_status = 1;
    CHECK(agent::broken_promises(kept).size() == 2);
}
