#include "evaluation/recorded.hpp"

#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/convert/convert.hpp"
#include "whittle/reduction/reduction.hpp"

#include <sstream>
#include <string>

using namespace whittle;
using namespace whittle::evaluation;

namespace {

template <JsonMessage M>
Trajectory<M> read_one(const std::string& json) {
    std::istringstream in(json);
    Trajectory<M> one;
    read_trajectories<M>(in, {}, [&](Trajectory<M>&& trajectory) { one = std::move(trajectory); });
    return one;
}

constexpr const char* openai_session = R"({"id":"o","source":"github.com/a/swe-runs","system":"Be brief.",
 "tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],
 "messages":[{"role":"user","content":"read both"},
  {"role":"assistant","content":"Reading.","tool_calls":[
   {"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"src/a/one.cpp\"}"}},
   {"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\":\"src/a/two.cpp\"}"}}]},
  {"role":"tool","tool_call_id":"c1","content":"first file"},
  {"role":"tool","tool_call_id":"c2","content":"second file"},
  {"role":"assistant","content":"done"}],
 "meta":{"est_tokens":30000,"t":[0,5,6,7,9.5]}})";

constexpr const char* anthropic_session = R"({"id":"a","source":"github.com/a/swe-runs","system":"Be brief.",
 "tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],
 "messages":[{"role":"user","content":"read both"},
  {"role":"assistant","content":[{"type":"text","text":"Reading."},
   {"type":"tool_use","id":"c1","name":"read","input":{"path":"src/a/one.cpp"}},
   {"type":"tool_use","id":"c2","name":"read","input":{"path":"src/a/two.cpp"}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"first file"},
   {"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"second file"}]}]},
  {"role":"assistant","content":"done"}],
 "meta":{"est_tokens":30000,"t":[0,5,7,9.5]}})";

}  // namespace

TEST_CASE("a session is the same to the figures, whichever provider's messages it was recorded in", "[evaluation]") {
    const SessionInput one = to_session(read_one<openai::Message>(openai_session));
    const SessionInput other = to_session(read_one<anthropic::Message>(anthropic_session));
    CHECK(one.kind == AgentKind::coding);
    CHECK(one.estimated_tokens == 30'000);
    CHECK(one.system == "Be brief.");
    CHECK(one.messages.size() == 5);
    CHECK(text_of(one.messages[1]) == "Reading.\nread {\"path\":\"src/a/one.cpp\"}\nread {\"path\":\"src/a/two.cpp\"}");
    REQUIRE(other.messages.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CAPTURE(i);
        CHECK(text_of(one.messages[i]) == text_of(other.messages[i]));
        CHECK(one.messages[i].role == other.messages[i].role);
        CHECK(one.messages[i].result_of == other.messages[i].result_of);
    }
    CHECK(other.tools == one.tools);
    CHECK(other.seconds[3] == 7.0);
    CHECK(other.seconds[4] == 9.5);
}

TEST_CASE("a reply stays one, whatever stands in it, since calls are counted by replies", "[evaluation]") {
    evaluation::detail::PartCollector collector(Role::assistant);
    collector.add({.kind = PartKind::tool_result, .text = "found by the server", .call_id = "s1"});
    const std::vector<Message> messages = collector.take();
    REQUIRE(messages.size() == 2);
    CHECK(messages[0].role == Role::tool);
    CHECK(messages[1].role == Role::assistant);
}

TEST_CASE("parts of a content stand in lines of their own, and images are counted", "[evaluation]") {
    const auto session = to_session(read_one<openai::Message>(
        R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},
            {"type":"image_url","image_url":{"url":"https://example.org/x.png"}},{"type":"text","text":"b"}]},
            {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",
             "function":{"name":"t","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"c","content":""}]})"));
    REQUIRE(session.messages.size() == 3);
    CHECK(session.messages[0].content == "a\n\nb");
    CHECK(session.messages[0].media == 1);
    CHECK(session.messages[0].blocks == 3);
    CHECK(text_of(session.messages[1]) == "\nt {}");
    CHECK(session.messages[1].blocks == 1);
    CHECK(session.messages[2].content.empty());
    CHECK(session.messages[2].result_of == "c");
}

