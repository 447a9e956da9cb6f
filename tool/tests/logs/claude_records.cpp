#include "claude_lines.hpp"
#include "support/catch.hpp"

#include <map>
#include <set>
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

TEST_CASE("replies of Claude Code that a gateway gave one message id are calls of their own", "[logs]") {
    const auto reply = [](const std::string& id, const std::string& parent, const std::string& blocks, int input) {
        return claude_reply(id, parent, "same", blocks,
                            R"("input_tokens":)" + std::to_string(input) + R"(,"output_tokens":1)",
                            R"("timestamp":"2026-08-01T10:00:00.0)" + std::to_string(input) + R"(Z",)");
    };
    const std::string text = claude_prompt("u1", "", "first") + reply("a1", "u1", claude_text("one"), 10) +
                             reply("a2", "a1", claude_call("t1"), 10) + claude_result("r1", "a2", "t1") +
                             reply("a3", "r1", claude_call("t2"), 10) +  // it went on while its first call ran
                             claude_result("r2", "a3", "t2") + reply("a4", "r2", claude_text("two"), 20) +
                             claude_prompt("u2", "a4", "second") + reply("a5", "u2", claude_text("three"), 30);
    const Session session = read_claude(text).sessions.at(0);
    CHECK(roles_of(session) == "uauaua");
    CHECK(usage_of(session) == std::vector<Usage>{{10, 0, 0, 1}, {20, 0, 0, 1}, {30, 0, 0, 1}});
    CHECK(request_text(session, 1) == "first\none\ncall t1\ncall t2\nresult t1\nresult t2\n");
    CHECK(request_text(session, 2) == "first\none\ncall t1\ncall t2\nresult t1\nresult t2\ntwo\nsecond\n");
    // In another session the id says as little; what a copy shares is the time as well
    std::set<std::string> bill_ids;
    for (const logs::Call& call : session.calls) {
        CHECK(call.id.empty());
        bill_ids.insert(call.bill_id);
    }
    CHECK(bill_ids.size() == 3);
    CHECK(bill_ids.contains("claude_code/same/2026-08-01T10:00:00.020Z"));
}

TEST_CASE("records of one request of Claude Code are one reply, wherever they stand", "[logs]") {
    const Session session =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_call("t1")) +
                    claude_result("r1", "a1", "t1") + claude_prompt("u2", "r1", "hurry", R"("isMeta":true,)") +
                    claude_reply("a2", "u2", "m1", claude_text("late")))
            .sessions.at(0);
    CHECK(roles_of(session) == "uauu");
    CHECK(session.calls.at(0).id == "m1");
}

TEST_CASE("what a person took back in Claude Code may be a compaction", "[logs]") {
    const std::string text =
        claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one")) +
        claude_record("b1", "", R"("type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":9})") +
        claude_prompt("s1", "b1", "summary", R"("isCompactSummary":true,)") + claude_prompt("u2", "s1", "second");
    const Session session =
        read_claude(text + claude_prompt("u3", "a1", "third") + claude_reply("a3", "u3", "m3", claude_text("three")))
            .sessions.at(0);
    CHECK(session.compactions.empty());
    CHECK(request_text(session, 1) == "first\none\nthird\n");
    const Session kept =
        read_claude(text + claude_prompt("u3", "s1", "third") + claude_reply("a3", "u3", "m3", claude_text("three")))
            .sessions.at(0);
    CHECK(kept.compactions.size() == 1);
    CHECK(request_text(kept, 1) == "summary\nthird\n");
}

TEST_CASE("a result of Claude Code that comes behind a compaction stands with its call in front of it", "[logs]") {
    const Session session =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_call("t1")) +
                    claude_record("b1", "", R"("type":"system","subtype":"compact_boundary")") +
                    claude_prompt("s1", "b1", "summary", R"("isCompactSummary":true,)") +
                    claude_result("r1", "a1", "t1") + claude_prompt("u2", "s1", "second") +
                    claude_reply("a2", "u2", "m2", claude_text("two")))
            .sessions.at(0);
    CHECK(roles_of(session) == "uauua");
    CHECK(request_text(session, 1) == "summary\nsecond\n");
}

