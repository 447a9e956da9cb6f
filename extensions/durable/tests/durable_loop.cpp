// An agent that is saved as it goes, killed, and resumed by another process.
#include "whittle/durable/durable_loop.hpp"

#include "durable_tools.hpp"
#include "support/killed_writers.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"

#include <fcntl.h>

using namespace whittle;
using testing::errc_of;
using testing::leave_after;

namespace {

using DurableAgent = DurableConversation<>;

constexpr int calls_of_agent = 4;

/// Asks for one payment after the other, each in a call with the same id, as some models do.
std::shared_ptr<Model<ChatMessage>> paying_model() {
    return std::make_shared<ScriptedModel<ChatMessage>>([](const ModelRequest<ChatMessage>& request) {
        const auto results =
            std::ranges::count_if(request.messages, [](const ChatMessage& m) { return m.role == Role::tool; });
        if (results == calls_of_agent) return Reply<ChatMessage>{ChatMessage::assistant("All paid.")};
        return Reply<ChatMessage>{
            ChatMessage::assistant().call("call_0", "pay", R"({"bill":)" + std::to_string(results) + "}")};
    });
}

/// Pays once for each key, by a file of that name: what a payment service does.
Tool paying_tool(const std::string& folder, const std::function<void(int step)>& moment) {
    Tool tool = text_tool("pay", "Pays.", R"({"type":"object","properties":{}})", nullptr);
    tool.invoke = [=](const ToolContext& context, PartSink& out) {
        moment(0);
        const std::string file = folder + "/" + idempotency_key(context);
        const int fd = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd >= 0) ::close(fd);
        moment(1);
        out.write("paid " + context.arguments);
        return ToolOutcome{};
    };
    return tool;
}

/// Runs or resumes the agent until it has answered.
RunResult run_agent(
    const std::shared_ptr<Storage>& storage, const std::string& folder,
    const std::function<void(int step)>& moment = [](int) {}) {
    auto durable = DurableAgent::open(storage, "payments", {.writer = "agent", .take_over = true});
    AgentLoop<ChatMessage> loop(save_before_model_calls(paying_model(), durable), {paying_tool(folder, moment)},
                                Chain<>(ChainConfig{}), {}, save_before_tool_starts(durable));
    RunResult result = durable->empty() ? loop.run(*durable, "Pay four bills.") : loop.run(*durable);
    durable.save();
    return result;
}

std::size_t files_in(const std::string& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("calls have different keys, also with the same id, and the same ones when they are run again", "[durable]") {
    const ToolContext call{.call_id = "call_0", .round_serial = 7, .index_in_round = 0, .conversation_id = "chat"};
    ToolContext other = call;
    CHECK(idempotency_key(call) == idempotency_key(other));
    CHECK(idempotency_key(call).size() == 64);
    SECTION("round") { other.round_serial = 8; }
    SECTION("place") { other.index_in_round = 1; }
    SECTION("id") { other.call_id = "call_1"; }
    SECTION("conversation") { other.conversation_id = "chat2"; }
    CHECK(idempotency_key(call) != idempotency_key(other));
}

TEST_CASE("an agent killed in the middle of any tool call is resumed without paying twice, and no call stays open",
          "[durable]") {
    for (int at = 0; at < 2 * calls_of_agent; ++at) {
        CAPTURE(at);
        const testing::TempDir dir;
        const std::string folder = dir / "payments";
        std::filesystem::create_directory(folder);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            leave_after([&] {
                int moments = 0;
                (void)run_agent(file_storage(dir / "store", {.durability = Durability::none}), folder, [&](int) {
                    if (moments++ == at) ::raise(SIGKILL);
                });
            });
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        INFO("ended with " << WEXITSTATUS(status));
        REQUIRE(WIFSIGNALED(status));
        const auto storage = file_storage(dir / "store", {.durability = Durability::none});
        const auto left = read_durable(storage, "payments");
        REQUIRE(left.outline().open_round_begin().has_value());  // it is known that this call was begun
        CHECK(left.size() == static_cast<std::size_t>(2 + 2 * (at / 2)));
        const RunResult result = run_agent(storage, folder);
        CHECK(result.outcome == RunOutcome::answered);
        CHECK(files_in(folder) == calls_of_agent);
        const auto whole = read_durable(storage, "payments");
        CHECK(whole.size() == 2 + 2 * calls_of_agent);
        CHECK_FALSE(whole.outline().open_round_begin().has_value());
        CHECK(whole.outline().rounds().size() == calls_of_agent);
        for (const Round& round : whole.outline().rounds()) CHECK(round.results.size() == 1);
    }
}

TEST_CASE("an agent that has lost its conversation starts no tool", "[durable]") {
    const auto storage = memory_storage();
    const testing::TempDir dir;
    auto durable = DurableAgent::open(storage, "payments", {.writer = "slow"});
    int asked = 0;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>&) {
        ++asked;
        (void)DurableAgent::open(storage, "payments", {.writer = "quick", .take_over = true});
        return Reply<ChatMessage>{ChatMessage::assistant().call("call_0", "pay", "{}")};
    });
    AgentLoop<ChatMessage> loop(save_before_model_calls<ChatMessage>(model, durable),
                                {paying_tool(dir / "", [](int) {})}, Chain<>(ChainConfig{}), {},
                                save_before_tool_starts(durable));
    const RunResult result = loop.run(*durable, "Pay.");
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(result.error.find("\"quick\"'s") != std::string::npos);
    CHECK(asked == 1);
    CHECK(files_in(dir / "") == 0);
}