namespace {

/// Twelve files of 3,000 tokens are read, then the path that the first one named is needed.
std::string long_session() {
    nlohmann::ordered_json messages{{{"role", "user"}, {"content", "go"}}};
    const auto round = [&](int i, const std::string& arguments, const std::string& text) {
        const std::string id = "c" + std::to_string(i);
        messages.push_back(
            {{"role", "assistant"},
             {"content", nullptr},
             {"tool_calls",
              {{{"id", id}, {"type", "function"}, {"function", {{"name", "read"}, {"arguments", arguments}}}}}}});
        messages.push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", text}});
    };
    for (int i = 0; i < 12; ++i) {
        const std::string text = i == 0 ? "see src/deep/inside.cpp " : "";
        round(i, "{}", text + std::string(12'000, static_cast<char>('a' + i)));
    }
    round(12, R"({"path":"src/deep/inside.cpp"})", "int main() {}");
    messages.push_back({{"role", "assistant"}, {"content", "done"}});
    return nlohmann::ordered_json{{"id", "long"}, {"messages", messages}}.dump();
}

}  // namespace

TEST_CASE("what a chain took out and stored is recoverable, and everything can be restored", "[evaluation]") {
    const auto trajectory = read_one<openai::Message>(long_session());
    ChainConfig config{.storage = memory_storage()};
    const auto storage = config.storage;
    const Chain<openai::Message> chain(
        std::move(config),
        Reduction<openai::Message>{ReductionConfig{
            .skip_truncation = true, .max_tokens_for_clear = 20'000, .clear_retention_suffix_limit = 2}});
    const ChainRequests made = requests_of_chain<openai::Message>(trajectory, chain);
    CHECK(made.requests.size() == 14);
    CHECK(made.totals.commits > 0);

    const Session session(to_session(trajectory));
    Run run(session, {.storage = storage});
    for (std::size_t call = 0; call < made.requests.size(); ++call) run.send(call, made.requests[call]);
    const Figures figures = run.finish();
    CHECK(figures.sent < figures.raw);
    CHECK(figures.removed_messages > 5);
    CHECK(figures.faults.messages_not_restorable == 0);
    CHECK(figures.faults.newest_result_dropped == 0);
    CHECK(figures.arrived_shown == figures.arrived);
    CHECK(figures.refetches_from_store == 1);
    ProbeCount asked;
    for (const ProbeCount& age : figures.probes[0]) asked += age;
    CHECK(asked.recoverable == 1);
    CHECK(asked.lost == 0);
}

TEST_CASE("requests of a chain say how much of them the one before had", "[evaluation]") {
    const auto trajectory = read_one<openai::Message>(long_session());
    const Chain<openai::Message> chain{ChainConfig{}};
    const ChainRequests made = requests_of_chain<openai::Message>(trajectory, chain);
    CHECK(made.requests[5].keep == 9);
    CHECK(made.requests[5].rest.size() == 2);
    const Session session(to_session(trajectory));
    Run run(session);
    for (std::size_t call = 0; call < made.requests.size(); ++call) run.send(call, made.requests[call]);
    const Figures figures = run.finish();
    CHECK(figures.sent == figures.raw);
    CHECK(figures.commits == 0);
}

TEST_CASE("the clock of a chain that is evaluated follows the recording", "[evaluation]") {
    auto trajectory = read_one<openai::Message>(long_session());
    trajectory.seconds_since_first.assign(trajectory.messages.size(), std::nullopt);
    trajectory.seconds_since_first.front() = 1.0;
    trajectory.seconds_since_first.back() = 400.0;
    const auto clock = std::make_shared<ManualClock>(5);
    const Chain<openai::Message> chain{ChainConfig{.clock = clock}};
    const ChainRequests made = requests_of_chain<openai::Message>(trajectory, chain, {.clock = clock});
    CHECK(made.requests.size() == 14);
    CHECK(clock->now() == 400'000);
}
