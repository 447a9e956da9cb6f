// Recorded sessions under pruning: each request stays valid, and everything comes back.
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/saved/trajectory.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using openai::Message;

namespace {

/// A session, asked before each reply of the model; tokens are those of all its requests.
struct Session {
    Conversation<Message> conversation{"recorded"};
    std::int64_t sent = 0;
    std::int64_t unpruned = 0;  ///< what they would have been
};

struct Sums {
    std::int64_t sent = 0;
    std::int64_t unpruned = 0;
    int commits = 0;
    int sessions = 0;
};

Session run(const Trajectory<>& trajectory, const PruningConfig& config) {
    Session session;
    const Chain<Message> chain{ChainConfig{.storage = memory_storage()}, Pruning<Message>{config}};
    std::int64_t unpruned = 0;
    for (const Message& m : trajectory.messages) {
        if (message_traits<Message>::role(m) == Role::assistant) {
            chain.before_model(session.conversation, {trajectory.tools, trajectory.system});
            session.sent += session.conversation.tokens(chars_counter());
            session.unpruned += unpruned;
        }
        session.conversation.push_back(m, Usage{});
        unpruned += count_message(m, *chars_counter());
    }
    return session;
}

void check(const Trajectory<>& trajectory, const PruningConfig& config, Sums& sums) {
    Session session = run(trajectory, config);
    CHECK(new_violations(validate(std::span<const Message>(trajectory.messages), openai_chat()),
                         validate(session.conversation.messages(), openai_chat()))
              .empty());
    CHECK(session.sent <= session.unpruned);
    sums.sent += session.sent;
    sums.unpruned += session.unpruned;
    sums.commits += static_cast<int>(session.conversation.journal().size());
    ++sums.sessions;
    while (session.conversation.undo()) {
    }
    CHECK(std::ranges::equal(session.conversation.messages(), trajectory.messages));
}

}  // namespace

TEST_CASE("recorded sessions stay valid under pruning, cost less, and come back whole", "[pruning]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    const bool to_budget = GENERATE(false, true);
    PruningConfig config = to_budget ? budget_pruning() : PruningConfig{};
    config.skip_boundary_turns = 0;  // these agents work long on one request
    Sums sums;
    for (const std::filesystem::path& file : recorded_files()) {
        CAPTURE(file.filename().string());
        read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
            if (trajectory.messages.size() > 300) return true;  // quick
            check(trajectory, config, sums);
            return false;
        });
    }
    INFO(sums.sent << " of " << sums.unpruned << " tokens, " << sums.commits << " commits");
    CHECK(sums.sessions >= (is_soak() ? 6 : 3));
    if (is_soak()) CHECK(sums.sent < sums.unpruned);  // small sessions stay below one of the budgets
}
