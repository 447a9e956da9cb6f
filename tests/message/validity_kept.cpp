// `surely_keeps_rules` spares the full check of a commit, so it must never say yes where the full check would find
// something.
#include "support/catch.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/validity.hpp"

#include <array>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace whittle;

namespace {

Mark mark_of(Origin origin, std::string reason = "clear") {
    return std::make_shared<const Provenance>(Provenance{.origin = origin, .by = "m", .reason = std::move(reason)});
}

bool toss(std::mt19937& random, unsigned one_in) { return random() % one_in == 0; }

PartInfo random_part(std::mt19937& random) {
    constexpr std::array ids{"", "a", "b"};
    PartInfo part;
    part.kind = static_cast<PartKind>(random() % 6);
    part.text_bytes = static_cast<std::int64_t>(random() % 3) * 40;
    const bool has_id = part.kind == PartKind::tool_call || part.kind == PartKind::tool_result || toss(random, 4);
    if (has_id) part.call_id = ids[random() % ids.size()];
    if (has_id) part.tool = toss(random, 6) ? "no good" : "ls";
    part.starts_new_result = toss(random, 6);
    part.is_blank = part.text_bytes == 0 || toss(random, 4);
    part.ends_in_space = part.text_bytes > 0 && toss(random, 2);
    part.is_invalid_utf8 = toss(random, 8);
    part.has_object_arguments = !toss(random, 4);
    part.is_image = part.kind == PartKind::media;
    if (toss(random, 6)) part.mark = mark_of(static_cast<Origin>(random() % 7));
    return part;
}

std::vector<MessageInfo> random_history(std::mt19937& random) {
    std::vector<MessageInfo> infos(1 + random() % 6);
    for (std::size_t i = 0; i < infos.size(); ++i) {
        infos[i].serial = i + 1;
        infos[i].role = static_cast<Role>(random() % 4);
        for (auto parts = random() % 4; parts > 0; --parts) infos[i].parts.push_back(random_part(random));
    }
    link_rounds(infos);
    return infos;
}

using Edit = std::function<void(PartInfo&, std::mt19937&)>;

/// What an edit of a text can do to a part, good and bad.
const std::vector<Edit>& edits() {
    static const std::vector<Edit> all{
        [](PartInfo& part, std::mt19937& random) { part.text_bytes = static_cast<std::int64_t>(random() % 130); },
        [](PartInfo& part, std::mt19937&) { part.is_blank = !part.is_blank; },
        [](PartInfo& part, std::mt19937&) { part.ends_in_space = !part.ends_in_space; },
        [](PartInfo& part, std::mt19937&) { part.is_invalid_utf8 = !part.is_invalid_utf8; },
        [](PartInfo& part, std::mt19937&) { part.has_object_arguments = !part.has_object_arguments; },
        [](PartInfo& part, std::mt19937& random) { part.mark = mark_of(static_cast<Origin>(random() % 7)); },
        [](PartInfo& part, std::mt19937&) { part.mark = mark_of(Origin::placeholder, std::string(media_reason)); },
        [](PartInfo& part, std::mt19937& random) { part.kind = static_cast<PartKind>(random() % 6); },
        [](PartInfo& part, std::mt19937&) { part.call_id = "b"; },
        [](PartInfo& part, std::mt19937&) { part.tool = "no good"; },
        [](PartInfo& part, std::mt19937&) { part.starts_new_result = !part.starts_new_result; },
        [](PartInfo& part, std::mt19937&) { part.media_base64_bytes += 100'000'000; },
    };
    return all;
}

}  // namespace

TEST_CASE("an edit that keeps the rules breaks none, under any profile", "[validity]") {
    std::mt19937 random(20);
    int kept = 0;
    int refused = 0;
    for (int round = 0; round < 6'000; ++round) {
        const std::vector<MessageInfo> before = random_history(random);
        std::vector<MessageInfo> after = before;
        const std::size_t at = random() % after.size();
        if (after[at].parts.empty()) continue;
        PartInfo& part = after[at].parts[random() % after[at].parts.size()];
        for (auto n = 1 + random() % 2; n > 0; --n) edits()[random() % edits().size()](part, random);
        if (!surely_keeps_rules(before[at], after[at])) {
            ++refused;
            continue;
        }
        ++kept;
        for (const ValidityProfile* profile : validity_profiles()) {
            const auto made = new_violations(validate(Outline(before), *profile), validate(Outline(after), *profile));
            INFO("round " << round << ", profile " << profile->name << (made.empty() ? "" : ": " + made.front().text));
            REQUIRE(made.empty());
        }
    }
    CHECK(kept > 500);
    CHECK(refused > 500);
}

TEST_CASE("a placeholder in place of a longer result keeps the rules; a longer, empty or foreign one is to be checked",
          "[validity]") {
    MessageInfo before;
    before.role = Role::tool;
    before.parts.push_back({.kind = PartKind::tool_result, .text_bytes = 2'500, .call_id = "c", .tool = "read"});
    before.parts[0].ends_in_space = true;
    MessageInfo after = before;
    after.parts[0].text_bytes = 80;
    after.parts[0].ends_in_space = false;
    after.parts[0].mark = mark_of(Origin::placeholder);
    CHECK(surely_keeps_rules(before, after));
    CHECK_FALSE(surely_keeps_rules(after, before));
    const auto with = [&](auto&& change) {
        MessageInfo other = after;
        change(other);
        return surely_keeps_rules(before, other);
    };
    CHECK_FALSE(with([](MessageInfo& m) { m.parts[0].text_bytes = 0; }));
    CHECK_FALSE(with([](MessageInfo& m) { m.parts[0].is_blank = true; }));
    CHECK_FALSE(with([](MessageInfo& m) { m.parts[0].call_id = "d"; }));
    CHECK_FALSE(with([](MessageInfo& m) { m.parts[0].mark = mark_of(Origin::summary); }));
    CHECK_FALSE(with([](MessageInfo& m) { m.mark = mark_of(Origin::repair); }));
    CHECK_FALSE(with([](MessageInfo& m) { m.role = Role::user; }));
    CHECK_FALSE(with([](MessageInfo& m) { m.parts.push_back({}); }));
}