TEST_CASE("what came with results of parallel calls of Claude Code is kept with each", "[logs]") {
    const std::string meta = R"("isMeta":true,)";
    const auto queued = [](const std::string& id, const std::string& parent, const std::string& text) {
        return claude_record(
            id, parent, R"("type":"attachment","attachment":{"type":"queued_command","prompt":")" + text + R"("})");
    };
    const std::string text =
        claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_call("t1")) +
        claude_reply("a2", "a1", "m1", claude_call("t2")) + claude_reply("a3", "a2", "m1", claude_call("t3")) +
        claude_result("r1", "a1", "t1") + claude_prompt("m1", "r1", "caption 1", meta) +
        claude_prompt("n1", "m1", "and more", meta) + queued("q1", "n1", "hurry") + claude_result("r2", "a2", "t2") +
        claude_prompt("m2", "r2", "caption 2", meta) + claude_result("r3", "a3", "t3") + queued("q2", "r3", "now");
    const std::string sent =
        "first\ncall t1\ncall t2\ncall t3\nresult t1\nresult t2\nresult t3\n"
        "caption 1\nand more\nhurry\ncaption 2\nnow\n";
    const Session session =
        read_claude(text + claude_reply("a4", "q2", "m2", claude_text("done"), R"("input_tokens":1)", ""))
            .sessions.at(0);
    CHECK(request_text(session, 1) == sent);
    // What a person takes back is the prompt alone
    const Session rewound =
        read_claude(text + claude_prompt("u2", "r3", "second") + claude_prompt("u3", "r3", "third") +
                    claude_reply("a4", "u3", "m2", claude_text("done"), R"("input_tokens":1)", ""))
            .sessions.at(0);
    CHECK(request_text(rewound, 1) == sent + "third\n");
}

TEST_CASE("a segment that a compaction of Claude Code kept comes behind its summary, or in front of it", "[logs]") {
    const auto boundary = [](const std::string& id, const std::string& head, const std::string& anchor,
                             const std::string& tail) {
        return claude_record(id, "",
                             R"("type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual",)"
                             R"("preservedSegment":{"headUuid":")" +
                                 head + R"(","anchorUuid":")" + anchor + R"(","tailUuid":")" + tail + R"("}})");
    };
    const std::string summary = R"("isCompactSummary":true,)";
    const std::string text = claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one")) +
                             claude_record("t1", "a1", R"("type":"system","subtype":"turn_duration")") +
                             claude_prompt("u2", "t1", "second") + claude_reply("a2", "u2", "m2", claude_text("two")) +
                             claude_reply("a3", "a2", "m2", claude_call("c")) + claude_result("r1", "a3", "c");
    // Its newest message goes on to be the parent of what comes
    const std::string latest =
        text + boundary("b1", "t1", "s1", "r1") + claude_prompt("s1", "b1", "summary of first", summary) +
        claude_prompt("u3", "r1", "third") + claude_reply("a4", "u3", "m3", claude_text("three"));
    const Session behind = read_claude(latest).sessions.at(0);
    CHECK(behind.compactions.size() == 1);
    CHECK(request_text(behind, 2) == "summary of first\nsecond\ntwo\ncall c\nresult c\nthird\n");
    // What an older compaction put there is in front of all
    const Session front =
        read_claude(latest + boundary("b2", "u2", "b2", "a4") +
                    claude_prompt("s2", "a4", "summary of the rest", summary) + claude_prompt("u4", "s2", "fourth") +
                    claude_reply("a5", "u4", "m4", claude_text("four")))
            .sessions.at(0);
    CHECK(request_text(front, 3) ==
          "summary of first\nsecond\ntwo\ncall c\nresult c\nthird\nthree\n"
          "summary of the rest\nfourth\n");
    const Session unknown =
        read_claude(text + boundary("b1", "gone", "s1", "r1") + claude_prompt("s1", "b1", "summary", summary) +
                    claude_reply("a4", "s1", "m3", claude_text("three")))
            .sessions.at(0);
    CHECK(request_text(unknown, 2) == "summary\n");
}

TEST_CASE("commands that Claude Code ran by itself are sent with the next prompt", "[logs]") {
    const auto command = [](const std::string& id, const std::string& parent, const std::string& text) {
        return claude_record(id, parent, R"("type":"system","subtype":"local_command","content":")" + text + R"(")");
    };
    const ReadLog log =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one")) +
                    command("l1", "a1", "/cost") + command("l2", "l1", "1 dollar") + command("l3", "l2", "") +
                    claude_prompt("u2", "l3", "second") + claude_reply("a2", "u2", "m2", claude_text("two")));
    CHECK(request_text(log.sessions.at(0), 1) == "first\none\n/cost\n1 dollar\nsecond\n");
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"system/local_command", 1}});
}

