// What a fold must not lose: plan, files, reports of sub-agents, files read again, and the host's memory.
#include "support/catch.hpp"
#include "talk.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/summarization/summarization.hpp"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr std::string_view mend_item = "[in_progress] mend the parser's error path";

ChatMessage tool_call(const std::string& id, const std::string& tool, const std::string& arguments) {
    return ChatMessage::assistant("").call(id, tool, arguments);
}

/// A plan, files, a sub-agent's report, and much that can go.
History worked(int rounds = 6) {
    History history{ChatMessage::user("mend it")};
    const auto add = [&](const std::string& id, const std::string& tool, const std::string& arguments,
                         const std::string& answer) {
        history.push_back(tool_call(id, tool, arguments));
        history.push_back(ChatMessage::result(id, tool, answer));
    };
    add("p1", "todo_write", R"({"todos":[{"content":"mend the parser's error path","status":"in_progress"}]})", "ok");
    add("s1", "task", R"({"description":"look for callers"})", "Callers: lexer.cpp:12 and repl.cpp:40.");
    add("e1", "edit_file", R"({"path":"src/parser.cpp","old":"a","new":"b"})", "ok");
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "r" + std::to_string(i);
        add(id, "read_file", "{\"path\":\"src/part" + std::to_string(i) + ".cpp\"}", std::string(2'400, 'x'));
    }
    return history;
}

template <AgentMessage M = ChatMessage>
Conversation<M> conversation_of(const History& history) {
    Conversation<M> conversation("survive");
    push_all(conversation, history);
    return conversation;
}

template <AgentMessage M = ChatMessage>
Chain<M> folding(SummarizationCallbacks<M> callbacks = {}, SummarizationConfig config = small_trigger()) {
    const typename Chain<M>::Stages stages{std::make_shared<Summarization<M>>(
        std::make_shared<Summarizer<M>>(good_summary()), std::move(config), std::move(callbacks))};
    return Chain<M>(ChainConfig{}, stages);
}

template <AgentMessage M>
std::string summary_of(const Conversation<M>& conversation) {
    return text_of(conversation.messages()[summary_at(conversation)]);
}

bool holds(std::string_view text, std::string_view words) { return text.find(words) != std::string_view::npos; }

}  // namespace

TEST_CASE("plan, files and reports stand beside a model's summary word for word, on every message type",
          "[summarization]") {
    for_each_message_type([](auto type) {
        using T = typename decltype(type)::type;
        if constexpr (ToolMessage<T>) {
            INFO(Builder<T>::name);
            Conversation<T> conversation = conversation_of<T>(worked());
            REQUIRE(folding<T>().before_model(conversation).changed());
            const std::string summary = summary_of(conversation);
            CHECK(holds(summary, mend_item));
            CHECK(holds(summary, "src/parser.cpp (written)"));
            CHECK(holds(summary, "src/part3.cpp (read)"));
            CHECK(holds(summary, "Callers: lexer.cpp:12 and repl.cpp:40."));
            CHECK(conversation.undo());
        }
    });
}

TEST_CASE("what is shown of the work stands in three lists", "[summarization]") {
    Conversation<> conversation = conversation_of(worked());
    REQUIRE(folding<ChatMessage>().before_model(conversation).changed());
    const std::string summary = summary_of(conversation);
    CHECK(holds(summary, "Plan, as it stood last:\n- [in_progress] mend the parser's error path"));
    CHECK(holds(summary, "Reports of those who were sent off, word for word:\n- task: look for callers"));
    CHECK(holds(summary, "- src/parser.cpp (written)\n- src/part0.cpp (read)"));
}

TEST_CASE("the state of the work outlives any number of summaries, and a newer plan takes its place",
          "[summarization]") {
    Conversation<> conversation = conversation_of(worked());
    const Chain<> chain = folding();
    for (int i = 0; i < 4; ++i) {
        REQUIRE(chain.before_model(conversation).changed());
        CHECK(holds(summary_of(conversation), mend_item));
        CHECK(holds(summary_of(conversation), "src/parser.cpp (written)"));
        for (int r = 0; r < 6; ++r) {
            const std::string id = "l" + std::to_string(i) + "_" + std::to_string(r);
            conversation.push_back(tool_call(id, "read_file", R"({"path":"src/late.cpp"})"));
            conversation.push_back(ChatMessage::result(id, "read_file", std::string(2'500, 'y')));
        }
    }
    conversation.push_back(tool_call("p2", "todo_write", R"({"todos":[{"content":"ship it","status":"pending"}]})"));
    conversation.push_back(ChatMessage::result("p2", "todo_write", "ok"));
    conversation.push_back(ChatMessage::assistant("next"));
    REQUIRE(chain.before_model(conversation).changed());
    CHECK_FALSE(holds(summary_of(conversation), mend_item));
    CHECK(holds(summary_of(conversation), "[pending] ship it"));
}

TEST_CASE("a plan is not shown as the last one while a newer one stays in the list", "[summarization]") {
    Conversation<> conversation = conversation_of(worked());
    conversation.push_back(tool_call("p2", "todo_write", R"({"todos":[{"content":"ship it","status":"pending"}]})"));
    conversation.push_back(ChatMessage::result("p2", "todo_write", "ok"));
    SummarizationConfig config = small_trigger();
    config.keep_recent_messages = 2;
    REQUIRE(folding<ChatMessage>({}, config).before_model(conversation).changed());
    CHECK_FALSE(holds(summary_of(conversation), mend_item));
    CHECK(holds(summary_of(conversation), "src/parser.cpp (written)"));
}

TEST_CASE("the state of the work can be switched off", "[summarization]") {
    Conversation<> conversation = conversation_of(worked());
    SummarizationConfig config = small_trigger();
    config.retained_facts_tokens = 0;
    config.preserve_work = {.plan_tokens = 0, .file_list_tokens = 0, .subagent_reports_tokens = 0};
    REQUIRE(folding<ChatMessage>({}, config).before_model(conversation).changed());
    CHECK_FALSE(holds(summary_of(conversation), "parser"));
}

TEST_CASE("compaction keeps plan, files and reports within its summary's size", "[compaction]") {
    Conversation<> conversation = conversation_of(worked(20));
    conversation.push_back(ChatMessage::assistant("so far"));
    conversation.push_back(ChatMessage::user("go on"));
    CompactionConfig config{.threshold_tokens = 3'000, .target_tokens = 1'500, .summary_size_tokens = 600};
    config.pruning.reset();
    const Chain<> chain{ChainConfig{}, Compaction<>{std::make_shared<Summarizer<>>(good_summary()), config}};
    for (int i = 0; i < 3; ++i) {
        REQUIRE(chain.before_model(conversation).changed());
        const std::string summary = summary_of(conversation);
        CHECK(holds(summary, mend_item));
        CHECK(holds(summary, "Callers: lexer.cpp:12"));
        CHECK(chars_counter()->count(summary) <= 600 + 60);
        for (int r = 0; r < 6; ++r) {
            const std::string id = "k" + std::to_string(i) + "_" + std::to_string(r);
            conversation.push_back(tool_call(id, "run", R"({"cmd":"make"})"));
            conversation.push_back(ChatMessage::result(id, "run", std::string(2'500, 'y')));
        }
        conversation.push_back(ChatMessage::assistant("done " + std::string(3'000, 'z')));
        conversation.push_back(ChatMessage::user("and on"));
    }
}

TEST_CASE("files that were used are read again from the host, the last used first", "[summarization]") {
    std::vector<std::string> asked;
    SummarizationCallbacks<> callbacks;
    callbacks.attach_files = [&](const auto&, std::span<const FileUse> files) {
        std::vector<AttachedFile> found;
        for (const FileUse& file : files) {
            asked.push_back(file.path);
            if (file.path != "src/part4.cpp") found.push_back({file.path, "now: " + file.path});
        }
        return found;
    };
    SummarizationConfig config = small_trigger();
    config.attach_files.max_files = 3;
    Conversation<> conversation = conversation_of(worked());
    const std::size_t before = conversation.size();
    REQUIRE(folding(callbacks, config).before_model(conversation).changed());
    REQUIRE(asked.size() >= 4);
    CHECK(asked[0] == "src/part4.cpp");  // the round of part5 stays
    CHECK(asked.back() == "src/parser.cpp");
    REQUIRE(count_of(conversation, Origin::attachment) == 1);
    const std::size_t place = summary_at(conversation) + 1;
    CHECK(origin_of(conversation.outline()[place].mark) == Origin::attachment);
    const std::string text = text_of(conversation.messages()[place]);
    CHECK(holds(text, "## File: src/part3.cpp\n\nnow: src/part3.cpp"));
    CHECK(holds(text, "src/part1.cpp"));
    CHECK_FALSE(holds(text, "src/part0.cpp"));
    CHECK(validate(conversation.outline(), openai_chat()).empty());
    CHECK(conversation.undo());
    CHECK(conversation.size() == before);
}

TEST_CASE("attached files keep to their limits, and the next summary neither reads nor keeps them", "[summarization]") {
    SummarizationCallbacks<> callbacks;
    callbacks.attach_files = [](const auto&, std::span<const FileUse> files) {
        std::vector<AttachedFile> found;
        for (const FileUse& file : files) found.push_back({file.path, "SECRET " + std::string(9'000, 'f')});
        return found;
    };
    SummarizationConfig config{.trigger = {.context_tokens = 6'000}, .keep_recent_tokens = 0};
    config.attach_files = {.max_files = 9, .max_tokens_per_file = 300, .max_tokens = 1'000};
    const auto model = std::make_shared<Summarizer<>>(good_summary());
    const Chain<> chain{ChainConfig{}, Summarization<>{model, config, callbacks}};
    Conversation<> conversation = conversation_of(worked(12));
    REQUIRE(chain.before_model(conversation).changed());
    const std::size_t place = summary_at(conversation) + 1;
    CHECK(chars_counter()->count(text_of(conversation.messages()[place])) <= 1'000);
    CHECK(holds(text_of(conversation.messages()[place]), "SECRET"));
    for (int r = 0; r < 12; ++r) {
        const std::string id = "m" + std::to_string(r);
        conversation.push_back(tool_call(id, "run", R"({"cmd":"make"})"));
        conversation.push_back(ChatMessage::result(id, "run", std::string(2'500, 'y')));
    }
    REQUIRE(chain.before_model(conversation).changed());
    CHECK(count_of(conversation, Origin::attachment) == 1);
    for (const ChatMessage& message : model->asked.back().messages) CHECK_FALSE(holds(text_of(message), "SECRET"));
}

TEST_CASE("the host's memory gets what is about to go, and nothing goes if it cannot take it", "[summarization]") {
    std::size_t taken = 0;
    bool is_broken = true;
    SummarizationCallbacks<> callbacks;
    callbacks.flush_memory = [&](const CallbackContext&, const OriginalMessages<ChatMessage>& messages) {
        if (is_broken) throw std::runtime_error("memory is full");
        taken = messages.folded().size();
        CHECK(messages.size() > taken);
    };
    Conversation<> conversation = conversation_of(worked());
    const std::size_t before = conversation.size();
    const auto model = std::make_shared<Summarizer<>>(good_summary());
    const Chain<> chain{ChainConfig{}, Summarization<>{model, small_trigger(), callbacks}};
    const Report& report = chain.before_model(conversation);
    CHECK(report.stages.front().outcome == Outcome::failed);
    CHECK(holds(report.stages.front().details->error, "memory is full"));
    CHECK(model->asked.empty());
    CHECK(conversation.size() == before);

    is_broken = false;
    Conversation<> again = conversation_of(worked());
    REQUIRE(chain.before_model(again).changed());
    CHECK(taken == before - again.size() + 1);
}

TEST_CASE("a summary by rule carries reports too, and has plan and files once", "[summarization]") {
    SummarizationConfig config = small_trigger();
    config.rule_based_summary_tokens = 1'000;
    const Chain<> chain{ChainConfig{}, Summarization<>{nullptr, config}};
    Conversation<> conversation = conversation_of(worked());
    for (int i = 0; i < 3; ++i) {
        REQUIRE(chain.before_model(conversation).changed());
        const std::string summary = summary_of(conversation);
        const std::size_t first = summary.find(mend_item);
        REQUIRE(first != std::string::npos);
        CHECK(summary.find(mend_item, first + 1) == std::string::npos);
        CHECK(holds(summary, "Callers: lexer.cpp:12"));
        CHECK(holds(summary, "src/parser.cpp (written)"));
        for (int r = 0; r < 6; ++r) {
            const std::string id = "q" + std::to_string(i) + "_" + std::to_string(r);
            conversation.push_back(tool_call(id, "run", R"({"cmd":"make"})"));
            conversation.push_back(ChatMessage::result(id, "run", std::string(2'500, 'y')));
        }
    }
}

TEST_CASE("a summary by rule knows the tools of one's own for plans, and leaves out what is switched off",
          "[summarization]") {
    History history = worked();
    history.push_back(tool_call("g1", "keep_goal", R"({"goal":"ship on Friday"})"));
    history.push_back(ChatMessage::result("g1", "keep_goal", "ok"));
    history.push_back(ChatMessage::assistant("so"));
    SummarizationConfig config = small_trigger();
    config.rule_based_summary_tokens = 1'000;
    config.preserve_work.plan_tools = {"keep_goal"};
    Conversation<> conversation = conversation_of(history);
    REQUIRE(Chain<>(ChainConfig{}, Summarization<>{nullptr, config}).before_model(conversation).changed());
    CHECK(holds(summary_of(conversation), "ship on Friday"));
    CHECK_FALSE(holds(summary_of(conversation), mend_item));

    config.preserve_work = {.plan_tokens = 0, .file_list_tokens = 0, .subagent_reports_tokens = 0};
    config.retained_facts_tokens = 0;
    Conversation<> off = conversation_of(history);
    REQUIRE(Chain<>(ChainConfig{}, Summarization<>{nullptr, config}).before_model(off).changed());
    CHECK_FALSE(holds(summary_of(off), "Plan, as it stood last"));
    CHECK_FALSE(holds(summary_of(off), "Files, the last used"));
}

TEST_CASE("bad sizes of what survives are named", "[config]") {
    Problems problems;
    SummarizationConfig config = small_trigger();
    config.preserve_work = {.plan_tokens = -1, .max_tokens_per_subagent_report = 0, .subagent_tools = {"ta*"}};
    config.attach_files = {.max_files = -1, .max_tokens_per_file = 0, .max_tokens = -5};
    check_summarization(config, ChainConfig{}, {}, "s", problems);
    std::vector<std::string> fields;
    for (const Problem& problem : problems.all()) fields.push_back(problem.field);
    CHECK(fields == std::vector<std::string>{"s.preserve_work.plan_tokens",
                                             "s.preserve_work.max_tokens_per_subagent_report",
                                             "s.preserve_work.subagent_tools", "s.attach_files.max_files",
                                             "s.attach_files.max_tokens_per_file", "s.attach_files.max_tokens"});
}
