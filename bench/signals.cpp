// What `trajectory_signals` says of recorded sessions, with the minimum index at 0: a Markdown row per session with the
// greatest value of each signal before any model call, judged as the lever does (the steps of the newest request) and,
// behind the stroke, over the whole session up to there; and at which calls an alarm would have come.
//
//     bench_signals FILE.jsonl...
#include <tool/replay/replay.hpp>
#include <whittle/saved/trajectory.hpp>
#include <whittle/whittle.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace whittle;
using openai::Message;

constexpr std::array names{"streak", "diversity", "hedge", "edit_revert", "test_repeat", "call_count"};

struct Greatest {
    Signals values{};
    std::vector<std::int64_t> alarms{};  ///< model calls

    void take(const Signals& signals, std::int64_t call) {
        for (const auto& [name, value] : signals) values[name] = std::max(values[name], value);
        if (is_stuck(signals)) alarms.push_back(call);
    }
};

std::string numbers(const std::vector<std::int64_t>& all) {
    std::string text;
    for (const std::int64_t one : all) text += (text.empty() ? "" : " ") + std::to_string(one);
    return text.empty() ? "-" : text;
}

void print_row(const Trajectory<>& session) {
    Greatest lever;
    Greatest whole;
    std::int64_t call = 0;
    TokenSavingConfig config;
    config.enable_compression = false;
    config.early_exit_min_call_index = 0;
    config.signals_fn = [&](std::span<const Step> steps) {
        lever.take(trajectory_signals(steps), call);
        return Signals{};  // no nudge: the rest is to be judged too
    };
    ReplayOptions<Message> options;
    options.on_request = [&](const ReplayRequest<Message>& request) {
        whole.take(trajectory_signals(build_steps_from_messages(request.conversation)), request.call);
        call = request.call + 1;
    };
    const Chain<Message> chain{ChainConfig{}, TokenSaving<Message>{config}};
    const ReplayTotals totals = replay<Message>(
        {session.id, session.system, session.tools, session.messages, session.seconds_since_first}, chain, options);
    std::printf("| %s | %lld |", session.id.c_str(), static_cast<long long>(totals.calls));
    for (const char* name : names) std::printf(" %.2f / %.2f |", lever.values[name], whole.values[name]);
    std::printf(" %s / %s |\n", numbers(lever.alarms).c_str(), numbers(whole.alarms).c_str());
}

}  // namespace

int main(int argc, char** argv) try {
    std::printf("| session | calls |");
    for (const char* name : names) std::printf(" %s |", name);
    std::printf(" alarms |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 1; i < argc; ++i) {
        read_trajectories(argv[i], {}, [](Trajectory<>&& session) { print_row(session); });
        std::fflush(stdout);
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
