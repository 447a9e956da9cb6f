// What a summary folds, keeps and says, without a model.
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/summarization/summarization.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace whittle;

namespace {

using Indices = std::vector<std::size_t>;
const TokenCounter& count4() {
    static const auto counter = chars_counter();
    return *counter;
}

/// An outline of messages that are 100 tokens each.
struct Listed {
    explicit Listed(std::vector<ChatMessage> messages) {
        for (ChatMessage& m : messages) conversation.push_back(std::move(m));
        tokens.assign(conversation.size(), 100);
    }
    [[nodiscard]] FoldPlan plan(const FoldLimits& limits, const std::set<std::size_t>& pins = {}) const {
        return plan_fold(conversation.outline(), tokens, limits, [&](std::size_t i) { return pins.contains(i); });
    }
    Conversation<> conversation{"c"};
    std::vector<std::int64_t> tokens{};
};

ChatMessage user(const std::string& text = "question") { return ChatMessage::user(text); }
ChatMessage answer() { return ChatMessage::assistant("answer"); }
ChatMessage calls(std::initializer_list<const char*> ids) {
    ChatMessage m = ChatMessage::assistant();
    for (const char* id : ids) m.call(id, "read");
    return m;
}
ChatMessage result(const char* id) { return ChatMessage::result(id, "read", "text of " + std::string(id)); }

std::string text_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> fields_of(const Problems& problems, Problem::Severity severity) {
    std::vector<std::string> fields;
    for (const Problem& problem : problems.all()) {
        if (problem.severity == severity) fields.push_back(problem.field);
    }
    return fields;
}

Problems check(const SummarizationConfig& config, const ChainConfig& chain = {}, const SummarizationSetup& setup = {}) {
    Problems problems;
    check_summarization(config, chain, setup, "s", problems);
    return problems;
}

}  // namespace

TEST_CASE("system texts, pins, the newest user message and the open round stay, each with its round", "[fold]") {
    const Listed list({ChatMessage::system("s"), user(), calls({"a"}), result("a"), calls({"p"}), result("p"),
                       ChatMessage::system("later"), user(), answer(), user("newest"), calls({"b"}), result("b"),
                       calls({"o"}), result("o")});
    const FoldPlan plan = list.plan({}, {5});
    CHECK(plan.folded == Indices{1, 2, 3, 7, 8, 10, 11});
    CHECK(plan.rules[0] == "system");
    CHECK(plan.rules[4] == "pinned");  // the call of a pinned result
    CHECK(plan.rules[9] == "newest_user");
    CHECK(plan.rules[12] == "open_round");
    CHECK(plan.folded_tokens == 700);
    CHECK(plan.kept_tokens == 700);
    CHECK(stretches_of(plan.folded) == std::vector<std::pair<std::size_t, std::size_t>>{{1, 4}, {7, 9}, {10, 12}});
}

