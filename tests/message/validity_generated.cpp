#include "support/catch.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/validity.hpp"

#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace whittle;

namespace {

using Messages = std::vector<ChatMessage>;

/// A valid history: system, then turns of user, some rounds of one to three calls, and a reply; a user message ends it.
Messages random_history(std::mt19937& random) {
    Messages messages{ChatMessage::system("s")};
    int next_id = 0;
    for (auto turns = 1 + random() % 3; turns > 0; --turns) {
        messages.push_back(ChatMessage::user("do"));
        for (auto rounds = 1 + random() % 3; rounds > 0; --rounds) {
            ChatMessage call{.role = Role::assistant};
            Messages results;
            for (auto n = 1 + random() % 3; n > 0; --n) {
                const std::string id = "c" + std::to_string(++next_id);
                call.call(id, "ls", R"({"path":"."})");
                results.insert(results.begin() + static_cast<std::ptrdiff_t>(random() % (results.size() + 1)),
                               ChatMessage::result(id, "ls", "out"));
            }
            messages.push_back(std::move(call));
            messages.insert(messages.end(), results.begin(), results.end());
        }
        messages.push_back(ChatMessage::assistant("done"));
    }
    messages.push_back(ChatMessage::user("thanks"));
    return messages;
}

/// Index of a random message that holds a part of that kind.
std::size_t any_with(const Messages& messages, PartKind kind, std::mt19937& random) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (messages[i].parts.front().kind == kind) found.push_back(i);
    }
    return found[random() % found.size()];
}

void insert_at(Messages& messages, std::size_t at, ChatMessage message) {
    messages.insert(messages.begin() + static_cast<std::ptrdiff_t>(at), std::move(message));
}

struct Breakage {
    Rule rule;
    std::function<void(Messages&, std::mt19937&)> apply;
};

const std::vector<Breakage>& breakages() {
    static const std::vector<Breakage> all{
        {Rule::G1_utf8,
         [](Messages& m, std::mt19937& r) { m[any_with(m, PartKind::tool_result, r)].parts[0].text = "\xC3("; }},
        {Rule::G2_paired,
         [](Messages& m, std::mt19937& r) {
             const std::size_t at = any_with(m, PartKind::tool_result, r);
             insert_at(m, at, m[at]);
         }},
        {Rule::G3_unique_ids,
         [](Messages& m, std::mt19937& r) {
             const std::size_t at = any_with(m, PartKind::tool_call, r);
             const std::string id = m[at].parts[0].call_id;
             insert_at(m, m.size() - 1, ChatMessage{Role::assistant, {}}.call(id, "ls"));
             insert_at(m, m.size() - 1, ChatMessage::result(id, "ls", "again"));
             insert_at(m, m.size() - 1, ChatMessage::assistant("twice"));
         }},
        {Rule::G4_object_arguments,
         [](Messages& m, std::mt19937& r) { m[any_with(m, PartKind::tool_call, r)].parts[0].text = "\"text\""; }},
        {Rule::G8_names,
         [](Messages& m, std::mt19937& r) { m[any_with(m, PartKind::tool_call, r)].parts[0].tool = "no good"; }},
        {Rule::OC1_results_follow,
         [](Messages& m, std::mt19937&) {
             insert_at(m, m.size() - 1, ChatMessage{Role::assistant, {}}.call("new", "ls"));
         }},
        {Rule::OC2_result_after_call,
         [](Messages& m, std::mt19937&) {
             insert_at(m, m.size(), ChatMessage{Role::tool, {Part{}}});
         }},
        {Rule::OC3_content,
         [](Messages& m, std::mt19937&) {
             insert_at(m, m.size() - 1, ChatMessage{Role::assistant, {}});
         }},
        {Rule::OC6_last_role, [](Messages& m, std::mt19937&) { m.push_back(ChatMessage::assistant("bye")); }},
        {Rule::OC6_alternation, [](Messages& m, std::mt19937&) { insert_at(m, 1, ChatMessage::assistant("hello")); }},
        {Rule::OC6_user_turns, [](Messages& m, std::mt19937&) { m.push_back(ChatMessage::user("and")); }},
        {Rule::OC6_system_first,
         [](Messages& m, std::mt19937&) { insert_at(m, m.size() - 1, ChatMessage::system("late")); }},
        {Rule::OC6_text_only_results,
         [](Messages& m, std::mt19937& r) {
             ChatMessage& result = m[any_with(m, PartKind::tool_result, r)];
             result.parts.push_back(Part{PartKind::media, {}, result.parts[0].call_id});
         }},
    };
    return all;
}

