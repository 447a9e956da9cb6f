// What repair leaves of broken histories, before the library's checker and before the oracle.
#include "cases.hpp"

#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/conversation/detail/repair.hpp"
#include "whittle/openai/openai.hpp"

#include <fstream>
#include <utility>

using namespace whittle;
using nlohmann::ordered_json;
using testing::Verdict;

namespace {

/// What repair should have mended: it cannot think, and calls that still run have the last word until they are
/// answered.
Verdict mended_part_of(const Verdict& verdict, bool ends_with_running_calls) {
    Verdict part;
    for (const auto& pair : verdict) {
        const bool is_thinking = pair.first == "A6" || pair.first == "A7";
        const bool is_last_word = pair.first == "OC6.last_role" || pair.first == "GM1";
        if (!is_thinking && !(is_last_word && ends_with_running_calls)) part.insert(pair);
    }
    return part;
}

/// The history after its repair, ready for judge.py.
template <typename M>
ordered_json repaired(const ordered_json& one) {
    const ValidityProfile& profile = *find_validity_profile(one["profile"].get<std::string>());
    Conversation<M> conversation("broken");
    for (M& m : testing::messages_of<M>(one["messages"])) conversation.push_back(std::move(m));
    conversation.repair(profile, {.for_request = true});
    const bool is_running =
        conversation.size() > 0 && conversation.outline().open_round_begin() == conversation.size() - 1;
    const Verdict left = mended_part_of(testing::verdict_from(validate(conversation.outline(), profile)), is_running);
    CAPTURE(profile.name, one["messages"].dump(), testing::shown(left));
    CHECK(left.empty());
    CHECK_FALSE(conversation.repair(profile, {.for_request = true}).committed());
    ordered_json messages = ordered_json::array();
    for (const M& m : conversation.messages()) messages.push_back(m.json());
    return {{"shape", one["shape"]},
            {"profile", one["profile"]},
            {"is_running", is_running},
            {"messages", std::move(messages)}};
}

}  // namespace

TEST_CASE("what repair leaves breaks no rule that it mends, says the oracle too", "[validity][repair]") {
    if (!testing::has_python()) SKIP_WITH_MESSAGE("python3 is missing, which runs the oracle");
    const std::vector<ordered_json> lines = testing::lines_of("generate.py", "2 120");
    REQUIRE(lines.size() == 1 + 7 * 120);
    const testing::TempDir dir;
    const std::string file = dir / "repaired.jsonl";
    std::vector<ordered_json> histories;
    std::ofstream out(file);
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i]["messages"].empty()) continue;  // there is nothing to mend
        histories.push_back(lines[i]["shape"] == "openai" ? repaired<openai::Message>(lines[i])
                                                          : repaired<anthropic::Message>(lines[i]));
        out << histories.back().dump() << '\n';
    }
    out.close();

    const std::vector<ordered_json> verdicts = testing::lines_of("judge.py", "'" + file + "'");
    REQUIRE(verdicts.size() == histories.size());
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const Verdict left = mended_part_of(testing::verdict_from(verdicts[i]), histories[i]["is_running"]);
        if (left.empty()) continue;
        CAPTURE(histories[i].dump(), testing::shown(left));
        CHECK(left.empty());
    }
}
