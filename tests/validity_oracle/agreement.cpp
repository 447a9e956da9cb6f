// The library's checker against the second opinion in oracle.py, on histories that generate.py breaks.
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "whittle/adapter/anthropic.hpp"
#include "whittle/adapter/openai.hpp"
#include "whittle/message/validity.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::ordered_json;

namespace {

/// Rule ids with the index of their message, each pair once.
using Verdict = std::set<std::pair<std::string, std::size_t>>;

constexpr auto folder = WHITTLE_SOURCE_DIR "/tests/validity_oracle";

bool has_python() { return std::system("python3 -c 'import sys' > /dev/null 2>&1") == 0; }

template <typename M>
Verdict check(const ordered_json& messages, const ValidityProfile& profile) {
    std::vector<M> list;
    for (const ordered_json& m : messages) list.push_back(message_traits<M>::from_bytes(m.dump()));
    Verdict verdict;
    for (const Violation& v : validate(std::span<const M>(list), profile))
        verdict.emplace(std::string(id_of(v.rule)), v.message);
    return verdict;
}

Verdict verdict_on(const ordered_json& one, const ordered_json& limits) {
    ValidityProfile profile = *find_validity_profile(one["profile"].get<std::string>());
    profile.limits.max_images = limits["max_images"];
    profile.limits.max_image_bytes = limits["max_image_bytes"];
    return one["shape"] == "openai" ? check<openai::Message>(one["messages"], profile)
                                    : check<anthropic::Message>(one["messages"], profile);
}

Verdict expected_of(const ordered_json& one) {
    Verdict verdict;
    for (const ordered_json& pair : one["expected"]) verdict.emplace(pair[0].get<std::string>(), pair[1]);
    return verdict;
}

std::string to_text(const Verdict& verdict) {
    std::string text;
    for (const auto& [rule, message] : verdict) text += rule + "@" + std::to_string(message) + " ";
    return text;
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
    if (!has_python()) SKIP_WITH_MESSAGE("python3 is missing, which runs the oracle");
    const testing::TempDir dir;
    const std::string file = dir / "cases.jsonl";
    const std::string command = std::string("python3 -B '") + folder + "/generate.py' 1 700 > '" + file + "'";
    REQUIRE(std::system(command.c_str()) == 0);

    std::ifstream lines(file);
    std::string line;
    REQUIRE(std::getline(lines, line));
    const ordered_json limits = ordered_json::parse(line)["limits"];
    std::size_t cases = 0;
    std::size_t valid = 0;
    std::map<std::string, std::set<std::string>> broken_alone;  // by profile
    while (std::getline(lines, line)) {
        const ordered_json one = ordered_json::parse(line);
        const Verdict expected = expected_of(one);
        const Verdict found = verdict_on(one, limits);
        ++cases;
        valid += expected.empty() ? 1 : 0;
        if (found != expected) {
            CAPTURE(one["profile"], one["messages"].dump(), to_text(expected), to_text(found));
            CHECK(found == expected);
        }
        std::set<std::string> rules;
        for (const auto& pair : expected) rules.insert(pair.first);
        if (rules.size() == 1) broken_alone[one["profile"]].insert(*rules.begin());
    }
    CHECK(cases == 7 * 700);
    CHECK(valid > cases / 4);
    CHECK(valid < cases * 3 / 4);
    for (const ValidityProfile* profile : validity_profiles()) {
        for (const Rule rule : profile->rules) {
            if (!can_break_alone(rule, *profile)) continue;
            CAPTURE(profile->name, id_of(rule));
            CHECK(broken_alone[profile->name].contains(std::string(id_of(rule))));
        }
    }
}