std::vector<Violation> check(const Messages& messages, const ValidityProfile& profile = openai_compatible()) {
    return validate(std::span<const ChatMessage>(messages), profile);
}

}  // namespace

TEST_CASE("every generated history is valid", "[validity]") {
    std::mt19937 random(1);
    for (int i = 0; i < 200; ++i) REQUIRE(check(random_history(random)).empty());
}

TEST_CASE("every rule can be broken alone, and is then the only one reported", "[validity]") {
    std::mt19937 random(2);
    for (const Breakage& breakage : breakages()) {
        for (int i = 0; i < 50; ++i) {
            Messages messages = random_history(random);
            breakage.apply(messages, random);
            const std::vector<Violation> found = check(messages);
            CAPTURE(to_string(breakage.rule));
            REQUIRE(found.size() == 1);
            CHECK(found[0].rule == breakage.rule);
            CHECK(found[0].serial == found[0].message_index + 1);
        }
    }
}

TEST_CASE("dropping a whole round keeps a history valid", "[validity]") {
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
        Messages messages = random_history(random);
        const std::size_t call = any_with(messages, PartKind::tool_call, random);
        std::size_t end = call + 1;
        while (messages[end].role == Role::tool) ++end;
        messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(call),
                       messages.begin() + static_cast<std::ptrdiff_t>(end));
        CHECK(check(messages).empty());
    }
}

TEST_CASE("random lists of any shape are checked without harm, and their violations name messages in them",
          "[validity]") {
    std::mt19937 random(4);
    for (int i = 0; i < 1'000; ++i) {
        Messages messages(random() % 10);
        for (ChatMessage& m : messages) {
            m.role = static_cast<Role>(random() % 4);
            for (auto n = random() % 3; n > 0; --n) {
                m.parts.push_back(Part{static_cast<PartKind>(random() % 6), "{}", random() % 2 ? "a" : "b", "t"});
            }
        }
        for (const ValidityProfile* profile : validity_profiles()) {
            for (const Violation& v : check(messages, *profile)) {
                if (v.message_index <= messages.size() && (v.serial == 0) == (v.message_index == messages.size()) &&
                    !v.text.empty())
                    continue;
                CAPTURE(profile->name, to_string(v.rule), v.message_index, v.serial, v.text);
                FAIL("a violation that names no message of the list");
            }
        }
    }
}

// Quadratic work would not end before the time that the test runner gives.
TEST_CASE("50,000 messages are checked in one go, also hostile ones", "[validity]") {
    constexpr std::size_t count = 50'000;
    Messages orphans(count, ChatMessage::result("nobody", "ls", ""));
    Messages one_id;
    Messages open_calls(1, ChatMessage::user("u"));
    for (std::size_t i = 0; i < count / 2; ++i) {
        one_id.push_back(ChatMessage{Role::assistant, {}}.call("same", "ls"));
        one_id.push_back(ChatMessage::result("same", "ls", ""));
        open_calls.push_back(ChatMessage{Role::assistant, {}}.call("c" + std::to_string(i), "ls"));
    }
    for (std::size_t i = 0; i < count / 2; ++i)
        open_calls.push_back(ChatMessage::result("c" + std::to_string(i), "ls", ""));
    for (std::size_t i = 0; i < count; ++i) one_id.push_back(ChatMessage::result("same", "ls", ""));

    for (const Messages* messages : {&orphans, &one_id, &open_calls}) {
        std::size_t found = 0;
        for (const ValidityProfile* profile : {&openai_compatible(), &anthropic_thinking(), &gemini_chat()})
            found += check(*messages, *profile).size();
        CHECK(found > 0);
    }
}