TEST_CASE("kinds within records of Claude Code that are not known are told from those that are", "[logs]") {
    const ReadLog log =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one")) +
                    claude_record("z1", "a1", R"("type":"system","subtype":"brand_new_thing","content":"x")") +
                    claude_record("z2", "z1", R"("type":"attachment","attachment":{"type":"brand_new_attachment"})") +
                    claude_record("z3", "z2", R"("type":"attachment","attachment":{"type":"skill_listing"})") +
                    claude_record("z4", "z3", R"("type":"system","subtype":"stop_hook_summary")") +
                    claude_record("z5", "z4", R"("type":"system","content":"of old versions")"));
    CHECK(log.notes.unknown ==
          std::map<std::string, std::int64_t>{{"attachment/brand_new_attachment", 1}, {"system/brand_new_thing", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{
                                    {"attachment/skill_listing", 1}, {"system", 1}, {"system/stop_hook_summary", 1}});
}

TEST_CASE("calls of Claude Code that never got a result have the one that it sends in place of it", "[logs]") {
    const std::string text = claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_call("t1")) +
                             claude_reply("a2", "a1", "m1", claude_call("t2"));
    const Session killed =
        read_claude(text + claude_prompt("u2", "a2", "go on") + claude_reply("a3", "u2", "m2", claude_text("two")))
            .sessions.at(0);
    CHECK(request_text(killed, 1) == "first\ncall t1\ncall t2\nresult t1\nresult t2\ngo on\n");
    CHECK(killed.recording.messages[2].json()["content"][0]["is_error"] == true);
    const Session partly = read_claude(text + claude_result("r2", "a2", "t2") + claude_prompt("u2", "r2", "go on") +
                                       claude_reply("a3", "u2", "m2", claude_text("two")))
                               .sessions.at(0);
    CHECK(request_text(partly, 1) == "first\ncall t1\ncall t2\nresult t1\nresult t2\ngo on\n");
    // Nothing was sent behind the newest ones, and a person took the others back
    CHECK(roles_of(read_claude(text).sessions.at(0)) == "ua");
    CHECK(roles_of(read_claude(text + claude_prompt("u2", "u1", "go on")).sessions.at(0)) == "uu");
}

TEST_CASE("a record of Claude Code that is written again takes nothing back and compacts nothing again", "[logs]") {
    const std::string prompt = claude_prompt("u1", "", "first");
    const std::string queued =
        claude_record("q1", "a1", R"("type":"attachment","attachment":{"type":"queued_command","prompt":"hurry"})");
    const std::string command =
        claude_record("l1", "q1", R"("type":"system","subtype":"local_command","content":"/x")");
    const std::string boundary = claude_record("b1", "", R"("type":"system","subtype":"compact_boundary")");
    const ReadLog log =
        read_claude(prompt + claude_reply("a1", "u1", "m1", claude_text("one")) + queued + command +
                    claude_reply("a2", "l1", "m2", claude_text("two"), R"("input_tokens":1)", "") + prompt + queued +
                    command + boundary + claude_prompt("s1", "b1", "summary", R"("isCompactSummary":true,)") +
                    claude_prompt("u2", "s1", "second") + boundary + claude_prompt("u3", "u2", "third") +
                    claude_reply("a3", "u3", "m3", claude_text("three"), R"("input_tokens":1)", ""));
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(request_text(session, 1) == "first\none\nhurry\n/x\n");
    CHECK(session.compactions.size() == 1);
    CHECK(request_text(session, 2) == "summary\nsecond\nthird\n");
    CHECK(session.calls_elsewhere == 0);
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"repeated record", 4}});
}

