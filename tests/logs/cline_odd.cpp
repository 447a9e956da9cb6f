#include "logs/cline_task.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;
using nlohmann::ordered_json;

namespace {

ordered_json reply_with_metrics(std::int64_t ms, int prompt, int completion) {
    ordered_json reply = said_in_task("assistant", "AAA", ms);
    reply["metrics"]["tokens"] = {{"prompt", prompt}, {"completion", completion}, {"cached", 0}};
    return reply;
}

}  // namespace

TEST_CASE("a reply in front of all requests of its task is not billed beside them", "[logs]") {
    const ordered_json messages = list_of({said_in_task("user", "<task>one</task>", 1), reply_with_metrics(5, 100, 5)});
    const Session session =
        read_task({messages, list_of({ui_request(10, tokens_of_task(100, 5, 0, 0))})}).sessions.at(0);
    CHECK(billed(session) == Usage{100, 0, 0, 5});
    // Where no request has a bill, the reply's own is all that is known.
    const Session unbilled = read_task({messages, list_of({ui_request(10, {{"request", "x"}})})}).sessions.at(0);
    CHECK(billed(unbilled) == Usage{100, 0, 0, 5});
}
