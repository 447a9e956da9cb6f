// What a chain costs and what it forgets on a recorded session, beside a simple strategy. No model is asked.
#include <evaluation/recorded.hpp>
#include <whittle/reduction/reduction.hpp>

#include <cstdio>
#include <sstream>

using namespace whittle;
using openai::Message;

namespace {

/// An agent that reads twenty files, then edits the first of them.
std::string recorded_session() {
    const auto round = [](int i, const std::string& arguments, const std::string& result) {
        const std::string id = "c" + std::to_string(i);
        return R"(,{"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
               R"(","type":"function","function":{"name":"work","arguments":")" + arguments +
               R"("}}]},{"role":"tool","tool_call_id":")" + id + R"(","content":")" + result + R"("})";
    };
    std::string json = R"({"id":"s1","messages":[{"role":"user","content":"mend the lexer"})";
    for (int i = 0; i < 20; ++i)
        json += round(i, "{}", "src/lexer/file" + std::to_string(i) + ".cpp " + std::string(8'000, 'x'));
    json += round(20, R"({\"path\":\"src/lexer/file0.cpp\"})", "ok");
    return json + R"(,{"role":"assistant","content":"done"}]})";
}

void print(const char* name, const evaluation::Figures& figures) {
    const evaluation::Money& money = figures.money[0];
    const evaluation::ProbeCount& ids = figures.probes[0][1];  // identifiers, 11 to 50 calls old
    std::printf("%-8s tokens %.2f  C/C0 %.2f  C*/C0 %.2f  resets %d  old ids: %d visible, %d recoverable, %d lost\n",
                name, static_cast<double>(figures.sent) / static_cast<double>(figures.raw),
                evaluation::money_ratio(money), evaluation::refetched_ratio(money), static_cast<int>(figures.resets),
                static_cast<int>(ids.visible), static_cast<int>(ids.recoverable), static_cast<int>(ids.lost));
}

}  // namespace

int main() {
    // [evaluate]
    std::istringstream in(recorded_session());
    read_trajectories(in, {}, [](Trajectory<>&& trajectory) {
        const evaluation::Session session(evaluation::to_session(trajectory));
        const evaluation::Control& mask = *evaluation::find_control("mask10");
        evaluation::Run masked(session);
        mask.requests(session, [&](std::size_t call, const auto& request) { masked.send(call, request); });
        print("mask10", masked.finish());

        const auto storage = memory_storage();
        const Chain<Message> chain({.storage = storage},
                                   Reduction<Message>{{.max_tokens_for_clear = 20'000, .clear_target_tokens = 8'000}});
        evaluation::Run reduced(session, {.storage = storage});
        const auto made = evaluation::requests_of_chain<Message>(trajectory, chain);
        for (std::size_t call = 0; call < made.requests.size(); ++call) reduced.send(call, made.requests[call]);
        print("chain", reduced.finish());
    });
    // [/evaluate]
}