TEST_CASE("LS14: the recent tail holds whole messages up to its tokens", "[fold]") {
    const Listed list({user(), answer(), user(), answer(), user()});  // the last one stays anyway
    CHECK(list.plan({.keep_recent_tokens = 200, .limit_tokens = 100'000}).folded == Indices{0, 1});
    CHECK(list.plan({.keep_recent_tokens = 299, .limit_tokens = 100'000}).folded == Indices{0, 1});
    CHECK(list.plan({.keep_recent_tokens = 300, .limit_tokens = 100'000}).folded == Indices{0});
    CHECK(list.plan({.keep_recent_tokens = 99, .limit_tokens = 100'000}).folded == Indices{0, 1, 2, 3});
}

TEST_CASE("LS34, LS35: a tail that is counted in messages reaches back to the start of a round", "[fold]") {
    const Listed list({user(), calls({"1", "2", "3"}), result("1"), result("2"), result("3"), user(), answer()});
    CHECK(list.plan({.keep_recent_messages = 4, .limit_tokens = 100'000}).folded == Indices{0});
    CHECK(list.plan({.keep_recent_messages = 3, .limit_tokens = 100'000}).folded == Indices{0});
    CHECK(list.plan({.keep_recent_messages = 2, .limit_tokens = 100'000}).folded == Indices{0, 1, 2, 3, 4});
    const Listed other({user(), user(), calls({"1"}), result("1"), user(), user(), answer()});
    CHECK(other.plan({.keep_recent_messages = 5, .limit_tokens = 100'000}).folded == Indices{0, 1});
    CHECK(other.plan({.keep_recent_messages = 4, .limit_tokens = 100'000}).folded == Indices{0, 1});
}

TEST_CASE("LS28: a tail that holds everything leaves nothing to fold", "[fold]") {
    const Listed list({user(), answer(), user(), answer(), user()});
    CHECK(list.plan({.keep_recent_messages = 5, .limit_tokens = 100'000}).folded.empty());
    CHECK(list.plan({.keep_recent_messages = 10, .limit_tokens = 100'000}).folded.empty());
}

TEST_CASE("the tail takes at most half of what the trigger leaves, however much it is allowed", "[fold]") {
    const Listed list({user(), answer(), answer(), answer(), answer(), user()});
    const FoldPlan plan = list.plan({.keep_recent_tokens = 15'000, .limit_tokens = 500});
    CHECK(plan.tail_tokens == 200);  // 500 less the newest user message, halved
    CHECK(plan.folded == Indices{0, 1, 2});
    const FoldPlan by_messages =
        list.plan({.keep_recent_tokens = 15'000, .limit_tokens = 100'000, .limit_messages = 5});
    CHECK(by_messages.folded == Indices{0, 1, 2});
}

TEST_CASE("a summary that is folded hands on what it covers and where originals are", "[fold]") {
    Listed list({user(), answer(), user("new"), answer(), user()});
    list.conversation.mark(0, {.origin = Origin::summary, .stored_keys = {"k/b", "k/a"}, .covers = {40, 41}});
    const FoldPlan plan = list.plan({});
    CHECK_FALSE(plan.has_only_summaries);
    CHECK(covered_serials(list.conversation.outline(), plan.folded) == std::vector<Serial>{1, 2, 3, 4, 40, 41});
    CHECK(stored_references(list.conversation.outline(), plan.folded) == std::vector<std::string>{"k/a", "k/b"});
}

TEST_CASE("a fold of nothing but summaries and skills is known as such", "[fold]") {
    Listed list({user("summary"), user("skills"), user()});
    list.conversation.mark(0, {.origin = Origin::summary});
    list.conversation.mark(1, {.origin = Origin::skills});
    CHECK(list.plan({}).has_only_summaries);
    CHECK(list.plan({}).folded == Indices{0, 1});
}

TEST_CASE("user messages that fit are kept whole, and the longest is cut to what is left", "[users]") {
    const auto keep = [](std::vector<std::string> texts) {
        return keep_user_messages(std::move(texts), 30'000, count4(), Language::english);
    };
    const std::string a(40'000, 'a');
    CHECK(keep({a, std::string(80'000, 'b')}).texts == std::vector{a, std::string(80'000, 'b')});
    const KeptUserMessages cut = keep({a, std::string(80'004, 'b')});
    REQUIRE(cut.texts.size() == 2);
    CHECK(cut.texts[0] == a);
    CHECK(count4().count(cut.texts[1]) == 20'000);
    CHECK(cut.texts[1].substr(0, 3) == "bbb");
    const auto left = std::ranges::count(cut.texts[1], 'b');
    CHECK(cut.texts[1].find("...[cut: " + std::to_string(80'004 - left) + " characters]...") != std::string::npos);
    CHECK(cut.texts[1].substr(cut.texts[1].size() - 3) == "bbb");
    const KeptUserMessages full = keep({std::string(40, 'a'), std::string(120'000, 'b')});
    REQUIRE(full.texts.size() == 2);
    CHECK(full.texts[0] == std::string(40, 'a'));
    CHECK(full.left_out == 0);
}

TEST_CASE("without room nothing is kept, and one huge message is cut to the budget", "[users]") {
    CHECK(keep_user_messages({"hello"}, 0, count4(), Language::english).texts.empty());
    CHECK(keep_user_messages({}, 100, count4(), Language::english).texts.empty());
    const auto huge = keep_user_messages({std::string(200'000, 'x')}, 100, count4(), Language::english);
    REQUIRE(huge.texts.size() == 1);
    CHECK(count4().count(huge.texts[0]) == 100);
}

TEST_CASE("a cut keeps UTF-8 whole", "[users]") {
    std::string chinese;
    for (int i = 0; i < 334; ++i) chinese += "中";
    for (const bool with_tail : {false, true}) {
        const std::string cut = cut_to_tokens(chinese, 125, with_tail, count4(), Language::chinese);
        CHECK(is_valid_utf8(cut));
        CHECK(count4().count(cut) <= 125);
        CHECK(cut.size() > 400);
    }
}

TEST_CASE("user messages are the user's own words, and those that summaries carry", "[users]") {
    Conversation<> c("c");
    c.push_back(user("old summary"));
    c.mark(0, {.origin = Origin::summary, .verbatim_user_messages = {"first wish", "second wish"}});
    c.push_back(user("go on"));
    c.mark(1, {.origin = Origin::nudge});
    c.push_back(user("third wish"));
    c.push_back(calls({"a"}));
    c.push_back(result("a"));
    const Indices all{0, 1, 2, 3, 4};
    CHECK(user_messages_in<ChatMessage>(c.messages(), c.outline(), all, {}) ==
          std::vector<std::string>{"first wish", "second wish", "third wish"});
    CHECK(user_messages_in<ChatMessage>(c.messages(), c.outline(), all, [](const ChatMessage&) { return false; }) ==
          std::vector<std::string>{"first wish", "second wish"});
}

TEST_CASE("what was cut of a user's message is told in characters, not in bytes", "[users]") {
    std::string text;
    for (int i = 0; i < 1'000; ++i) text += "你";
    for (const Language language : {Language::english, Language::chinese}) {
        const KeptUserMessages kept = keep_user_messages({text}, 200, count4(), language);
        REQUIRE(kept.texts.size() == 1);
        std::int64_t left = 0;
        for (std::size_t at = kept.texts[0].find("你"); at != std::string::npos; at = kept.texts[0].find("你", at + 1))
            ++left;
        CHECK(left > 100);
        CHECK(kept.texts[0].find(" " + std::to_string(1'000 - left) + " ") != std::string::npos);
    }
}

TEST_CASE("a skill is cut to its own limit with a mark at its end, its name is kept", "[skills]") {
    const auto kept = keep_skills({{"short", "short"}, {"long", std::string(100, 'x')}}, {.max_tokens_per_skill = 10},
                                  1'000, count4(), Language::english);
    REQUIRE(kept.size() == 2);
    CHECK(kept[0] == Skill{"short", "short"});
    CHECK(kept[1].name == "long");
    CHECK(count4().count(kept[1].content) <= 10);
    CHECK(kept[1].content.substr(0, 3) == "xxx");
    const auto left = std::ranges::count(kept[1].content, 'x');
    CHECK(kept[1].content.ends_with("...[cut: " + std::to_string(100 - left) + " characters]..."));
}

TEST_CASE("newest skills are kept until the first that does not fit the budget", "[skills]") {
    const auto kept =
        keep_skills({{"s1", std::string(16, '1')},
                     {"s2", std::string(200, '2')},
                     {"s3", std::string(24, '3')},
                     {"s4", std::string(24, '4')}},
                    {.max_tokens_per_skill = 20, .skills_token_budget = 30}, 1'000, count4(), Language::english);
    REQUIRE(kept.size() == 2);
    CHECK(kept[0].name == "s3");
    CHECK(kept[1].name == "s4");
    CHECK(keep_skills({{"s1", "x"}}, {.max_skills = 0}, 1'000, count4(), Language::english).empty());
}

TEST_CASE("the newest copy of a skill counts; failed, cleared and unreadable ones are passed over", "[skills]") {
    Conversation<> c("c");
    c.push_back(user());
    const auto load = [&](const std::string& id, const std::string& arguments, const std::string& text, bool is_error) {
        c.push_back(ChatMessage::assistant().call(id, "skill", arguments));
        c.push_back(ChatMessage::result(id, "skill", text, is_error));
    };
    load("1", R"({"skill":"pdf"})", "old pdf", false);
    load("2", "invalid json", "lost", false);
    load("3", R"({"skill":"pdf"})", "new pdf", false);
    load("4", R"({"skill":"xls"})", "no such skill", true);
    load("5", R"({"name":"doc"})", "doc text", false);
    c.push_back(ChatMessage::assistant().call("6", "read", R"({"skill":"none"})"));
    c.push_back(ChatMessage::result("6", "read", "not a skill"));
    Indices all(c.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const auto found = skills_in<ChatMessage>(c.messages(), c.outline(), all, "skill");
    CHECK(found == std::vector<Skill>{{"pdf", "old pdf"}, {"pdf", "new pdf"}, {"doc", "doc text"}});
    CHECK(keep_skills(found, {}, 1'000, count4(), Language::english) ==
          std::vector<Skill>{{"pdf", "new pdf"}, {"doc", "doc text"}});
}

TEST_CASE("a skill's record gives it back, whatever its text", "[skills]") {
    const Skill skill{"name", "line 1\nline 2\n"};
    CHECK(skill_from_record(to_record(skill)) == skill);
    CHECK(skill_name_in(R"({"skill_name":"a"})") == "a");
    CHECK(skill_name_in(R"({"only":"b"})") == "b");
    CHECK_FALSE(skill_name_in(R"({"x":1,"y":"b"})"));
    CHECK_FALSE(skill_name_in("[\"a\"]"));
    CHECK_FALSE(skill_name_in(std::string(200'000, '[')));
}

TEST_CASE("the user's own words replace the model's section, what follows it stays", "[text]") {
    const KeptUserMessages users{{"msg1", "msg2"}, 0};
    const std::string text = compose_summary(
        {.summary = "before\n<all_user_messages>\n[old message]\n</all_user_messages>\nafter", .user_messages = &users},
        Language::english);
    CHECK(text.find("before\n<all_user_messages>\n- msg1\n- msg2\n</all_user_messages>\nafter") != std::string::npos);
    CHECK(text.find("[old message]") == std::string::npos);
}

TEST_CASE("a summary without that section gets it at its end; without user messages the model's stays", "[text]") {
    const KeptUserMessages users{{"msg1"}, 3};
    const std::string text = compose_summary({.summary = "plain", .user_messages = &users}, Language::english);
    CHECK(text.find("plain\n\n<all_user_messages>\n(3 earlier user message(s) left out for lack of room)\n- msg1\n"
                    "</all_user_messages>") != std::string::npos);
    const KeptUserMessages none;
    const std::string own = compose_summary(
        {.summary = "<all_user_messages>\nas the model saw it\n</all_user_messages>", .user_messages = &none},
        Language::english);
    CHECK(own.find("as the model saw it") != std::string::npos);
}

TEST_CASE("a user's text cannot close the section it stands in", "[text]") {
    const KeptUserMessages users{{"x </all_user_messages> < / SUMMARY > if a < b"}, 0};
    const std::string text = compose_summary({.summary = "plain", .user_messages = &users}, Language::english);
    const std::size_t first = text.find("</all_user_messages>");
    CHECK(text.find("</all_user_messages>", first + 1) == std::string::npos);
    CHECK(text.find("if a < b") < first);
}

TEST_CASE("preamble first, transcript and continuation last, parted by single blank lines", "[text]") {
    for (const Language language : {Language::english, Language::chinese}) {
        const std::string text =
            compose_summary({.summary = "SUMMARY", .transcript_file_path = "/t/x.jsonl"}, language);
        CHECK(text.find("SUMMARY") > 40);
        CHECK(text.find("\n\nSUMMARY\n\n") != std::string::npos);
        CHECK(text.find("/t/x.jsonl") > text.find("SUMMARY"));
        CHECK(text.find("\n\n\n") == std::string::npos);
        CHECK(compose_summary({.summary = "SUMMARY"}, language).find("{}") == std::string::npos);
        CHECK(compose_summary({.summary = "SUMMARY"}, language).size() < text.size());
    }
    CHECK(join_sections(std::vector<std::string>{"", "a", "", "b", ""}) == "a\n\nb");
}

TEST_CASE("every bad setting is listed at once, by its name", "[config]") {
    SummarizationConfig config;
    config.trigger = {.context_tokens = -1, .context_messages = -1, .context_fraction = 1.5};
    config.keep_recent_tokens = -1;
    config.keep_recent_messages = -1;
    config.preserve_user_messages.max_tokens = -1;
    config.preserve_skills = {"", -1, -1, -1};
    config.retained_facts_tokens = -1;
    config.failure_cool_down_tokens = -1;
    config.max_input_tokens = -1;
    config.retry = RetryConfig{-1};
    config.failover = FailoverConfig{-1};
    const auto errors = fields_of(check(config, {}, {.has_model = false}), Problem::Severity::error);
    for (const char* field :
         {"s.model", "s.trigger.context_tokens", "s.trigger.context_messages", "s.trigger.context_fraction",
          "s.keep_recent_tokens", "s.keep_recent_messages", "s.preserve_user_messages.max_tokens",
          "s.preserve_skills.max_skills", "s.preserve_skills.max_tokens_per_skill",
          "s.preserve_skills.skills_token_budget", "s.retained_facts_tokens", "s.failure_cool_down_tokens",
          "s.max_input_tokens", "s.retry.max_retries", "s.failover.max_retries"}) {
        CAPTURE(field);
        CHECK(std::ranges::count(errors, field) >= 1);
    }
    CHECK(check({}).all().empty());
}

TEST_CASE("all triggers off are an error, a fraction without a window is a warning", "[config]") {
    CHECK(fields_of(check({.trigger = {}}), Problem::Severity::error) == std::vector<std::string>{"s.trigger"});
    const Problems problems = check({.trigger = {.context_fraction = 0.5}});
    CHECK_FALSE(problems.has_errors());
    REQUIRE(problems.all().size() == 1);
    CHECK(problems.all()[0].allowed.find("context_window") != std::string::npos);
}

TEST_CASE("settings that fight each other are warned of", "[config]") {
    ChainConfig chain;
    chain.profile.context_window = 150'000;
    chain.profile.output_reserve = 8'000;
    SummarizationConfig config{.keep_recent_tokens = 160'000, .transcript_file_path = "t"};
    config.preserve_skills.max_skills = 1;
    const auto warned =
        fields_of(check(config, chain, {.has_finalize = true, .summarizers_before = 1}), Problem::Severity::warning);
    CHECK(warned == std::vector<std::string>{"s.keep_recent_tokens", "s.trigger", "s.transcript_file_path",
                                             "s.preserve_skills", "s.trigger"});
}

TEST_CASE("LS11, LS27, LS30: a fraction is rounded down to at least one token, and off without a window", "[config]") {
    CHECK(limits_of({.context_fraction = 0.5}, 1'001).tokens == 500);
    CHECK(limits_of({.context_fraction = 0.0001}, 1'000).tokens == 1);
    CHECK(limits_of({.context_tokens = 300, .context_fraction = 0.5}, 1'000).tokens == 300);
    const TriggerLimits unknown = limits_of({.context_messages = 100, .context_fraction = 0.5}, 0);
    CHECK(unknown.tokens == 0);
    CHECK(unknown.messages == 100);
}

TEST_CASE("two summarizers in one chain are warned of, one is not", "[config]") {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(std::vector<ChatMessage>{});
    using Folding = Summarization<ChatMessage>;
    CHECK(Chain{ChainConfig{}, Folding{model}}.config_warnings().empty());
    const Chain two{ChainConfig{}, Folding{model}, Folding{model, {}, {}, "second"}};
    REQUIRE(two.config_warnings().size() == 1);
    CHECK(two.config_warnings()[0].field == "second.trigger");
}

TEST_CASE("a chain refuses a summarizer without a model", "[config]") {
    CHECK_THROWS_AS((Chain{ChainConfig{}, Summarization<ChatMessage>{nullptr}}), Error);
}

TEST_CASE("the default finalizer keeps system texts and composes the summary", "[finalizer]") {
    const std::vector<ChatMessage> originals{ChatMessage::system("S"), user("do it"), answer()};
    const auto made = default_finalizer<ChatMessage>()({}, originals, ChatMessage::user("raw summary"));
    REQUIRE(made.size() == 2);
    CHECK(made[0] == originals[0]);
    CHECK(made[1].role == Role::user);
    CHECK(text_of(made[1]).find("raw summary") != std::string::npos);
    CHECK(text_of(made[1]).find("- do it\n") != std::string::npos);
    CHECK(text_of(made[1]).find("recorded in") == std::string::npos);
}

namespace {

std::vector<ChatMessage> talk_with_skill() {
    return {ChatMessage::system("S"), user("do it"),
            ChatMessage::assistant().call("1", "load_skill", R"({"skill":"pdf"})"),
            ChatMessage::result("1", "load_skill", "how to read a PDF")};
}

int times_in(const std::vector<ChatMessage>& messages, std::string_view text) {
    int times = 0;
    for (const ChatMessage& m : messages) {
        const std::string whole = text_of(m);
        for (std::size_t at = whole.find(text); at != std::string::npos; at = whole.find(text, at + 1)) ++times;
    }
    return times;
}

}  // namespace

TEST_CASE("a builder's handlers run first, and its custom function gets the summary with the skills", "[finalizer]") {
    const std::vector<ChatMessage> originals = talk_with_skill();
    std::string seen;
    const auto custom = [&](const FinalizeContext&, std::span<const ChatMessage> messages, const ChatMessage& summary) {
        seen = text_of(summary);
        return std::vector{messages[0], summary};
    };
    const PreserveSkillsConfig skills{.skill_tool_name = "load_skill"};
    for (const auto& finalize : {FinalizerBuilder<ChatMessage>{}.preserve_skills(skills).custom(custom).build(),
                                 FinalizerBuilder<ChatMessage>{}.custom(custom).preserve_skills(skills).build()}) {
        const auto made = finalize({}, originals, ChatMessage::user("summary"));
        REQUIRE(made.size() == 2);
        CHECK(made[0] == originals[0]);
        CHECK(seen.find("how to read a PDF") < seen.find("\n\nsummary"));
        CHECK(text_of(made[1]) == seen);
        CHECK(times_in(made, "how to read a PDF") == 1);
    }
    const auto alone =
        FinalizerBuilder<>{}.preserve_skills(skills).build()({}, originals, ChatMessage::user("summary"));
    REQUIRE(alone.size() == 1);
    CHECK(times_in(alone, "how to read a PDF") == 1);
}

TEST_CASE("skills come once, and within the builder's limits, with a default finalizer inside of a builder's function",
          "[finalizer]") {
    std::vector<ChatMessage> originals = talk_with_skill();
    originals.push_back(ChatMessage::assistant().call("2", "load_skill", R"({"skill":"csv"})"));
    originals.push_back(ChatMessage::result("2", "load_skill", "how to read a CSV"));
    const auto standard = default_finalizer<ChatMessage>(
        {.preserve_skills = {.skill_tool_name = "load_skill"}, .transcript_file_path = "/t.txt"});
    const auto nested = [&](int max_skills, bool keeps_context) {
        return FinalizerBuilder<ChatMessage>{}
            .preserve_skills({.skill_tool_name = "load_skill", .max_skills = max_skills})
            .custom(
                [=](const FinalizeContext& context, std::span<const ChatMessage> messages, const ChatMessage& summary) {
                    auto made = standard(keeps_context ? context : FinalizeContext{}, messages, summary);
                    made.insert(made.begin(), ChatMessage::system("system prompt"));
                    return made;
                })
            .build();
    };
    const auto one = nested(1, true)({}, originals, ChatMessage::user("summary"));
    CHECK(times_in(one, "how to read a CSV") == 1);
    CHECK(times_in(one, "how to read a PDF") == 0);
    CHECK(times_in(one, "/t.txt") == 1);
    const auto context_of_its_own = nested(5, false)({}, originals, ChatMessage::user("summary"));
    CHECK(times_in(context_of_its_own, "how to read a CSV") == 1);
    CHECK(times_in(context_of_its_own, "how to read a PDF") == 1);

    const auto twice = FinalizerBuilder<>{}
                           .preserve_skills({.skill_tool_name = "load_skill"})
                           .custom(nested(5, true))
                           .build()({}, originals, ChatMessage::user("summary"));
    CHECK(times_in(twice, "how to read a PDF") == 1);
}

TEST_CASE("a builder names what is wrong with it and with what its function gives", "[finalizer]") {
    const auto text_of_error = [](auto&& call) -> std::string {
        try {
            static_cast<void>(call());
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    CHECK(text_of_error([] { return FinalizerBuilder<>{}.build(); }).find("preserve_skills") != std::string::npos);
    const std::string negative = text_of_error(
        [] { return FinalizerBuilder<>{}.preserve_skills({.max_skills = -1, .skills_token_budget = -2}).build(); });
    CHECK(negative.find("max_skills = -1") != std::string::npos);
    CHECK(negative.find("skills_token_budget = -2") != std::string::npos);
    const auto none = FinalizerBuilder<>{}
                          .custom([](const FinalizeContext&, std::span<const ChatMessage>, const ChatMessage&) {
                              return std::vector<ChatMessage>{};
                          })
                          .build();
    CHECK(text_of_error([&] { return none({}, {}, user("s")); }).find("no messages") != std::string::npos);
    CHECK(text_of_error([&] { return none({}, {}, user("  ")); }).find("summary content is empty") !=
          std::string::npos);
}

TEST_CASE("a transcript has every original message once, in order, one JSON object a line", "[transcript]") {
    const testing::TempDir dir;
    const auto path = dir.path() / "t.jsonl";
    const Transcript<> transcript(path.string());
    Conversation<> c("conv");
    c.push_back(ChatMessage::system("line 1\nline 2"));
    c.push_back(user("caf\xc3\xa9 \xff"));
    transcript.record(c);
    transcript.record(c);
    c.push_back(calls({"a"}));
    c.push_back(result("a"));
    c.push_back(user("a nudge"));
    c.mark(4, {.origin = Origin::nudge});
    transcript.record(c);
    std::istringstream lines(text_file(path));
    std::vector<nlohmann::json> entries;
    for (std::string line; std::getline(lines, line);) entries.push_back(nlohmann::json::parse(line));
    REQUIRE(entries.size() == 4);
    CHECK(entries[0]["conversation"] == "conv");
    CHECK(entries[0]["parts"][0]["text"] == "line 1\nline 2");
    CHECK(entries[1]["parts"][0]["text"] == "caf\xc3\xa9 \xef\xbf\xbd");
    CHECK(entries[2]["parts"][0]["kind"] == "tool_call");
    CHECK(entries[2]["parts"][0]["tool"] == "read");
    CHECK(entries[3]["parts"][0]["text"] == "text of a");
    CHECK(entries[3]["serial"] == 4);
}

TEST_CASE("a transcript ends a line that a failure left open, and says which file cannot be written", "[transcript]") {
    const testing::TempDir dir;
    const auto path = dir.path() / "t.jsonl";
    std::ofstream(path) << R"({"conversation":"co)";
    Conversation<> c("conv");
    c.push_back(user("hello"));
    Transcript<>(path.string()).record(c);
    CHECK(text_file(path).find("\"co\n{\"conversation\":\"conv\"") != std::string::npos);
    Conversation<> other("other");
    other.push_back(user("hello"));
    const Transcript<> nowhere((dir.path() / "no" / "t.jsonl").string());
    CHECK_THROWS_WITH(nowhere.record(other), Catch::Contains("t.jsonl") && Catch::Contains("append"));
    CHECK_FALSE(other.notes("transcript").integer("written"));
    std::vector<std::string> told;
    const ChainCallbacks<> callbacks{.on_event = [&](const Event& e) { told.emplace_back(e.kind); }};
    Chain<>(ChainConfig{}, callbacks, nowhere).before_model(other);
    CHECK(told == std::vector<std::string>{"store_failed", "failed"});
}

TEST_CASE("a long paste leaves room for what else the user said", "[summarization]") {
    const auto keep = [](std::vector<std::string> texts, std::int64_t tokens) {
        return keep_user_messages(std::move(texts), tokens, count4(), Language::english);
    };
    const std::string preference = "Call me Sam, and never use tabs: four blanks, as in the style guide.";
    const std::string paste(64'000, 'p');
    const KeptUserMessages kept = keep({preference, paste}, 2'000);
    REQUIRE(kept.texts.size() == 2);
    CHECK(kept.texts[0] == preference);
    CHECK(kept.texts[1].size() > 4'000);  // the rest of the room
    // Several pastes share; each is a quarter at most where there are more.
    std::vector<std::string> many{preference};
    for (int i = 0; i < 10; ++i) many.push_back(paste);
    const KeptUserMessages shared = keep(many, 2'000);
    CHECK(shared.texts.front() == preference);
    CHECK(shared.texts.size() >= 4);
    CHECK(keep({paste}, 2'000).texts.front().size() > 7'000);  // alone it has all
}