TEST_CASE("calls that a compaction of Claude Code kept have results, whenever they came", "[logs]") {
    const std::string text = claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_call("t1")) +
                             claude_reply("a2", "a1", "m1", claude_call("t2")) +
                             claude_record("b1", "",
                                           R"("type":"system","subtype":"compact_boundary","compactMetadata":{)"
                                           R"("preservedMessages":{"uuids":["a1","a2"]}})") +
                             claude_prompt("s1", "b1", "summary", R"("isCompactSummary":true,)");
    const std::string rest = claude_prompt("u2", "a2", "second") +
                             claude_reply("a3", "u2", "m2", claude_text("two"), R"("input_tokens":1)", "");
    const std::string sent = "summary\ncall t1\ncall t2\nresult t1\nresult t2\nsecond\n";
    const Session never = read_claude(text + rest).sessions.at(0);
    CHECK(request_text(never, 1) == sent);
    CHECK(never.compactions.at(0).kept.at(2)["content"][1]["is_error"] == true);
    const Session late = read_claude(text + claude_result("r2", "a2", "t2") + rest).sessions.at(0);
    CHECK(request_text(late, 1) == sent);
    CHECK(late.compactions.at(0).kept.at(2)["content"][1]["content"] == "read");
    CHECK(roles_of(late) == "uauua");
}

TEST_CASE("compactions of Claude Code stay where they are when results are put in", "[logs]") {
    const Session session =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_call("t1")) +
                    claude_prompt("u2", "a1", "second") +
                    claude_reply("a2", "u2", "m2", claude_call("t2"), R"("input_tokens":1)", "") +
                    claude_record("b1", "", R"("type":"system","subtype":"compact_boundary")") +
                    claude_prompt("s1", "b1", "summary", R"("isCompactSummary":true,)") +
                    claude_prompt("u3", "s1", "third") +
                    claude_reply("a3", "u3", "m3", claude_text("three"), R"("input_tokens":1)", ""))
            .sessions.at(0);
    CHECK(roles_of(session) == "uauuauua");
    CHECK(request_text(session, 1) == "first\ncall t1\nresult t1\nsecond\n");
    CHECK(session.compactions.at(0).before == 6);
    CHECK(request_text(session, 2) == "summary\nthird\n");
}

TEST_CASE("a long session of Claude Code that was often taken back, or never answered, is read quickly",
          "[logs][large]") {
    constexpr int many = 20'000;  // a walk of all at each of them would take minutes
    std::string text = claude_prompt("u", "", "first");
    std::string parent = "u";
    for (int i = 0; i < many; ++i) {  // no call has a result
        const std::string id = std::to_string(i);
        text += claude_reply("a" + id, parent, "m" + id, claude_call("t" + id), R"("input_tokens":1)", "");
        parent = "a" + id;
    }
    text += claude_result("r", parent, "t" + std::to_string(many - 1));
    for (int i = 0; i < many; ++i) {  // all of them are behind the one result
        const std::string id = "c" + std::to_string(i);
        text += claude_prompt(id, i % 2 == 0 ? "r" : parent, "more", R"("isMeta":true,)");
        parent = id;
    }
    for (int i = 0; i < many; ++i) text += claude_prompt("p" + std::to_string(i), "r", "again");
    const Session session = read_claude(text).sessions.at(0);
    CHECK(session.recording.messages.size() == 3 * many + 2);
    CHECK(session.recording.messages.back().json()["content"] == "again");
}

TEST_CASE("results of unknown calls stand in front of all compactions of Claude Code that are there", "[logs]") {
    const std::string boundary = R"("type":"system","subtype":"compact_boundary")";
    const std::string text = claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one")) +
                             claude_record("b1", "", boundary) + claude_record("b2", "b1", boundary) +
                             claude_result("r1", "a1", "none") + claude_result("r2", "a1", "nothing") +
                             claude_prompt("s1", "b2", "summary", R"("isCompactSummary":true,)");
    const std::string rest = claude_prompt("u2", "s1", "second") +
                             claude_reply("a2", "u2", "m2", claude_text("two"), R"("input_tokens":1)", "");
    const Session session = read_claude(text + rest).sessions.at(0);
    CHECK(roles_of(session) == "uauuua");
    REQUIRE(session.compactions.size() == 2);
    CHECK(session.compactions[0].before == 4);
    CHECK(session.compactions[1].before == 4);
    CHECK(request_text(session, 1) == "summary\nsecond\n");
    const Session back = read_claude(text + rest + claude_record("b3", "a2", boundary) +
                                     claude_prompt("u3", "s1", "third") + claude_result("r3", "u3", "none"))
                             .sessions.at(0);
    REQUIRE(back.compactions.size() == 2);
    CHECK(back.compactions[1].before == 4);
    CHECK(read_claude(text + rest + claude_prompt("u3", "u1", "third")).sessions.at(0).compactions.empty());
}
