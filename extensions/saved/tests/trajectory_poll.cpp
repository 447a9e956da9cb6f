#include "whittle/saved/trajectory.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <sstream>
#include <string>

using namespace whittle;

namespace {

struct Enough {};

/// Polls of a reading that ends with the check number `at`; 0 reads all.
std::size_t polls_until(const std::string& text, std::size_t at) {
    std::istringstream in(text);
    std::size_t polls = 0;
    TrajectoryOptions options;
    options.check_cancelled = [&] {
        if (++polls == at) throw Enough{};
    };
    if (at == 0) {
        CHECK(read_trajectories(in, options, [](Trajectory<>&&) {}) == 1);
    } else {
        CHECK_THROWS_AS(read_trajectories(in, options, [](Trajectory<>&&) {}), Enough);
    }
    return polls;
}

}  // namespace

TEST_CASE("reading a session polls while it parses one long text, and ends with what the check throws",
          "[trajectory]") {
    const std::string text = R"([{"role":"user","content":")" + std::string(10U << 16U, 'x') + R"("}])";
    CHECK(polls_until(text, 0) == 10 + 1);  // each 64 KiB, then the message
    for (const std::size_t at : {1U, 5U, 11U}) CHECK(polls_until(text, at) == at);
}

TEST_CASE("reading a session polls while it parses thousands of results in one message", "[trajectory]") {
    std::string text = R"([{"role":"user","content":[)";
    for (int i = 0; i < 5'000; ++i)
        text += std::string(i == 0 ? "" : ",") + R"({"type":"tool_result","tool_use_id":"c)" + std::to_string(i) +
                R"(","content":"some text of a result"})";
    text += "]}]";
    const std::size_t parsing = text.size() >> 16U;
    CHECK(parsing > 4);
    CHECK(polls_until(text, 0) == parsing + 1);
    CHECK(polls_until(text, 3) == 3);
}

TEST_CASE("reading a session polls for each of its messages", "[trajectory]") {
    std::string text = "[";
    for (int i = 0; i < 500; ++i) text += std::string(i == 0 ? "" : ",") + R"({"role":"user","content":"x"})";
    text += "]";
    CHECK(polls_until(text, 0) == 500);
    CHECK(polls_until(text, 250) == 250);
}
