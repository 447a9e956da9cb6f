#include "logs/claude_lines.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

TEST_CASE("calls of other models within a reply of Claude Code are billed once, beside it", "[logs]") {
    const std::string usage =
        R"("input_tokens":100,"output_tokens":5,"iterations":[{"type":"message","input_tokens":100,"output_tokens":5},)"
        R"({"type":"advisor_message","model":"other","input_tokens":9000,"output_tokens":700},)"
        R"({"type":"compaction","input_tokens":50,"output_tokens":7},{"type":"seance","input_tokens":1}])";
    const ReadLog log =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one"), usage) +
                    claude_reply("a2", "a1", "m1", claude_text("two"), usage));
    const Session& session = log.sessions.at(0);
    CHECK(usage_of(session) == std::vector<Usage>{{100, 0, 0, 5}});
    REQUIRE(session.elsewhere.size() == 2);
    CHECK(session.elsewhere[0].model == "other");
    CHECK(session.elsewhere[0].usage == Usage{9'000, 0, 0, 700});
    CHECK(session.elsewhere[0].bill_id == "m1/iterations/1");
    CHECK(session.elsewhere[1].model == "large");
    CHECK(billed(session) == Usage{9'150, 0, 0, 712});
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"usage.iterations/seance", 2}});
}
