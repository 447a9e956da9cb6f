// The library's checker against the second opinion in oracle.py, on histories that generate.py breaks.
#include "cases.hpp"

#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"

#include <map>

using namespace whittle;
using nlohmann::ordered_json;
using testing::Verdict;

namespace {

template <typename M>
Verdict check(const ordered_json& messages, const ValidityProfile& profile) {
    const std::vector<M> list = testing::messages_of<M>(messages);
    return testing::verdict_from(validate(std::span<const M>(list), profile));
}

Verdict verdict_on(const ordered_json& one, const ordered_json& limits) {
    ValidityProfile profile = *find_validity_profile(one["profile"].get<std::string>());
    profile.limits.max_images = limits["max_images"];
    profile.limits.max_image_base64_bytes = limits["max_image_bytes"];
    return one["shape"] == "openai" ? check<openai::Message>(one["messages"], profile)
                                    : check<anthropic::Message>(one["messages"], profile);
}

/// Rules that messages alone cannot break (provenance, the tools of a request, and its size), and rules of Gemini that
/// another one always comes with: a call without a result, or a result without a call, breaks GM3 too, and a call in
/// the first turn GM1.
bool can_break_alone(Rule rule, const ValidityProfile& profile) {
    using enum Rule;
    if (profile.name == "gemini" && (rule == G2_paired || rule == GM2_call_after_user)) return false;
    return rule != G6_no_invented_claim && rule != G9_tools_defined && rule != G11_request_bytes;
}

}  // namespace

TEST_CASE(
    "checker and oracle find the same rules broken at the same messages, and every rule is broken alone somewhere",
    "[validity]") {
    if (!testing::has_python()) SKIP_WITH_MESSAGE("python3 is missing, which runs the oracle");
    const std::vector<ordered_json> lines = testing::lines_of("generate.py", "1 700");
    REQUIRE(lines.size() == 1 + 7 * 700);
    std::size_t valid = 0;
    std::map<std::string, std::set<std::string>> broken_alone;  // by profile
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const ordered_json& one = lines[i];
        const Verdict expected = testing::verdict_from(one["expected"]);
        const Verdict found = verdict_on(one, lines[0]["limits"]);
        valid += expected.empty() ? 1 : 0;
        if (found != expected) {
            CAPTURE(one["profile"], one["messages"].dump(), testing::shown(expected), testing::shown(found));
            CHECK(found == expected);
        }
        std::set<std::string> rules;
        for (const auto& pair : expected) rules.insert(pair.first);
        if (rules.size() == 1) broken_alone[one["profile"]].insert(*rules.begin());
    }
    CHECK(valid > lines.size() / 4);
    CHECK(valid < lines.size() * 3 / 4);
    for (const ValidityProfile* profile : validity_profiles()) {
        for (const Rule rule : profile->rules) {
            if (!can_break_alone(rule, *profile)) continue;
            CAPTURE(profile->name, to_string(rule));
            CHECK(broken_alone[profile->name].contains(std::string(to_string(rule))));
        }
    }
}
