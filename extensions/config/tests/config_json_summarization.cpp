// The "summarization" stage of a configuration file.
#include "support/catch.hpp"
#include "whittle/config/config_json.hpp"

#include <sstream>
#include <string>
#include <vector>

using namespace whittle;

namespace {

std::string summarization_chain(const std::string& members) {
    return R"({"models": {"m": {"type": "scripted", "replies": [{"error": "server"}, "<summary>THE GIST</summary>"]},
                          "n": {"type": "scripted", "replies": ["<summary>OTHER GIST</summary>"]}},
               "middlewares": [{"type": "summarization")" +
           members + "}]}";
}

std::vector<std::string> summarization_problems(const std::string& json) {
    try {
        static_cast<void>(read_chain_settings(json, {.name = "c"}));
    } catch (const Error& error) {
        std::istringstream text(error.what());
        std::vector<std::string> lines;
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return {lines.begin() + 1, lines.end()};
    }
    return {};
}

Conversation<> long_talk() {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("start"));
    for (int i = 0; i < 10; ++i) {
        const std::string id = "c" + std::to_string(i);
        c.push_back(ChatMessage::assistant().call(id, "read"));
        c.push_back(ChatMessage::result(id, "read", std::string(2'000, 'x')));
    }
    return c;
}

}  // namespace

TEST_CASE("every setting of a summarizer can be read", "[config_json]") {
    const ChainSettings settings = read_chain_settings(summarization_chain(R"(, "name": "s", "model": "m",
        "trigger": {"context_tokens": 100, "context_messages": 7}, "keep_recent_tokens": 11, "keep_recent_messages": 3,
        "preserve_user_messages": {"enabled": false, "max_tokens": 12},
        "preserve_skills": {"skill_tool_name": "load", "max_skills": 1, "max_tokens_per_skill": 2,
                            "skills_token_budget": 3},
        "summaries_per_level": 4, "retained_facts_tokens": 13, "user_instruction": "do",
        "offload_folded": true, "transcript_file_path": "t.jsonl",
        "summary_role": "system", "emit_internal_events": true, "reuse_prompt_cache": true,
        "model_options": {"max_output_tokens": 14, "temperature": 0.5, "extra": {"a": [1]}}, "max_input_tokens": 15,
        "max_summary_tokens": 16, "retry": {}, "failover": {"max_retries": 1, "model": "n"}, "failure_cool_down_tokens": 17)"));
    REQUIRE(settings.stages.size() == 1);
    CHECK(settings.stages[0].name == "s");
    CHECK(settings.stages[0].models_by_key.at("model") == "m");
    CHECK(settings.stages[0].models_by_key.at("failover.model") == "n");
    SummarizationConfig expected{.trigger = {100, 7, 0.0},
                                 .keep_recent_tokens = 11,
                                 .keep_recent_messages = 3,
                                 .preserve_user_messages = {false, 12},
                                 .preserve_skills = {"load", 1, 2, 3},
                                 .summaries_per_level = 4,
                                 .retained_facts_tokens = 13,
                                 .user_instruction = "do",
                                 .offload_folded = true,
                                 .transcript_file_path = "t.jsonl",
                                 .summary_role = SummaryRole::system,
                                 .emit_internal_events = true,
                                 .reuse_prompt_cache = true,
                                 .max_input_tokens = 15,
                                 .max_summary_tokens = 16,
                                 .retry = RetryConfig{},
                                 .failover = FailoverConfig{1},
                                 .failure_cool_down_tokens = 17};
    expected.model_options = {14, 0.5, R"({"a": [1]})"};
    CHECK(std::any_cast<const SummarizationConfig&>(settings.stages[0].config) == expected);
}

TEST_CASE("a summarizer's bad settings are listed with their places", "[config_json]") {
    CHECK(summarization_problems(summarization_chain("")).size() == 1);
    CHECK(summarization_problems(summarization_chain("")).front().find("model") != std::string::npos);
    CHECK(summarization_problems(summarization_chain(R"(, "model": "mm")")).front().find("\"mm\"; allowed: ") !=
          std::string::npos);
    CHECK(summarization_problems(summarization_chain(R"(, "model": "m", "failover": {"model": "x"})")).size() == 1);
    const auto fraction = summarization_problems(
        summarization_chain(R"(, "model": "m", "trigger": {"context_tokens": 9, "context_fraction": 1.5})"));
    REQUIRE(fraction.size() == 1);
    CHECK(fraction[0].find("middlewares[0].trigger.context_fraction") != std::string::npos);
    CHECK(summarization_problems(summarization_chain(R"(, "model": "m", "trigger": {}, "keep_recent": 1)")).size() ==
          2);
    CHECK(summarization_problems(
              summarization_chain(R"(, "model": "m", "trigger": {"context_tokens": -1}, "summary_role": "tool")"))
              .size() >= 2);
}

TEST_CASE("a chain from a file summarizes, fails over and repeats its last reply", "[config_json]") {
    const auto chain = make_chain<ChatMessage>(read_chain_settings(summarization_chain(
        R"(, "model": "m", "trigger": {"context_tokens": 2000}, "failover": {"model": "n"}, "keep_recent_tokens": 0)")));
    Conversation<> c = long_talk();
    CHECK(chain.before_model(c).stages[0].outcome == Outcome::committed);
    CHECK(text_of(c.messages()[1]).find("OTHER GIST") != std::string::npos);
    Conversation<> d = long_talk();
    CHECK(chain.before_model(d).stages[0].outcome == Outcome::committed);
    CHECK(text_of(d.messages()[1]).find("THE GIST") != std::string::npos);
    Conversation<> e = long_talk();
    CHECK(chain.before_model(e).stages[0].outcome == Outcome::committed);
}

TEST_CASE("a host's own models can stand behind the names of a file", "[config_json]") {
    std::vector<std::string> made;
    const ModelMaker<ChatMessage> maker = [&](const ModelSettings& settings) {
        made.push_back(settings.name);
        return make_model<ChatMessage>(settings);
    };
    static_cast<void>(
        make_chain<ChatMessage>(read_chain_settings(summarization_chain(R"(, "model": "m")")), {}, maker));
    CHECK(made == std::vector<std::string>{"m", "n"});
}
